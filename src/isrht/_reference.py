"""The slow, obvious twin of every compiled kernel: the oracle of the tests, and the fallback without a compiler.

The functions have the names, arguments and effects of the compiled ones (``core/kernels.hpp``). "Rotate" is the
unnormalised Walsh-Hadamard transform of a row that has been multiplied by a diagonal and padded with zeros to
``length``: ``z_j = sum_k x_k diagonal_k (-1)**popcount(k & j)``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht._reference_libsvm import LibsvmParser  # noqa: F401, a name of the compiled kernels like the functions here

# Numbers held at once by the twins that work through large data piece by piece.
PIECE = 2**22
# Partial sums of a dense product.
PARTIALS = 8
# Up to so many values a row is rotated whole.
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
    _check_range(columns, length, "a chosen column is out of range")
    for rows in _pieces(len(x), length):
        np.multiply(_columns(x[rows], diagonal, length, columns), scales, out=out[rows])


def add_rows(x, chosen, totals):
    """Add the chosen rows to ``totals``."""
    _check_range(chosen, len(x), "a chosen row is out of range")
    for rows in _pieces(len(chosen), x.shape[1]):
        totals += x[chosen[rows]].sum(axis=0, dtype=np.float64)


def add_squares(x, chosen, diagonal, totals):
    """Add the squares of the rotated chosen rows to ``totals``."""
    _check_range(chosen, len(x), "a chosen row is out of range")
    for rows in _pieces(len(chosen), len(totals)):
        rotated = _columns(x[chosen[rows]], diagonal, len(totals), np.arange(len(totals))).astype(np.float64)
        totals += (rotated**2).sum(axis=0)


def project_csr(data, indices, indptr, diagonal, length, columns, scales, out):
    """As :func:`project_rows`, for CSR rows: a signed sum over the entries of each row."""
    _check_range(columns, length, "a chosen column is out of range")
    matrix = _csr(data, indices, indptr, len(diagonal))
    for rows in _pieces(matrix.shape[0], 1 + int(np.diff(indptr).max(initial=0)) * len(columns)):
        block = matrix[rows]
        features, places = np.unique(block.indices, return_inverse=True)
        signs = 1 - 2 * (np.bitwise_count(features[:, None] & columns) % 2).astype(data.dtype)
        compact = sp.csr_array(
            (block.data * diagonal[block.indices], places, block.indptr), (len(out[rows]), len(features))
        )
        np.multiply(compact @ signs, scales, out=out[rows])


def add_csr_rows(data, indices, indptr, chosen, totals):
    """As :func:`add_rows`, for CSR rows."""
    matrix = _csr(data, indices, indptr, len(totals))
    _check_range(chosen, matrix.shape[0], "a chosen row is out of range")
    block = matrix[chosen]
    totals += np.bincount(block.indices, weights=block.data, minlength=len(totals))


def add_csr_autocorrelation(data, indices, indptr, chosen, diagonal, totals):
    """Add ``u_k u_l`` to ``totals[k ^ l]`` over all pairs of entries of each chosen row, ``u = x * diagonal``."""
    matrix = _csr(data, indices, indptr, len(diagonal))
    _check_range(chosen, matrix.shape[0], "a chosen row is out of range")
    for row in chosen:
        entries = slice(indptr[row], indptr[row + 1])
        features = indices[entries]
        values = data[entries].astype(np.float64) * diagonal[features]
        np.add.at(totals, features[:, None] ^ features, np.multiply.outer(values, values))


def add_csr_moments(data, indices, indptr, first, second, totals):
    """Add ``x first``, ``x second`` and ``x**2 second`` to ``totals`` (width, 3, problems), with factors per row."""
    matrix = _csr(data.astype(np.float64), indices, indptr, len(totals))
    if first.shape != second.shape or len(first) != matrix.shape[0]:
        raise ValueError("first and second must have a row of factors for each row")
    if totals.shape[1:] != (3, first.shape[1]):
        raise ValueError("totals has the wrong shape")
    squares = _csr(matrix.data**2, indices, indptr, len(totals))
    totals[:, 0] += matrix.T @ first
    totals[:, 1] += matrix.T @ second
    totals[:, 2] += squares.T @ second


def moments_of_features(data, indices, indptr, factors, totals):
    """The same, set and not added, of data stored by feature: CSR rows are features, ``factors`` (rows, 2, problems)
    those of rows."""
    if factors.shape[1] != 2:
        raise ValueError("factors must be two for each row and problem")
    features = _csr(data.astype(np.float64), indices, indptr, len(factors))
    if totals.shape != (features.shape[0], 3, factors.shape[2]):
        raise ValueError("totals has the wrong shape")
    squares = _csr(features.data**2, indices, indptr, len(factors))
    totals[:, 0] = features @ factors[:, 0]
    totals[:, 1] = features @ factors[:, 1]
    totals[:, 2] = squares @ factors[:, 1]


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
    sure = varies & (variance > constant * square)
    values = np.where(sure, gradient, 0) / np.sqrt(np.where(sure, variance, 1))
    shrunk = np.where(signs, np.where(values < 0, -1, 1) * varies, values - np.clip(values, -threshold, threshold))
    entries = shrunk.astype(np.float32).astype(np.float64)
    weighted = np.where(standard, entries, entries * deviation)
    diagonals[...] = np.where(standard, entries / deviation, entries)
    if signals.size:
        signals[...] = diagonals * gradient
    offsets += (diagonals * mean).sum(axis=0)
    features = slice(start, start + len(mean))
    for p, mine in enumerate(path):
        z[mine][row[p], features] = entries[:, p]
    for p, mine in enumerate(path):
        grams[p, : rows[p]] += z[mine][: rows[p], features].astype(np.float64) @ weighted[:, p]


def diagonals_of_features(data, indices, indptr, factors, *problems_and_results):
    """:func:`make_diagonals` of :func:`moments_of_features`; the data times the diagonals are added to the last one."""
    *problems_and_results, products = problems_and_results
    totals = np.empty((len(indptr) - 1, 3, factors.shape[2]))
    moments_of_features(data, indices, indptr, factors, totals)
    if products.shape != (len(factors), factors.shape[2]):
        raise ValueError("products has the wrong shape")
    diagonals = np.empty((len(totals), factors.shape[2]))
    make_diagonals(totals, *problems_and_results, diagonals)
    products += _csr(data.astype(np.float64), indices, indptr, len(factors)).T @ diagonals


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
                partial = np.add.accumulate(products, axis=1)[:, -1].T
                while len(partial) > 1:
                    partial = partial[: len(partial) // 2] + partial[len(partial) // 2 :]
                out[rows, p] = partial[0] + intercept[p]
    return bool(np.isfinite(out).all())


def score_csr(data, indices, indptr, weights, intercept, out):
    """As :func:`score_rows`, for CSR rows: entry e of a row is added to partial sum e % 4."""
    _check_csr(data, indices, indptr, weights.shape[1])
    count, entries = len(indptr) - 1, slice(indptr[0], indptr[-1])
    _check_scores(count, weights, intercept, out)
    rows = np.repeat(np.arange(count), np.diff(indptr))
    places = 4 * rows + (np.arange(indptr[0], indptr[-1]) - indptr[rows]) % 4
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


def _columns(x, diagonal, length, columns):
    """Some columns of the rotated rows. Of long rows head and tail are rotated apart, with the largest stride last."""
    width = x.shape[1]
    if width <= WHOLE:
        return _rotated(x, diagonal, length)[:, columns]
    head = 1 << (width - 1).bit_length() - 1
    tail = 1 << (width - head - 1).bit_length()
    first = _rotated(x[:, :head], diagonal[:head], head)[:, columns % head]
    second = _rotated(x[:, head:], diagonal[head:], tail)[:, columns % tail]
    return np.where(columns & head, first - second, first + second)


def _padded(x, width):
    padded = np.zeros((len(x), width))
    padded[:, : x.shape[1]] = x
    return padded


def _pieces(count, width):
    step = max(1, PIECE // max(1, width))
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def _csr(data, indices, indptr, width):
    _check_csr(data, indices, indptr, width)
    return sp.csr_array((data, indices, indptr), (len(indptr) - 1, width))


def _check_csr(data, indices, indptr, width):
    _check_range(indices, width, "a column index of the sparse matrix is out of range")
    if indptr[0] < 0 or indptr[-1] > len(data) or (np.diff(indptr) < 0).any():
        raise ValueError("indptr of the sparse matrix is not increasing, or points past its entries")


def _check_range(indices, end, message):
    if len(indices) and (indices.min() < 0 or indices.max() >= end):
        raise ValueError(message)
