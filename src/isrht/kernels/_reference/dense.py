"""The twins of the kernels on dense rows (``core/dense``)."""

from __future__ import annotations

import numpy as np

from isrht.kernels._reference.checks import check_range
from isrht.kernels._reference.sums import add_in_turn, pieces

# A row of up to so many values is rotated whole.
WHOLE = 2048


def transform(x, scale, workers=1):
    """Transform, in place and times ``scale``, the middle axis of an array (outer, length, inner), in one thread."""
    outer, length, inner = x.shape
    stride = length // 2
    while stride:
        pairs = x.reshape(outer, length // (2 * stride), 2, stride, inner)
        if pairs.size and not np.shares_memory(pairs, x):
            raise ValueError("the middle and last axes must be contiguous")
        low, high = pairs[:, :, 0], pairs[:, :, 1]
        difference = low - high
        low += high
        high[...] = difference
        stride //= 2
    if scale != 1:
        x *= x.dtype.type(scale)


def project_rows(x, diagonal, length, columns, scales, out):
    """Write the wanted columns of the rotated rows, times their scales, to ``out``."""
    check_range(columns, length, "a chosen column is out of range")
    for rows in pieces(len(x), length):
        np.multiply(_rotated_columns(x[rows], diagonal, columns), scales, out=out[rows])


def add_rows(x, chosen, totals):
    """Add the chosen rows to ``totals``."""
    check_range(chosen, len(x), "a chosen row is out of range")
    for rows in pieces(len(chosen), x.shape[1]):
        add_in_turn(totals, x[chosen[rows]].astype(np.float64))


def add_squares(x, chosen, diagonal, totals):
    """Add the squares of the rotated chosen rows to ``totals``."""
    check_range(chosen, len(x), "a chosen row is out of range")
    for rows in pieces(len(chosen), len(totals)):
        rotated = _rotated_columns(x[chosen[rows]], diagonal, np.arange(len(totals))).astype(np.float64)
        add_in_turn(totals, rotated**2)


def add_moments(x, first, second, totals):
    """Add ``x first``, ``x second`` and ``x**2 second`` to ``totals`` (width, 3, problems), row after row.

    ``first`` and ``second`` (rows, problems) are the factors of each row.
    """
    if first.shape != second.shape or len(first) != len(x):
        raise ValueError("first and second must have a row of factors for each row")
    if totals.shape != (x.shape[1], 3, first.shape[1]):
        raise ValueError("totals has the wrong shape")
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in pieces(len(x), totals.size):
            values = x[rows].astype(np.float64)[:, :, None]
            factors = first[rows, None], second[rows, None]
            terms = values * factors[0], values * factors[1], values * values * factors[1]
            add_in_turn(totals, np.stack(terms, axis=2))


def _rotated_columns(x, diagonal, columns):
    """Return some columns of the rotated rows.

    Head and tail of long rows are rotated apart, and the largest stride, which combines them, comes last. Columns
    beyond the next power of two of the width repeat those before them.
    """
    width = x.shape[1]
    padded = 1 << (width - 1).bit_length()
    if width <= WHOLE:
        return _rotated(x, diagonal, padded)[:, columns % padded]
    head, tail = padded // 2, 1 << (width - padded // 2 - 1).bit_length()
    first = _rotated(x[:, :head], diagonal[:head], head)[:, columns % head]
    second = _rotated(x[:, head:], diagonal[head:], tail)[:, columns % tail]
    return np.where(columns & head, first - second, first + second)


def _rotated(x, diagonal, length):
    """Return all columns of the rotated rows."""
    padded = np.zeros((len(x), length), dtype=x.dtype)
    padded[:, : x.shape[1]] = x * diagonal
    transform(padded[:, :, None], 1)
    return padded
