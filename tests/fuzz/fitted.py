"""A fitted estimator whose results are checked: against their shapes and types, the formula, and a twin's fit."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from scipy.linalg import hadamard
from sklearn.base import clone

from fuzz.blocks import Blocks
from fuzz.data import Data
from fuzz.dense import Dense
from fuzz.matrices import as_numbers
from fuzz.parameters import NEEDS_LABELS, TAKES_WEIGHTS, Chosen
from fuzz.watch import Refused
from isrht import ISRHT, BoostedISRHT, LeverageScoreSelection, LinearSVM, LinearSVMCV, SparseEmbedding
from isrht.linear.path import SPARSE_EXACT_FEATURES

FINITE_ATTRIBUTES = (
    "coef_",
    "intercept_",
    "C_",
    "leverage_",
    "column_scales_",
    "column_scores_",
    "gamma_",
    "mean_",
    "offsets_",
    "phases_",
    "magnitudes_",
    "weight_unit_",
    "mixing_",
    "statistics_.sums",
)
REFERENCE_ROWS = 4
# A matrix of H is made for the twin up to so many columns.
WIDEST_TWIN = 512


class Fitted:
    """A fitted model and what it says of a few rows, which must stay the same whatever is done later.

    ``sound`` is whether the model was fitted on ordinary data, so that ordinary rows must be taken.
    """

    def __init__(self, draw, watch, model, sound):
        self.draw, self.watch, self.model, self.sound = draw, watch, model, sound
        self.name = type(model).__name__

    # --- fitting

    def fit(self, chosen: Chosen, data: Data):
        how = self.draw(st.sampled_from(["fit", "fit", "fit_transform"])) if hasattr(self.model, "transform") else "fit"
        result = self.call_fit(how, data, self.must(chosen, data))
        self.check_learned()
        self.width = self.model.n_features_in_
        if how == "fit_transform":
            self.check_columns(result, data.X)
        self.reference = Dense((REFERENCE_ROWS, self.width))
        self.expected = self.results(self.model)
        self.compare_with_twins(data)

    def call_fit(self, how, data, must):
        n_rows = data.X.n_rows
        X, y, given = data.X.make(), data.labels.make(n_rows), {}
        if type(self.model) in TAKES_WEIGHTS and data.weights.kind != "none":
            given["sample_weight"] = data.weights.make(n_rows)
        if isinstance(data.X, Blocks) and data.X.labels is not None:
            y = None
        story = f"({data.X!r}, {data.labels!r}, {data.weights if given else None!r})"
        before = dict(vars(self.model))
        try:
            return self.watch.call(
                f"{self.name}.{how}", getattr(self.model, how), X, y, **given, must=must, story=story
            )
        except Refused:
            unchanged = (
                same_attributes(vars(self.model), before) or how == "fit_transform"
            )  # whose transform may have failed
            self.watch.demand(unchanged, "a fit that failed has changed the estimator")
            raise

    def must(self, chosen, data):
        """Say what a fit must do: "return", "raise", or None where both may be right."""
        model = self.model
        uses_labels = isinstance(model, NEEDS_LABELS) or getattr(model, "selection", None) == "supervised"
        uses_weights = isinstance(model, TAKES_WEIGHTS)
        of_source = isinstance(data.X, Blocks) and data.X.labels is not None
        wrong_labels = (data.X.labels if of_source else data.labels).faulty and uses_labels
        if data.X.faulty or wrong_labels or (data.weights.faulty and uses_weights) or chosen.illegal:
            return "raise"
        return "return" if chosen.sure and data.sure else None

    def check_learned(self):
        for name in FINITE_ATTRIBUTES:
            value = getattr(self.model, name, None)
            if value is not None:
                self.watch.demand_finite(value, name)

    def compare_with_twins(self, data):
        """Fit a copy on the same rows as plain arrays, where the result must be the same."""
        if not self.sound or self.model.get_params().get("random_state", 0) is None:
            return
        if isinstance(data.X, Blocks) and data.X.in_double_precision:
            self.compare_with_fit(data.X.together(), data, self._tolerance_of_blocks())
        elif isinstance(data.X, Dense) and data.X.dtype != "f4" and self._is_steady():
            self.compare_with_fit(as_numbers(data.X.make()), data, 1e-5)

    def _tolerance_of_blocks(self):
        """Return how far a model of rows elsewhere may be from one of rows in memory.

        In memory boosted columns store wide sparse rows by feature, so sums are taken in another order, and wide SVMs
        have another solver, whose search may choose the neighbour of a C.
        """
        if isinstance(self.model, BoostedISRHT) or getattr(self.model, "selection", None) == "boosted":
            return 1e-6
        if isinstance(self.model, LinearSVM | LinearSVMCV) and self.width > SPARSE_EXACT_FEATURES:
            return np.inf if isinstance(self.model, LinearSVMCV) else 1e-4
        return 0

    def _is_steady(self):
        """Whether rounding cannot change what is chosen: other layouts are added up in another order."""
        drawn = isinstance(self.model, SparseEmbedding) and self.model.magnitudes_ is None
        return isinstance(self.model, LinearSVM) or drawn or getattr(self.model, "selection", None) == "uniform"

    def compare_with_fit(self, X, data, tolerance):
        n_rows = data.X.n_rows
        weights = {} if data.weights.kind == "none" else {"sample_weight": data.weights.make(n_rows)}
        weights = weights if isinstance(self.model, TAKES_WEIGHTS) else {}
        twin = clone(self.model)
        self.watch.call(
            f"{self.name}.fit", twin.fit, X, data.labels.make(n_rows), **weights, must="return", story="(twin)"
        )
        self.compare_results(self.results(twin), "a fit on plain arrays", tolerance)

    # --- what it says

    def results(self, model):
        found = {}
        for method in ("transform", "decision_function"):
            if hasattr(model, method):
                found[method] = self.use(method, self.reference, model=model)
        return found

    def compare_results(self, results, what, tolerance=0):
        for method, expected in self.expected.items():
            found = results[method]
            if sp.issparse(expected):
                found, expected = found.toarray(), expected.toarray()
            size = np.abs(expected).max(initial=1e-300)
            self.watch.demand_close(found, expected, f"{method} after {what}", tolerance * size)

    def use(self, method, recipe, model=None):
        """Call a method with rows, and check what it returns."""
        model = self.model if model is None else model
        must = "raise" if recipe.faulty or recipe.width != self.width else None
        if self.sound and recipe.ordinary and recipe.width == self.width:
            must = "return"
        if must == "raise" and isinstance(model, LeverageScoreSelection) and not getattr(recipe, "damage", None):
            must = None  # as all selectors of scikit-learn it takes what it could not be fitted on
        X = recipe.make()
        result = self.watch.call(f"{self.name}.{method}", getattr(model, method), X, must=must, story=f"({recipe!r})")
        checks = {"transform": self.check_columns, "predict": self.check_labels, "decision_function": self.check_scores}
        if model is self.model:  # others are compared with it
            checks.get(method, self.check_probabilities)(result, recipe)
        return result

    def check_columns(self, columns, recipe):
        model, demand = self.model, self.watch.demand
        n_columns = model.get_support().sum() if isinstance(model, LeverageScoreSelection) else model._n_features_out
        demand(columns.shape == (recipe.n_rows, n_columns), f"transform has shape {columns.shape}")
        self.watch.demand_finite(columns, "transform")
        if isinstance(model, LeverageScoreSelection) or isinstance(recipe, Blocks):
            return
        promised = "f4" if recipe.in_single_precision else "f8"
        demand(columns.dtype == promised or recipe.dtype == ">f4", f"transform of {recipe.dtype} is {columns.dtype}")
        if recipe.ordinary and self.sound:
            self.compare_columns(columns, recipe)

    def compare_columns(self, columns, recipe):
        X = as_numbers(recipe.make())
        expected = self.projected(X)
        if expected is None:
            return
        columns = columns.toarray() if sp.issparse(columns) else columns
        size = np.abs(expected).max(initial=1.0) + np.abs(X).sum(axis=1).max(initial=0)
        self.watch.demand_close(columns, expected, "transform", (1e-4 if recipe.dtype == "f4" else 1e-10) * size)

    def projected(self, X):
        """Return the columns as the formula says, or None where it would take a twin of the whole estimator."""
        model = self.model
        if isinstance(model, SparseEmbedding):
            return X @ model.matrix().toarray()
        if not isinstance(model, ISRHT) or model.n_features_padded_ > WIDEST_TWIN:
            return None
        X = X if model.embedding_ is None else X @ model.embedding_.matrix().toarray()
        X = X if model.mean_ is None else X - model.mean_
        H = hadamard(model.n_features_padded_)[: X.shape[1], model.selected_columns_]
        return (X * model.signs_) @ H * model.column_scales_ / np.sqrt(model.n_features_padded_)

    def check_labels(self, predicted, recipe):
        classes, demand = self.model.classes_, self.watch.demand
        demand(predicted.shape == (recipe.n_rows,), f"predict has shape {predicted.shape}")
        demand(predicted.dtype == classes.dtype, f"predict is {predicted.dtype}, but the classes are {classes.dtype}")
        demand(np.isin(predicted, classes).all(), "predict knows no such class")

    def check_scores(self, scores, recipe):
        n_classes, demand = len(self.model.classes_), self.watch.demand
        demand(scores.shape == (recipe.n_rows, n_classes)[: 1 + (n_classes > 2)], f"scores have shape {scores.shape}")
        demand(scores.dtype == np.float64, f"scores are {scores.dtype}")
        self.watch.demand_finite(scores, "decision_function")
        if recipe.ordinary and recipe.readable_rows:
            X, coef = as_numbers(recipe.make()), self.model.coef_
            expected = (X @ coef.T + self.model.intercept_).reshape(scores.shape)
            room = (np.abs(X) @ np.abs(coef.T) + np.abs(self.model.intercept_)).reshape(scores.shape)
            self.watch.demand_close(scores, expected, "decision_function", 1e-12 * room)

    def check_probabilities(self, found, recipe):
        shape = (recipe.n_rows, len(self.model.classes_))
        self.watch.demand(found.shape == shape, f"probabilities have shape {found.shape}")
        self.watch.demand_finite(found, "predict_proba")
        probabilities = np.exp(found) if np.any(found < 0) else found
        self.watch.demand_close(probabilities.sum(axis=1), np.ones(recipe.n_rows), "predict_proba", 1e-9)


def same_attributes(now, before):
    """Return whether an estimator has the same attributes, which are the same objects."""
    return now.keys() == before.keys() and all(now[name] is before[name] for name in now)
