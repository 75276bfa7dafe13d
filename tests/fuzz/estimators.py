"""Sessions with an estimator: it is fitted with something, then used, changed, fitted again, stored and exported."""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from scipy.linalg import hadamard
from sklearn.base import clone

from fuzz.blocks import Blocks, blocks, ordinary_blocks, with_labels
from fuzz.matrices import (
    N_ROWS,
    NOT_FINITE_VALUES,
    RARE_WIDTHS,
    SEEDS,
    WIDTHS,
    Dense,
    Sparse,
    as_numbers,
    matrices,
    ordinary_matrices,
)
from fuzz.parameters import ESTIMATORS, NEEDS_LABELS, PARAMETERS, TAKES_SOURCES, TAKES_WEIGHTS, Chosen, parameters
from fuzz.targets import Labels, Weights, labels, ordinary_labels, ordinary_weights, weights
from fuzz.watch import Refused
from isrht import (
    ISRHT,
    BoostedISRHT,
    LeverageScoreSelection,
    LinearSVM,
    LinearSVMCV,
    Predictor,
    SparseEmbedding,
    load,
    save,
)
from isrht.export import TARGETS, export_model
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
# Rows of more than 2,048 features are rotated in two. An SVM with so many takes seconds.
VERY_WIDE = st.just(2100)
# A matrix of H is made for the twin up to so many columns.
WIDEST_TWIN = 512


@dataclass(frozen=True)
class Data:
    """What one fit is given."""

    X: Dense | Sparse | Blocks
    labels: Labels
    weights: Weights

    @property
    def sure(self):
        enough = self.X.n_rows >= 30 and (self.X.width or 0) >= 2
        return enough and self.X.ordinary and self.labels.ordinary and self.weights.ordinary


def widths(cls, usual):
    """Draw a strategy for the number of features, which is seldom large."""
    return st.sampled_from([usual] * 9 + [VERY_WIDE if cls in (ISRHT, SparseEmbedding) else RARE_WIDTHS])


@st.composite
def any_data(draw, cls):
    width = draw(widths(cls, WIDTHS))
    as_source = cls in TAKES_SOURCES and draw(st.integers(0, 4)) == 0
    rows = draw(blocks(width) if as_source else matrices(N_ROWS, width))
    return Data(rows, draw(labels()), draw(weights()))


@st.composite
def sure_data(draw, cls):
    width = draw(widths(cls, st.integers(2, 40)))
    as_source = cls in TAKES_SOURCES and draw(st.integers(0, 4)) == 0
    rows = draw(ordinary_blocks(width) if as_source else ordinary_matrices(st.integers(30, 45), width))
    chosen = draw(ordinary_labels())
    rows = with_labels(rows, chosen) if as_source and draw(st.booleans()) else rows
    return Data(rows, chosen, draw(ordinary_weights()))


def estimator_session(draw, watch):
    """Fit an estimator, more often than not with what must serve, and then do several things with it."""
    cls = draw(st.sampled_from(ESTIMATORS))
    sure = draw(st.integers(0, 2)) > 0
    chosen, data = draw(parameters(cls, sure)), draw(sure_data(cls) if sure else any_data(cls))
    watch.begin(f"model = {cls.__name__}(**{chosen.given})")
    model = cls(**chosen.make(data.X.n_rows))
    session = Session(draw, watch, model, sure and data.sure)
    session.fit(chosen, data)
    actions = [action for action in ACTIONS if draw(st.integers(0, len(ACTIONS))) < ACTIONS_PER_SESSION]
    for action in actions:
        with suppress(Refused):
            action(session)


class Session:
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
            unchanged = _same(vars(self.model), before) or how == "fit_transform"  # whose transform may have failed
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

    # --- things to do with a fitted model

    def draw_rows(self):
        """Draw rows to use the model on, most often of the right width."""
        width = self.draw(st.sampled_from([st.just(self.width)] * 6 + [WIDTHS]))
        kinds = [ordinary_matrices(st.integers(1, 12), width)] * 2 + [matrices(width=width)] * 3
        if isinstance(self.model, TAKES_SOURCES):
            kinds.append(blocks(width))
        return self.draw(self.draw(st.sampled_from(kinds)))

    def use_on_rows(self):
        methods = ("transform", "predict", "decision_function", "predict_proba", "predict_log_proba")
        methods = [name for name in methods if hasattr(self.model, name)]
        for _ in range(self.draw(st.integers(2, 5))):
            with suppress(Refused):
                self.use(self.draw(st.sampled_from(methods)), self.draw_rows())

    def go_back(self):
        if not hasattr(self.model, "inverse_transform"):
            return
        n_columns = (
            self.model._n_features_out
            if not isinstance(self.model, LeverageScoreSelection)
            else sum(self.model.get_support())
        )
        recipe = self.draw(matrices(width=st.sampled_from([n_columns] * 5 + [n_columns + 1])))
        must = "raise" if getattr(recipe, "damage", None) else None
        must = "return" if self.sound and recipe.ordinary and recipe.width == n_columns else must
        entry = f"{self.name}.inverse_transform"
        back = self.watch.call(entry, self.model.inverse_transform, recipe.make(), must=must, story=f"({recipe!r})")
        self.watch.demand(back.shape == (recipe.n_rows, self.width), f"inverse_transform has shape {back.shape}")
        if recipe.values not in NOT_FINITE_VALUES:
            self.watch.demand_finite(back, "inverse_transform")
        if self.sound and recipe.ordinary and recipe.dtype != "f4" and isinstance(self.model, ISRHT | SparseEmbedding):
            again = self.model.transform(back)
            once = self.model.transform(self.model.inverse_transform(again))
            once, again = (Z.toarray() if sp.issparse(Z) else Z for Z in (once, again))
            self.watch.demand_close(once, again, "going back and forth again", 1e-8 * np.abs(again).max(initial=1.0))

    def score(self):
        if not hasattr(self.model, "score"):
            return
        recipe, y, given = self.draw_rows(), self.draw(labels()), {}
        if isinstance(recipe, Blocks) or y.kind in ("nan", "inf"):  # of which scikit-learn's metrics warn
            return
        weights_recipe = self.draw(weights())
        if weights_recipe.kind != "none":
            given["sample_weight"] = weights_recipe.make(recipe.n_rows)
        story = f"({recipe!r}, {y!r}, {weights_recipe!r})"
        score = self.watch.call(
            f"{self.name}.score", self.model.score, recipe.make(), y.make(recipe.n_rows), **given, story=story
        )
        self.watch.demand(0 <= score <= 1, f"score is {score}")

    def name_columns(self):
        if not hasattr(self.model, "get_feature_names_out"):
            return
        given = self.draw(st.sampled_from([None, None, None, [f"f{j}" for j in range(self.width)], ["f0"], "names", 3]))
        names = self.watch.call(f"{self.name}.get_feature_names_out", self.model.get_feature_names_out, given)
        columns = self.expected["transform"].shape[1]
        self.watch.demand(names.shape == (columns,) and names.dtype == object, f"names {names.shape} {names.dtype}")

    def change_parameters(self):
        """Change parameters to anything: what was fitted decides what follows."""
        changed = self.draw(parameters(type(self.model))).make(REFERENCE_ROWS)
        self.watch.tell(f"set_params(**{changed})")
        before = self.model.get_params(deep=False)
        self.watch.call(f"{self.name}.set_params", self.model.set_params, **changed, must="return")
        wrong_jobs = PARAMETERS[type(self.model)].get("n_jobs", ((), (), ()))[2]
        if changed.get("n_jobs") not in wrong_jobs:
            self.compare_results(self.results(self.model), f"set_params(**{changed})")
            self.use_on_rows()
        self.model.set_params(**before)

    def fit_again(self):
        """Fit the same estimator on something else: the old model stays whole, or a new one takes its place."""
        data = self.draw(any_data(type(self.model)))
        try:
            self.call_fit("fit", data, "raise" if data.X.faulty else None)
        except Refused:
            self.compare_results(self.results(self.model), "a fit that failed")
            return
        self.check_learned()
        self.width, self.sound = self.model.n_features_in_, False
        self.reference = Dense((REFERENCE_ROWS, self.width))
        self.expected = self.results(self.model)

    def fit_in_parts(self):
        if not isinstance(self.model, ISRHT) or not hasattr(self.model, "partial_fit"):
            return
        model = clone(self.model)
        for _ in range(self.draw(st.integers(1, 3))):
            data = self.draw(st.sampled_from([sure_data, any_data]).flatmap(lambda kind: kind(ISRHT)))
            self.fit_part(model, data)
        width = getattr(model, "n_features_in_", self.width)
        self.watch.call("ISRHT.transform", model.transform, np.ones((2, width)), story="(after parts)")

    def fit_part(self, model, data):
        n_rows = data.X.n_rows
        classes = self.draw(st.sampled_from([None, None, [0, 1], [0, 1, 2], ["no", "yes", "perhaps"], [], 3, [[0, 1]]]))
        given = {"classes": classes, "sample_weight": data.weights.make(n_rows)}
        y = None if isinstance(data.X, Blocks) and data.X.labels is not None else data.labels.make(n_rows)
        must = "raise" if data.X.faulty or data.weights.faulty else None
        story = f"({data.X!r}, {data.labels!r}, classes={classes!r}, sample_weight={data.weights!r})"
        before = dict(vars(model))
        try:
            self.watch.call("ISRHT.partial_fit", model.partial_fit, data.X.make(), y, **given, must=must, story=story)
        except Refused:
            self.watch.demand(_same(vars(model), before), "a partial_fit that failed has changed the estimator")

    def store(self):
        """Save and load: the copy must say the same."""
        folded, about = (
            self.draw(st.booleans()),
            self.draw(st.sampled_from([None, {"a": 1}, {"é": [None]}, 3, {"a": {1}}])),
        )
        memory = io.BytesIO()
        must = "return" if self.sound and not isinstance(about, int) and about != {"a": {1}} else None
        self.watch.call(
            "save", save, self.model, memory, folded=folded, about=about, must=must, story=f"(folded={folded})"
        )
        copy = self.watch.call("load", load, io.BytesIO(memory.getvalue()), must="return")
        if folded or isinstance(self.model, ISRHT):
            self.compare_results(self.results(copy), "save and load")
        self.load_damaged(bytearray(memory.getvalue()))

    def load_damaged(self, content):
        place = self.draw(st.integers(0, len(content) - 1))
        if self.draw(st.booleans()):
            content[place] ^= self.draw(st.integers(1, 255))
        else:
            del content[place:]
        self.watch.call("load", load, io.BytesIO(bytes(content)), must="raise", story=f"(damaged at {place})")

    def serve(self):
        if not hasattr(self.model, "coef_"):
            return
        predictor = self.watch.call("Predictor", Predictor, self.model, must="return")
        recipe = self.draw_rows()
        if isinstance(recipe, Blocks):
            return
        for method, check in (("decision_function", self.check_scores), ("predict", self.check_labels)):
            must = "raise" if recipe.faulty or recipe.width != self.width else None
            must = "return" if self.sound and recipe.ordinary and recipe.width == self.width else must
            call = getattr(predictor, method)
            found = self.watch.call(f"Predictor.{method}", call, recipe.make(), must=must, story=f"({recipe!r})")
            check(found, recipe)
            expected = getattr(self.model, method)(recipe.make())
            self.watch.demand(np.array_equal(found, expected), f"a Predictor's {method} is not that of its model")

    def serve_one(self):
        if not hasattr(self.model, "coef_"):
            return
        predictor = Predictor(self.model)
        for _ in range(self.draw(st.integers(1, 4))):
            row = self.draw(st.builds(Row, st.sampled_from(sorted(ROWS)), st.just(self.width), SEEDS))
            must = "raise" if row.kind in WRONG_ROWS else "return" if self.sound and row.kind in ORDINARY_ROWS else None
            try:
                score = self.watch.call(
                    "Predictor.decision_function_one",
                    predictor.decision_function_one,
                    row.make(),
                    must=must,
                    story=f"({row!r})",
                )
                label = self.watch.call("Predictor.predict_one", predictor.predict_one, row.make(), must=must)
            except Refused:
                continue
            self.watch.demand_finite(score, "decision_function_one")
            self.watch.demand(label in self.model.classes_, "predict_one knows no such class")

    def export(self):
        if not hasattr(self.model, "coef_") and self.draw(st.integers(0, 5)):
            return
        target, unfolded = self.draw(st.sampled_from([*sorted(TARGETS), "pmml"])), self.draw(st.integers(0, 3)) == 0
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, self.draw(st.sampled_from(["model", "mo-del é.h", "0.x"])))
            self.watch.call("export_model", export_model, self.model, path, target, unfolded=unfolded)
            self.watch.demand(os.path.getsize(path) > 0, "the file is empty")

    def name_output(self):
        """Ask for tables instead of arrays."""
        if not hasattr(self.model, "set_output"):
            return
        kind = self.draw(st.sampled_from(["pandas", "polars", "default"]))
        self.model.set_output(transform=kind)
        try:
            table = self.watch.call(
                f"{self.name}.transform", self.model.transform, self.reference.make(), story=f"({kind})"
            )
            self.watch.demand(table.shape == self.expected["transform"].shape, f"{kind} output has shape {table.shape}")
        finally:
            self.model.set_output(transform="default")


ACTIONS = (
    Session.use_on_rows,
    Session.go_back,
    Session.score,
    Session.name_columns,
    Session.change_parameters,
    Session.store,
    Session.serve,
    Session.serve_one,
    Session.export,
    Session.name_output,
    Session.fit_in_parts,
    Session.fit_again,
)
ACTIONS_PER_SESSION = 5


def _same(now, before):
    """Whether an estimator has the same attributes, which are the same objects."""
    return now.keys() == before.keys() and all(now[name] is before[name] for name in now)


def _row(width, seed):
    return np.random.default_rng(seed).standard_normal(width)


def _frame(row):
    import pandas as pd

    return pd.DataFrame([row])


ORDINARY_ROWS = {
    "array": lambda row: row,
    "list": list,
    "tuple": tuple,
    "single precision": lambda row: row.astype("f4"),
    "reversed": lambda row: row[::-1],
    "matrix of one row": lambda row: row[None],
    "pair": lambda row: (np.arange(len(row)), row),
    "pair of lists": lambda row: (list(range(len(row)))[::-1], list(row)),
    "pair of nothing": lambda row: (np.array([], dtype=int), np.array([])),
    "pair that repeats": lambda row: ([0, 0], [1.0, 2.0]),
    "csr": lambda row: sp.csr_array(row[None]),
    "coo": lambda row: sp.coo_matrix(row[None]),
    "whole": lambda row: np.rint(row).astype(int),
    "frame": _frame,
}
ODD_ROWS = {
    "huge": lambda row: row * 1e300,
    "objects": lambda row: row.astype(object),
    "numbers as words": lambda row: row.astype(str),
    "long doubles": lambda row: row.astype("g"),
    "sparse and one-dimensional": lambda row: sp.coo_array(row),
    "other byte order": lambda row: row.astype(">f8"),
    "pair of unsigned": lambda row: (np.arange(len(row), dtype="u8"), row),
}
WRONG_ROWS = {
    "nan": lambda row: row * np.nan,
    "inf": lambda row: row + np.inf,
    "too long": lambda row: np.append(row, 1.0),
    "too short": lambda row: row[:-1],
    "nothing": lambda row: None,
    "a number": lambda row: 3.0,
    "a word": lambda row: "row",
    "words": lambda row: ["a"] * len(row),
    "complex": lambda row: row + 1j,
    "three dimensions": lambda row: row[None, None],
    "two rows": lambda row: np.stack([row, row]),
    "two sparse rows": lambda row: sp.csr_array(np.stack([row, row])),
    "index out of range": lambda row: ([len(row)], [1.0]),
    "index far out of range": lambda row: ([2**40], [1.0]),
    "negative index": lambda row: (np.array([-1]), np.array([1.0])),
    "pair of different lengths": lambda row: ([0, 0], [1.0]),
    "index that is a float": lambda row: ([0.5], [1.0]),
    "pair of matrices": lambda row: (np.array([[0]]), np.array([[1.0]])),
    "nan in a pair": lambda row: ([0], [np.nan]),
    "a dict": lambda row: {0: 1.0},
    "malformed": lambda row: _malformed_row(row),
    "truth values out of place": lambda row: ([True], ["a"]),
}
ROWS = ORDINARY_ROWS | ODD_ROWS | WRONG_ROWS


def _malformed_row(row):
    X = sp.csr_array(np.append(row[1:], 1.0)[None])
    X.indices[-1] = 2**30
    return X


@dataclass(frozen=True)
class Row:
    """A recipe of one row."""

    kind: str
    width: int
    seed: int

    def make(self):
        return ROWS[self.kind](_row(self.width, self.seed))
