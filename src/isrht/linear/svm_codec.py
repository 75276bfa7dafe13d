"""What a model file keeps of a :class:`~isrht.LinearSVM`: classes, coefficients and how many steps were taken."""

from __future__ import annotations

from isrht.linear.svm import LinearSVM
from isrht.support.codec import Codec


def fields(model):
    """Return the fields of any fitted linear classifier."""
    return {name: getattr(model, name) for name in ("classes_", "coef_", "intercept_", "n_iter_")}


def restore(model, stored):
    """Make a fitted linear classifier of stored fields."""
    model.classes_ = stored.labels("classes_")
    model.n_iter_ = stored.integer("n_iter_")
    n_problems = 1 if len(model.classes_) == 2 else len(model.classes_)
    model.coef_ = stored.array("coef_", "<f8", (n_problems, model.n_features_in_))
    model.intercept_ = stored.array("intercept_", "<f8", (n_problems,))


CODEC = Codec(LinearSVM, fields, restore)
