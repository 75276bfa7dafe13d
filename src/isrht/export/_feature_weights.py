"""A classifier as what all programs understand: weights of the original features, intercepts and labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isrht.linear.calibration import Calibration
from isrht.linear.classifier import LinearClassifier


@dataclass(frozen=True)
class FeatureWeights:
    """A linear classifier of the original features.

    ``coef`` has the shape (n_problems, n_features). Two classes are one problem, in which positive scores mean
    ``classes[1]``; of several classes each is a problem. ``calibration`` makes probabilities of scores, or is
    None.
    """

    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray
    feature_names: np.ndarray | None
    calibration: Calibration | None = None

    @property
    def n_features(self):
        return self.coef.shape[1]

    @property
    def n_problems(self):
        return len(self.coef)


def feature_weights(model):
    """Return the :class:`FeatureWeights` of a fitted classifier."""
    if not isinstance(model, LinearClassifier):
        raise TypeError(
            f"only classifiers can be exported (ISRHTClassifier, LinearSVM, LinearSVMCV), not {type(model).__name__}"
        )
    check_is_fitted(model)
    coef = np.asarray(model.coef_, dtype=np.float64)
    intercept = np.asarray(model.intercept_, dtype=np.float64)
    names, calibration = (getattr(model, name, None) for name in ("feature_names_in_", "calibration_"))
    return FeatureWeights(coef, intercept, model.classes_, names, calibration)


def integer_labels(classes):
    """Return the labels as integers, or None if they are not; their type may also be one of floats."""
    if classes.dtype.kind in "iu":
        return classes
    if classes.dtype.kind != "f":
        return None
    classes = classes.astype(np.float64)  # half floats cannot be compared with 2**53
    if np.abs(classes).max() >= 2**53 or np.any(classes != np.trunc(classes)):
        return None
    return classes.astype(np.int64)
