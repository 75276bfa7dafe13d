"""Sums in a given order, and other small work on entries that several twins share.

NumPy's own sums promise no order, and SciPy's products may be fused with the sum that follows. ``np.add.accumulate``
and ``np.add.at`` add one number after another. Sparse products serve only where one factor is 1 or a sign, because
fusing changes nothing there.
"""

from __future__ import annotations

import numpy as np

# Twins that work through large data piece by piece hold so many numbers at once.
PIECE = 2**18
# A dense product is summed in so many partial sums.
PARTIALS = 8


def sum_in_turn(values):
    """Return the sum over the first axis: to zero, one value after another is added."""
    return np.add.accumulate(values)[-1] + 0.0 if len(values) else np.zeros(values.shape[1:])


def sum_by_halves(values):
    """Return the sum over the first axis, whose length is a power of two: the second half is added to the first."""
    while len(values) > 1:
        values = values[: len(values) // 2] + values[len(values) // 2 :]
    return values[0]


def sum_in_eighths(values):
    """Return the sum over the first axis in eight partial sums, to the first of which the last few values are added."""
    whole = len(values) // PARTIALS * PARTIALS
    partial = sum_in_turn(values[:whole].reshape(-1, PARTIALS, *values.shape[1:]))
    for value in values[whole:]:
        partial[0] += value
    return sum_by_halves(partial)


def add_in_turn(totals, rows):
    """Add rows to ``totals``, one after another."""
    totals[...] = np.add.accumulate(np.concatenate([totals[None], rows]))[-1]


def add_at(totals, places, values):
    """Add ``values[e]`` to ``totals[places[e]]``, one after another."""
    for i in np.ndindex(totals.shape[1:]):
        np.add.at(totals[:, *i], places, values[:, *i])


def count_up(sizes):
    """Return 0, 1, 2, ... for each of several runs of these sizes, one after another."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def rows_of_entries(indptr):
    """Return the row of each entry of a CSR matrix."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def pieces(count, width):
    """Return slices of ``count`` rows, each of about as many numbers as are held at once."""
    step = max(1, PIECE // max(1, width))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
