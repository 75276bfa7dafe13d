"""The twins of the kernels that make learned diagonals (``core/boosting``)."""

from __future__ import annotations

import numpy as np

from isrht.kernels._reference.checks import check_csr
from isrht.kernels._reference.sparse import moments_of_features
from isrht.kernels._reference.sums import add_at, add_in_turn, pieces, rows_of_entries, sum_in_eighths

# The products of so many features are summed before they are added to those of the features before.
FEATURE_PIECE = 512


def make_diagonals(moments, features, problems, paths, results, diagonals):
    """Make diagonals from ``moments`` (features, 3, problems): gradients over their standard errors, shrunk.

    ``diagonals`` (features, problems) are set to factors of features that are neither centred nor scaled.
    """
    standard, signs = problems.kind == 0, problems.kind == 2
    mean, deviation, varies = (array[:, problems.fold] for array in features[:3])
    gradient, values = _standardised(moments, mean, problems)
    z = np.where(
        signs, np.where(values < 0, -1.0, 1.0) * varies, np.where(varies, _shrunk(values, problems.threshold), 0)
    )
    z = z.astype(np.float32).astype(np.float64)
    diagonals[...] = np.where(standard, z / deviation, z)
    if results.signals.size:
        results.signals[...] = diagonals * gradient
    for p, path in enumerate(paths.path):
        paths.z[path][paths.row[p], features.start : features.start + len(mean)] = z[:, p]
    _add_products(diagonals, mean, results.offsets)
    _add_grams(np.where(standard, z, z * deviation), features.start, paths, results.grams)


def _standardised(moments, mean, problems):
    """Return the centred gradients, and these over their standard errors: two arrays (features, problems)."""
    gradient, second, square = np.moveaxis(moments, 1, 0)
    gradient = gradient - mean * problems.first_sum
    variance = (mean * problems.second_sum - 2 * second) * mean + square
    sure = variance > problems.constant * square
    return gradient, np.where(sure, gradient, 0) / np.sqrt(np.where(sure, variance, 1))


def _shrunk(values, threshold):
    """Return values moved towards zero by the threshold. ``np.clip`` would not promise the sign of a zero."""
    below = np.where(values < threshold, values, threshold)
    return values - np.where(below > -threshold, below, -threshold)


def _add_products(diagonals, mean, offsets):
    for piece in _feature_pieces(len(mean)):
        offsets += sum_in_eighths(diagonals[piece] * mean[piece])


def _add_grams(weighted, start, paths, grams):
    """Add the products of the diagonals in their metric, ``weighted``, and the rows of their paths."""
    for piece in _feature_pieces(len(weighted)):
        for p, path in enumerate(paths.path):
            rows = paths.z[path][: paths.rows[p], start + piece.start : start + piece.stop].T
            grams[p, : paths.rows[p]] += sum_in_eighths(rows * weighted[piece, p, None])


def _feature_pieces(count):
    return (slice(at, min(at + FEATURE_PIECE, count)) for at in range(0, count, FEATURE_PIECE))


def add_class_gram(x, residuals, sums, mean, factor, gram):
    """Add the products of the gradients of all classes, times the factor of a feature, to ``gram`` (classes, classes).

    ``x`` are CSR rows of features. The gradient of a feature is its sum over rows of x times ``residuals`` (rows,
    classes rounded up to a multiple of 8), less its mean times their ``sums`` (classes). Features with the factor 0 are
    passed over.
    """
    check_csr(x, len(residuals))
    if residuals.shape[1] != -(-len(sums) // 8) * 8:
        raise ValueError("residuals must be as wide as a multiple of 8")
    if mean.shape != factor.shape or len(mean) != len(x.indptr) - 1:
        raise ValueError("features differ in shape")
    if gram.shape != (len(sums), len(sums)):
        raise ValueError("gram has the wrong shape")
    gradient, total = np.zeros((len(mean), len(sums))), np.zeros(gram.shape)
    entries = slice(x.indptr[0], x.indptr[-1])
    values = x.data[entries, None].astype(np.float64) * residuals[x.indices[entries], : len(sums)]
    add_at(gradient, rows_of_entries(x.indptr), values)
    gradient = (gradient - mean[:, None] * sums)[factor != 0]
    factor = factor[factor != 0]
    for some in pieces(len(gradient), total.size):
        left = factor[some, None] * gradient[some]
        add_in_turn(total, np.tril(left[:, :, None] * gradient[some, None, :]))
    gram += total + np.tril(total, -1).T


def diagonals_of_features(x, factors, features, problems, paths, results, products):
    """Make the diagonals of data that are stored by feature, and add the data times the diagonals to ``products``.

    ``x`` and ``factors`` are as in ``moments_of_features``; ``products`` are (rows of the data, problems).
    """
    moments = np.empty((len(x.indptr) - 1, 3, factors.shape[2]))
    moments_of_features(x, factors, moments)
    if products.shape != (len(factors), factors.shape[2]):
        raise ValueError("products has the wrong shape")
    diagonals = np.empty((len(moments), factors.shape[2]))
    make_diagonals(moments, features, problems, paths, results, diagonals)
    entries = slice(x.indptr[0], x.indptr[-1])
    values = x.data[entries, None].astype(np.float64) * diagonals[rows_of_entries(x.indptr)]
    add_at(products, x.indices[entries], values)
