"""Sessions with an estimator: it is fitted with something, then used, changed, fitted again, stored and exported."""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import suppress

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from sklearn.base import clone

from fuzz.blocks import Blocks, blocks
from fuzz.data import any_data, sure_data
from fuzz.dense import NOT_FINITE_VALUES, Dense
from fuzz.fitted import REFERENCE_ROWS, Fitted, same_attributes
from fuzz.matrices import SEEDS, WIDTHS, matrices, ordinary_matrices
from fuzz.parameters import ESTIMATORS, PARAMETERS, TAKES_SOURCES, parameters
from fuzz.single_rows import ORDINARY_ROWS, ROWS, WRONG_ROWS, Row
from fuzz.targets import labels, weights
from fuzz.watch import Refused
from isrht import ISRHT, LeverageScoreSelection, Predictor, SparseEmbedding, load, save
from isrht.export import TARGETS, export_model


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


class Session(Fitted):
    """Things to do with a fitted model, one after the other; none may change what it says of the reference rows."""

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
            self.watch.demand(
                same_attributes(vars(model), before), "a partial_fit that failed has changed the estimator"
            )

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
