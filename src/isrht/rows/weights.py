"""What one row weighs: the unit in which the weights of rows count as numbers of rows.

To choose something (a C, a number of rounds, whether there is a signal at all) one must know how many rows there are,
and weights may come in any unit: some add up to 1, others are inverse probabilities. So that a constant factor on all
weights changes nothing that is chosen, weights are divided by :func:`typical_weight` first. It is a median and not a
mean: among rows of weight 1, a row of weight 2 is then the same as a row that is there twice.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length

from isrht.rows.values import RowValues, derived, total

# Rows that weigh less than this share of the mean weight, in which each row counts by its weight, do not say what a row
# typically weighs.
LEAST_SHARE = 1e-3
# The median of weights that are not in memory is found in digits of so many bits: a pass then counts only 256 numbers.
DIGIT_BITS = 8
# Sums of squares of weights outside of these bounds would be lost to rounding, or overflow.
LARGEST_WEIGHT, SMALLEST_WEIGHT = 1e100, 1e-100
# A weight that is less than this part of the largest counts as zero: "balanced" weights of a class of such rows would
# have no bounds.
NEGLIGIBLE_WEIGHT = 1e-200


def checked_sample_weight(sample_weight, X):
    """Return one weight per row in float64, checked, or None where there are no weights.

    Parameters
    ----------
    sample_weight : None, float, array of shape (n_samples,), or a Dask array where X is on workers
        Weights that are :class:`~isrht.rows.values.RowValues` have been checked already.
    X : array, CSR matrix or RowsElsewhere
        The rows that they belong to.

    Returns
    -------
    ndarray, RowValues or None
        Where X is on workers the weights are there, too.
    """
    if sample_weight is None or isinstance(sample_weight, RowValues):
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
    largest = sample_weight.max(initial=0.0)
    check_largest_weight(largest)
    negligible = (sample_weight > 0) & (sample_weight < NEGLIGIBLE_WEIGHT * largest)
    if negligible.any():
        sample_weight = np.where(negligible, 0.0, sample_weight)
    return X.row_values(sample_weight) if on_workers else sample_weight


def check_class_weight(class_weight):
    """Raise an error unless ``class_weight`` is None, "balanced" or a dict of weights that are within bounds."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, dict):
        raise ValueError(f'class_weight must be None, "balanced" or a dict, got {class_weight!r}')
    for label, weight in class_weight.items():
        if not isinstance(weight, Real) or not 0 <= weight <= LARGEST_WEIGHT:
            raise ValueError(
                f"class_weight must be numbers from 0 to {LARGEST_WEIGHT:g}, got {weight!r} for class {label!r}"
            )


def check_not_negative(sample_weight):
    """Raise an error that names the row, if a weight is negative."""
    if np.any(sample_weight < 0):
        row = int(np.argmax(sample_weight < 0))
        raise ValueError(f"sample_weight must not be negative, got {sample_weight[row]:g} for row {row}")


def check_largest_weight(largest):
    """Raise an error if the largest of all weights is zero, or too large or too small to add up squares."""
    if largest == 0:
        raise ValueError("sample_weight must be positive for some row, got only zeros")
    if not SMALLEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise ValueError(
            f"the largest sample_weight must lie between {SMALLEST_WEIGHT:g} and {LARGEST_WEIGHT:g}, got {largest:g}: "
            "multiply all weights by a constant"
        )


def typical_weight(weights):
    """Return the (lower) median of the weights of the rows that count; 1 where there are no weights."""
    if weights is None:
        return 1.0
    once, squared = total(lambda weights: np.array([weights.sum(), weights @ weights]), weights)
    least = LEAST_SHARE * squared / once
    if isinstance(weights, RowValues):
        return _median_by_digits(weights, least)
    counted = weights[weights >= least]
    middle = (len(counted) - 1) // 2
    return float(np.partition(counted, middle)[middle])


def in_units(weights, unit):
    """Return the weights (array, RowValues or None) divided by ``unit``."""
    return weights if weights is None or unit == 1 else derived(lambda weights: weights / unit, weights)


def effective_count(sums, squares):
    """Return how many rows of equal weight would say as much, from the sums of weights and of their squares."""
    return sums**2 / squares


def _median_by_digits(weights, least):
    """Return the median, found by sums over rows alone.

    Positive numbers have the same order as the integers of the same bits. So the median is found digit by digit: each
    pass counts the next digit of the numbers that begin with the digits found so far.
    """
    prefix, shift = 0, 64
    rank = (int(total(lambda weights: np.count_nonzero(weights >= least), weights)) - 1) // 2
    while shift:
        shift -= DIGIT_BITS
        counts = total(_DigitCounts(least, prefix, shift), weights)
        ends = np.cumsum(counts)
        digit = int(np.searchsorted(ends, rank, side="right"))
        rank -= int(ends[digit] - counts[digit])
        prefix = prefix << DIGIT_BITS | digit
    return float(np.array(prefix, dtype=np.uint64).view(np.float64))


class _DigitCounts:
    """Counts how often each next digit follows, in the weights that begin with the digits found so far."""

    def __init__(self, least, prefix, shift):
        self.least, self.prefix, self.shift = least, prefix, shift

    def __call__(self, weights):
        bits = np.ascontiguousarray(weights[weights >= self.least], dtype=np.float64).view(np.uint64) >> self.shift
        mine = bits[bits >> DIGIT_BITS == self.prefix]
        return np.bincount((mine & (2**DIGIT_BITS - 1)).astype(np.int64), minlength=2**DIGIT_BITS)
