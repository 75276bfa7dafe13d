"""A classifier as the one thing that all programs understand: weights of the original features, intercepts, labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isrht.svm import LinearClassifier


@dataclass(frozen=True)
class Folded:
    """``coef`` is (n_problems, n_features). Two classes are one problem: positive scores mean ``classes[1]``."""

    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray
    feature_names: np.ndarray | None

    @property
    def n_features(self):
        return self.coef.shape[1]

    @property
    def n_problems(self):
        return len(self.coef)


def folded(model):
    if not isinstance(model, LinearClassifier):
        raise TypeError(
            f"only classifiers can be exported (ISRHTClassifier, LinearSVM, LinearSVMCV), not {type(model).__name__}"
        )
    check_is_fitted(model)
    coef = np.asarray(model.coef_, dtype=np.float64)
    intercept = np.asarray(model.intercept_, dtype=np.float64)
    return Folded(coef, intercept, model.classes_, getattr(model, "feature_names_in_", None))


def integer_labels(classes):
    """The labels as integers, if they are integers in whatever type; otherwise None."""
    if classes.dtype.kind in "iu":
        return classes
    if classes.dtype.kind != "f":
        return None
    classes = classes.astype(np.float64)  # halves cannot be compared with what is too large
    if np.abs(classes).max() >= 2**53 or np.any(classes != np.trunc(classes)):
        return None
    return classes.astype(np.int64)
