"""The slow, obvious twin of every compiled kernel: the oracle of the tests, and the fallback without a compiler.

The functions have the names, arguments and effects of the compiled ones (``core/kernels.hpp``). "Rotate" is the
unnormalised Walsh-Hadamard transform of a row that has been multiplied by a diagonal and padded with zeros to
``length``: ``z_j = sum_k x_k diagonal_k (-1)**popcount(k & j)``.

They add in the order in which the compiled ones add, so that they give the same bits. NumPy's own sums promise no
order, and SciPy's products may be fused with the sum that follows. ``np.add.accumulate`` and ``np.add.at`` add one
number after another, and sparse products serve only where one factor is a sign or 1, where fusing changes nothing.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht.kernels._reference_libsvm import LibsvmParser  # noqa: F401, a name of the compiled kernels like the functions here

# Numbers held at once by the twins that work through large data piece by piece.
PIECE = 2**18
# Partial sums of a dense product.
PARTIALS = 8
# From so many columns on, eight entries of a sparse row of doubles make a group.
MANY_COLUMNS = 64
# Features whose products are summed before they are added to those of the features before.
FEATURE_PIECE = 512
# Up to so many values a row is rotated whole.
WHOLE = 2048
# Totals of an autocorrelation in a region, and how many regions there are at most.
REGION, MOST_REGIONS = 2**15, 64


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
    _check_range(columns, length, "a chosen column is out of range")
    for rows in _pieces(len(x), length):
        np.multiply(_columns(x[rows], diagonal, columns), scales, out=out[rows])


def add_rows(x, chosen, totals):
    """Add the chosen rows to ``totals``."""
    _check_range(chosen, len(x), "a chosen row is out of range")
    for rows in _pieces(len(chosen), x.shape[1]):
        _add_in_turn(totals, x[chosen[rows]].astype(np.float64))


def add_squares(x, chosen, diagonal, totals):
    """Add the squares of the rotated chosen rows to ``totals``."""
    _check_range(chosen, len(x), "a chosen row is out of range")
    for rows in _pieces(len(chosen), len(totals)):
        rotated = _columns(x[chosen[rows]], diagonal, np.arange(len(totals))).astype(np.float64)
        _add_in_turn(totals, rotated**2)


def project_csr(data, indices, indptr, diagonal, length, columns, scales, out):
    """As :func:`project_rows`, for CSR rows: a signed sum over the entries of each row, taken in groups."""
    _check_range(columns, length, "a chosen column is out of range")
    _check_csr(data, indices, indptr, len(diagonal))
    for rows in _pieces(len(indptr) - 1, 1 + int(np.diff(indptr).max(initial=0)) * len(columns)):
        starts = indptr[rows.start : rows.stop + 1]
        entries = slice(starts[0], starts[-1])
        features, places = np.unique(indices[entries], return_inverse=True)
        signs = 1 - 2 * (np.bitwise_count(features[:, None] & columns) % 2).astype(data.dtype)
        values = data[entries] * diagonal[indices[entries]]
        np.multiply(_sums_in_groups(values, places, starts - starts[0], signs), scales, out=out[rows])


def _sums_in_groups(values, places, starts, signs):
    """Return the sum of ``values[e] * signs[places[e]]`` over the entries of each row.

    Three consecutive floats are added first, or two doubles; in many columns, pairs of doubles are added to fours and
    these to eights. The sums of a row's groups are then added one after another.
    """
    sums = signs
    few = signs.shape[1] < MANY_COLUMNS
    for size in [3] if signs.itemsize == 4 else [2] if few else [2, 2, 2]:
        groups = -(-np.diff(starts) // size)
        group_starts = np.repeat(starts[:-1], groups) + size * _count_up(groups)
        sums = _sums_of_runs(values, places, np.append(group_starts, starts[-1]), sums)
        values, places, starts = np.ones(len(sums), signs.dtype), np.arange(len(sums)), np.append(0, np.cumsum(groups))
    return _sums_of_runs(values, places, starts, sums)


def _sums_of_runs(values, places, starts, addends):
    """Add ``values[e] * addends[places[e]]`` one after another, from each start to the next."""
    return sp.csr_array((values, places, starts), (len(starts) - 1, len(addends))) @ addends


def add_csr_rows(data, indices, indptr, chosen, totals):
    """As :func:`add_rows`, for CSR rows."""
    _check_csr(data, indices, indptr, len(totals))
    _check_range(chosen, len(indptr) - 1, "a chosen row is out of range")
    sizes = np.diff(indptr)[chosen]
    entries = np.repeat(indptr[chosen], sizes) + _count_up(sizes)
    np.add.at(totals, indices[entries], data[entries].astype(np.float64))


def add_csr_autocorrelation(data, indices, indptr, chosen, diagonal, totals):
    """Add ``u_k u_l`` to ``totals[k ^ l]`` over all pairs of entries of each chosen row, ``u = x * diagonal``.

    Large totals are worked through region by region. The entries of a row are sorted by region; each of them meets
    itself, then those before it that are in its own region, and those behind it that are in others.
    """
    _check_csr(data, indices, indptr, len(diagonal))
    _check_range(chosen, len(indptr) - 1, "a chosen row is out of range")
    region_size = len(totals) // min(max(len(totals) // REGION, 1), MOST_REGIONS)
    for row in chosen:
        regions = indices[indptr[row] : indptr[row + 1]] // region_size
        order = np.argsort(regions, kind="stable")
        features, values = indices[indptr[row] + order], data[indptr[row] + order].astype(np.float64)
        values *= diagonal[features]
        together = np.equal.outer(regions[order], regions[order])
        met = np.where(together, np.tri(len(order), k=-1, dtype=bool), ~np.tri(len(order), dtype=bool))
        met = np.insert(met, 0, True, axis=1)
        places = np.insert(np.bitwise_xor.outer(features, features), 0, 0, axis=1)
        products = np.insert(np.multiply.outer(2 * values, values), 0, values * values, axis=1)
        np.add.at(totals, places[met], products[met])


def add_csr_moments(data, indices, indptr, first, second, totals):
    """Add ``x first``, ``x second`` and ``x**2 second`` to ``totals`` (width, 3, problems), with factors per row."""
    _check_csr(data, indices, indptr, len(totals))
    if first.shape != second.shape or len(first) != len(indptr) - 1:
        raise ValueError("first and second must have a row of factors for each row")
    if totals.shape[1:] != (3, first.shape[1]):
        raise ValueError("totals has the wrong shape")
    rows, entries = _rows_of_entries(indptr), slice(indptr[0], indptr[-1])
    counts = ((first != 0) | (second != 0)).any(axis=1)[rows]
    _add_moments(data[entries][counts], indices[entries][counts], rows[counts], first, second, totals)


def moments_of_features(data, indices, indptr, factors, totals):
    """Set ``totals`` to the moments of data stored by feature: CSR rows are features, ``factors`` (rows, 2, problems)
    are those of the rows."""
    if factors.shape[1] != 2:
        raise ValueError("factors must be two for each row and problem")
    _check_csr(data, indices, indptr, len(factors))
    if totals.shape != (len(indptr) - 1, 3, factors.shape[2]):
        raise ValueError("totals has the wrong shape")
    totals[...] = 0
    rows = indices[indptr[0] : indptr[-1]]
    _add_moments(data[indptr[0] : indptr[-1]], _rows_of_entries(indptr), rows, factors[:, 0], factors[:, 1], totals)


def _add_moments(data, features, rows, first, second, totals):
    """Add what each entry, a value of a feature in a row, adds to the moments of its feature."""
    for part in _pieces(len(data), 3 * first.shape[1]):
        x, one, two = data[part, None].astype(np.float64), first[rows[part]], second[rows[part]]
        _add_at(totals, features[part], np.stack([x * one, x * two, x * x * two], axis=1))


def make_diagonals(
    moments,
    mean,
    deviation,
    varies,
    fold,
    first_sum,
    second_sum,
    kind,
    threshold,
    z,
    path,
    row,
    rows,
    constant,
    start,
    signals,
    offsets,
    grams,
    diagonals,
):
    """Gradients over their standard errors, shrunk, from ``moments`` (features, 3, problems): core/diagonals.hpp."""
    standard, signs = kind == 0, kind == 2
    mean, deviation, varies = mean[:, fold], deviation[:, fold], varies[:, fold]
    gradient, second, square = np.moveaxis(moments, 1, 0)
    gradient, variance = gradient - mean * first_sum, (mean * second_sum - 2 * second) * mean + square
    sure = variance > constant * square
    values = np.where(sure, gradient, 0) / np.sqrt(np.where(sure, variance, 1))
    below = np.where(values < threshold, values, threshold)
    shrunk = np.where(varies, values - np.where(below > -threshold, below, -threshold), 0)
    shrunk = np.where(signs, np.where(values < 0, -1.0, 1.0) * varies, shrunk)
    entries = shrunk.astype(np.float32).astype(np.float64)
    weighted = np.where(standard, entries, entries * deviation)
    diagonals[...] = np.where(standard, entries / deviation, entries)
    if signals.size:
        signals[...] = diagonals * gradient
    for p, mine in enumerate(path):
        z[mine][row[p], start : start + len(mean)] = entries[:, p]
    for at in range(0, len(mean), FEATURE_PIECE):
        piece = slice(at, min(at + FEATURE_PIECE, len(mean)))
        offsets += _sum_in_eighths(diagonals[piece] * mean[piece])
        for p, mine in enumerate(path):
            others = z[mine][: rows[p], start + piece.start : start + piece.stop].T
            grams[p, : rows[p]] += _sum_in_eighths(others * weighted[piece, p, None])


def diagonals_of_features(data, indices, indptr, factors, *problems_and_results):
    """:func:`make_diagonals` of :func:`moments_of_features`; the data times the diagonals are added to the last one."""
    *problems_and_results, products = problems_and_results
    totals = np.empty((len(indptr) - 1, 3, factors.shape[2]))
    moments_of_features(data, indices, indptr, factors, totals)
    if products.shape != (len(factors), factors.shape[2]):
        raise ValueError("products has the wrong shape")
    diagonals = np.empty((len(totals), factors.shape[2]))
    make_diagonals(totals, *problems_and_results, diagonals)
    entries, features = slice(indptr[0], indptr[-1]), _rows_of_entries(indptr)
    _add_at(products, indices[entries], data[entries, None].astype(np.float64) * diagonals[features])


def score_rows(x, weights, intercept, out):
    """``x @ weights.T + intercept`` in float64: entry k is added to partial sum k % 8, these are added by halves.

    Returns whether all scores are finite, as they are only if x is.
    """
    if x.shape[1] != weights.shape[1]:
        raise ValueError("the weights and the rows differ in width")
    _check_scores(len(x), weights, intercept, out)
    width = -(-x.shape[1] // PARTIALS) * PARTIALS
    for rows in _pieces(len(x), width):
        padded = _padded(x[rows], width)
        for p, weight in enumerate(_padded(weights, width)):
            with np.errstate(invalid="ignore", over="ignore"):
                products = (padded * weight).reshape(len(padded), -1, PARTIALS)
                out[rows, p] = _sum_by_halves(_sum_in_turn(products.transpose(1, 2, 0))) + intercept[p]
    return bool(np.isfinite(out).all())


def score_csr(data, indices, indptr, weights, intercept, out):
    """As :func:`score_rows`, for CSR rows: entry e of a row is added to partial sum e % 4."""
    _check_csr(data, indices, indptr, weights.shape[1])
    count, entries = len(indptr) - 1, slice(indptr[0], indptr[-1])
    _check_scores(count, weights, intercept, out)
    rows = _rows_of_entries(indptr)
    places = 4 * rows + _count_up(np.diff(indptr)) % 4
    for p, weight in enumerate(weights):
        with np.errstate(invalid="ignore", over="ignore"):
            products = data[entries].astype(np.float64) * weight[indices[entries]]
            sums = np.bincount(places, products, 4 * count).reshape(count, 4)
            out[:, p] = ((sums[:, 0] + sums[:, 2]) + (sums[:, 1] + sums[:, 3])) + intercept[p]
    return bool(np.isfinite(out).all())


def _check_scores(count, weights, intercept, out):
    if intercept.shape != weights.shape[:1]:
        raise ValueError("weights and intercept differ in length")
    if out.shape != (count, len(weights)):
        raise ValueError("out has the wrong shape")


def _rotated(x, diagonal, length):
    padded = np.zeros((len(x), length), dtype=x.dtype)
    padded[:, : x.shape[1]] = x * diagonal
    transform(padded[:, :, None], 1)
    return padded


def _columns(x, diagonal, columns):
    """Some columns of the rotated rows. Of long rows head and tail are rotated apart, with the largest stride last.

    Padding beyond the next power of two repeats what is before it.
    """
    width = x.shape[1]
    padded = 1 << (width - 1).bit_length()
    if width <= WHOLE:
        return _rotated(x, diagonal, padded)[:, columns % padded]
    head, tail = padded // 2, 1 << (width - padded // 2 - 1).bit_length()
    first = _rotated(x[:, :head], diagonal[:head], head)[:, columns % head]
    second = _rotated(x[:, head:], diagonal[head:], tail)[:, columns % tail]
    return np.where(columns & head, first - second, first + second)


def _sum_in_turn(values):
    """Return the sum over the first axis, zero first, one after another."""
    return np.add.accumulate(values)[-1] + 0.0 if len(values) else np.zeros(values.shape[1:])


def _sum_by_halves(values):
    """Return the sum over the first axis, whose length is a power of two: the second half is added to the first."""
    while len(values) > 1:
        values = values[: len(values) // 2] + values[len(values) // 2 :]
    return values[0]


def _sum_in_eighths(values):
    """Return the sum over the first axis in eight partial sums, to the first of which the last few values are added."""
    whole = len(values) // PARTIALS * PARTIALS
    partial = _sum_in_turn(values[:whole].reshape(-1, PARTIALS, *values.shape[1:]))
    for value in values[whole:]:
        partial[0] += value
    return _sum_by_halves(partial)


def _add_in_turn(totals, rows):
    """Add rows to ``totals``, one after another."""
    totals[...] = np.add.accumulate(np.vstack([totals, rows]))[-1]


def _add_at(totals, places, values):
    """Add ``values[e]`` to ``totals[places[e]]``, one after another."""
    for i in np.ndindex(totals.shape[1:]):
        np.add.at(totals[:, *i], places, values[:, *i])


def _count_up(sizes):
    """Return 0, 1, 2, ... for each of several runs of these sizes, one after another."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _rows_of_entries(indptr):
    """Return the row of each entry of a CSR matrix."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def _padded(x, width):
    padded = np.zeros((len(x), width))
    padded[:, : x.shape[1]] = x
    return padded


def _pieces(count, width):
    step = max(1, PIECE // max(1, width))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _check_csr(data, indices, indptr, width):
    if len(indptr) < 1 or len(data) != len(indices):
        raise ValueError("data, indices and indptr do not fit together")
    _check_range(indices, width, "a column index of the sparse matrix is out of range")
    if indptr[0] < 0 or indptr[-1] > len(data) or (np.diff(indptr) < 0).any():
        raise ValueError("indptr of the sparse matrix is not increasing, or points past its entries")


def _check_range(indices, end, message):
    if len(indices) and (indices.min() < 0 or indices.max() >= end):
        raise ValueError(message)
