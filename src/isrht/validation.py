"""Checks of parameters and weights that several estimators share; each error names what was wrong."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length

from isrht.per_row import Column

FLOATS = (np.float64, np.float32)


def check_positive_integer(name, value):
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value!r}")


def check_positive_number(name, value):
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not 0 < value < np.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}")


def checked_sample_weight(sample_weight, X):
    """One weight per row in float64, or None. Those of rows on workers are checked there."""
    if sample_weight is None or isinstance(sample_weight, Column):
        return sample_weight
    on_workers = getattr(X, "on_workers", False)
    if on_workers and (weights := X.checked_weights(sample_weight)) is not None:
        return weights
    if isinstance(sample_weight, Real):
        sample_weight = np.full(X.shape[0], sample_weight)
    sample_weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight", estimator="isrht"
    )
    if sample_weight.ndim != 1:
        raise ValueError(f"sample_weight must be 1-D, one weight per row, got shape {sample_weight.shape}")
    check_consistent_length(X, sample_weight)
    check_not_negative(sample_weight)
    check_some_weight(np.any(sample_weight > 0))
    return X.column(sample_weight) if on_workers else sample_weight


def check_not_negative(sample_weight):
    if np.any(sample_weight < 0):
        row = int(np.argmax(sample_weight < 0))
        raise ValueError(f"sample_weight must not be negative, got {sample_weight[row]:g} for row {row}")


def check_some_weight(some):
    if not some:
        raise ValueError("sample_weight must be positive for some row, got only zeros")


def checked_finite(projected):
    """What was projected, if it is finite: finite data must not silently become infinite."""
    if not np.isfinite(projected).all():
        raise ValueError(
            f"the projection overflows {projected.dtype}: X has values too large for its precision; "
            "scale X (for example by its largest absolute value) or convert it to float64"
        )
    return projected
