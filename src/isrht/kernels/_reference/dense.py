"""The twins of the kernels on dense rows (``core/dense``)."""

from __future__ import annotations

import numpy as np

from isrht.kernels._reference.checks import check_range
from isrht.kernels._reference.sums import add_in_turn, pieces
from isrht.kernels.records import WILLIAMSON

# A row of up to so many values is rotated whole.
WHOLE = 2048
# Of a transform of length 2**a * m * 2**b, the matrix of order m combines blocks of m * 2**b values, at most so many.
LARGEST_BLOCK = 4096
# Arrow's names of the types of numbers that become rows.
ARROW_NUMBERS = {"bool", "float", "double"} | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


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


def transform_streams(x, matrix, scale, workers=1):
    """Transform, in place and times ``scale``, the middle axis of an array (outer, 2**a * m * 2**b, inner).

    ``matrix`` is a :class:`~isrht.kernels.records.SmallMatrix` of order m.
    """
    outer, length, inner = x.shape
    block = matrix.order
    while block < length and 2 * block <= LARGEST_BLOCK:
        block *= 2
    blocks = x.reshape(outer, length // block, block * inner)
    streams = x.reshape(outer, length // block, matrix.order, block // matrix.order, inner)
    if streams.size and not np.shares_memory(streams, x):
        raise ValueError("the middle and last axes must be contiguous")
    transform(blocks, 1)
    _combine(np.moveaxis(streams, 2, 0), matrix)
    for number in range(length // block):
        for stream in range(matrix.order):
            transform(streams[:, number, stream], scale)


def rotate_rows(x, steps, out, inverse, workers=1):
    """Write the rows after all steps of a rotation, or after all inverse steps, the last first, to ``out``.

    A step multiplies some values of a row by signs, and applies the orthonormal transform to them. ``steps`` are
    :class:`~isrht.kernels.records.RotationSteps`; ``out`` may be ``x``. Return whether all of ``out`` is finite.
    """
    length = steps.signs.shape[1]
    check_range(steps.starts, x.shape[1] - length + 1, "a step begins out of range")
    scale = 1 / np.sqrt(length)
    out[...] = x
    order = range(len(steps.starts))
    for step in reversed(order) if inverse else order:
        values = out[:, steps.starts[step] : steps.starts[step] + length]
        if not inverse:
            values *= steps.signs[step]
        if steps.matrix.order == 1:
            transform(values[:, :, None], scale)
        else:
            transform_streams(values[:, :, None], steps.matrix, scale)
        if inverse:
            values *= steps.signs[step]
    return bool(np.isfinite(out).all())


def _combine(x, matrix):
    """Multiply the first axis, in place, by a small matrix."""
    if matrix.order == WILLIAMSON.order:
        _combine_twelve(x)
    elif matrix.order == matrix.field + 1:
        _combine_one(x, matrix)
    else:
        _combine_two(x, matrix)


def _combine_twelve(x):
    """Multiply the first axis, in place, by Williamson's matrix of order 12 (``core/dense/williamson.hpp``)."""
    signs = np.array([1, -1, -1, -1], dtype=x.dtype).reshape(4, *[1] * (x.ndim - 1))
    x[:4] *= signs
    parts = [x[:4].copy(), x[4:8].copy(), x[8:].copy()]
    sums = [np.stack([a + c, b + d, a - c, b - d]) for a, b, c, d in parts]
    for number, (a, b, c, d) in enumerate(parts):
        one, other = (sums[k] for k in range(3) if k != number)
        first, second, third, fourth = one + other - np.stack([c + b, d - a, a + d, b - c])
        x[4 * number : 4 * number + 4] = first + second, first - second, third + fourth, third - fourth
    x[:4] *= signs


def _combine_one(x, matrix):
    """Multiply the first axis, in place, by the matrix of order q + 1."""
    q, p = matrix.field, matrix.cycle
    elements = np.arange(q)
    border, rest = x[0].copy(), x[1:].copy()
    total = _sum(rest)
    mirrored = rest[-elements % p + -(elements // p) % (q // p) * p]
    x[0] = border + total
    x[1:] = _sums_at_distances(np.zeros_like(rest), mirrored, border - total, matrix)


def _combine_two(x, matrix):
    """Multiply the first axis, in place, by the matrix of order 2 (q + 1)."""
    first, second = x[: matrix.field + 1], x[matrix.field + 1 :]
    sums, differences = first + second, first - second
    total, other_total = _sum(sums[1:]), _sum(differences[1:])
    first[1:] = _sums_at_distances(first[1:], sums[1:], differences[0] - total, matrix)
    second[1:] = _sums_at_distances(-second[1:], differences[1:], sums[0] - other_total, matrix)
    first[0] = sums[0] + total
    second[0] = differences[0] - other_total


def _sum(values):
    """Return the sum of values, one added after the other."""
    total = np.zeros_like(values[0])
    for value in values:
        total += value
    return total


def _sums_at_distances(begin, values, constant, matrix):
    """Return, for each element of the field, a constant and twice a sum: what it begins with, and the added values."""
    q, p = matrix.field, matrix.cycle
    elements, sums = np.arange(q), begin.copy()
    for distance in matrix.added:
        high, low = divmod(int(distance), 2 * p)
        sums += values[(elements % p + low) % p + (elements // p + high) % (q // p) * p]
    return constant + (sums + sums)


def widen_halves(x, brain, out):
    """Write the values of numbers of 16 bits, given as their bits, to ``out``: bfloat16 if ``brain``, else float16."""
    out[...] = (x.astype(np.uint32) << 16).view(np.float32) if brain else x.view(np.float16)


def narrow_halves(x, brain, out):
    """Write the bits of the nearest bfloat16 (if ``brain``) or float16 of every value to ``out``, ties to even."""
    bits = x.view(np.uint32)
    nan = np.isnan(x)
    if brain:
        rounded = bits + np.uint32(0x7FFF) + (bits >> 16 & 1)
        out[...] = np.where(nan, bits | 0x400000, rounded) >> 16
    else:
        with np.errstate(over="ignore"):
            out[...] = np.where(nan, bits >> 16 & 0x8000 | 0x7E00, x.astype(np.float16).view(np.uint16))


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


def interleave_columns(columns, out):
    """Write the transpose of ``columns`` (width, rows) to ``out`` (rows, width); say whether all values are finite."""
    if out.shape != columns.shape[::-1]:
        raise ValueError("out has the wrong shape")
    out[...] = columns.T
    return bool(np.isfinite(out).all())


def interleave_arrow(columns, start, out):
    """Write rows of :class:`~isrht.kernels.records.ArrowColumns`, from row ``start`` on, to ``out`` (rows, width).

    Values that are missing become NaN. Return whether all values are finite.
    """
    if out.shape[1] != len(columns.numbers):
        raise ValueError("out has the wrong shape")
    if start < 0 or start + len(out) > columns.batch.num_rows:
        raise ValueError("the Arrow batch has not so many rows")
    check_range(columns.numbers, columns.batch.num_columns, "a chosen column is out of range")
    for place, number in enumerate(columns.numbers.tolist()):
        column = columns.batch.column(number)
        kind = str(column.type)
        if kind != "float" and (out.dtype == np.float32 or kind not in ARROW_NUMBERS):
            raise ValueError("a column of the Arrow batch has no numbers of this type")
        values = column.slice(start, len(out)).to_numpy(zero_copy_only=False)
        out[:, place] = [np.nan if value is None else value for value in values] if values.dtype == object else values
    return bool(np.isfinite(out).all())


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
