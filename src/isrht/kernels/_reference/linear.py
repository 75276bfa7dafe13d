"""The twins of the kernels that score rows under linear models and multiply Gram matrices (``core/linear``)."""

from __future__ import annotations

import numpy as np

from isrht.kernels._reference.checks import check_csr, check_range
from isrht.kernels._reference.sums import PARTIALS, count_up, pieces, rows_of_entries, sum_by_halves, sum_in_turn

# The product of a sparse row is summed in so many partial sums.
SPARSE_PARTIALS = 4


def score_rows(x, weights, intercept, out):
    """Set ``out`` to ``x @ weights.T + intercept`` in float64.

    The product of feature k is added to partial sum k % 8, and the partial sums are added by halves.
    Return whether all scores are finite, as they are only if x is.
    """
    if x.shape[1] != weights.shape[1]:
        raise ValueError("the weights and the rows differ in width")
    _check_scores(len(x), weights, intercept, out)
    width = -(-x.shape[1] // PARTIALS) * PARTIALS
    for rows in pieces(len(x), width):
        padded = _padded(x[rows], width)
        for p, weight in enumerate(_padded(weights, width)):
            with np.errstate(invalid="ignore", over="ignore"):
                products = (padded * weight).reshape(len(padded), -1, PARTIALS)
                out[rows, p] = sum_by_halves(sum_in_turn(products.transpose(1, 2, 0))) + intercept[p]
    return bool(np.isfinite(out).all())


def score_csr(x, weights, intercept, out):
    """Do the same for :class:`~isrht.kernels.records.CsrRows`: entry e of a row is added to partial sum e % 4."""
    check_csr(x, weights.shape[1])
    count, entries = len(x.indptr) - 1, slice(x.indptr[0], x.indptr[-1])
    _check_scores(count, weights, intercept, out)
    places = SPARSE_PARTIALS * rows_of_entries(x.indptr) + count_up(np.diff(x.indptr)) % SPARSE_PARTIALS
    for p, weight in enumerate(weights):
        with np.errstate(invalid="ignore", over="ignore"):
            products = x.data[entries].astype(np.float64) * weight[x.indices[entries]]
            sums = np.bincount(places, products, SPARSE_PARTIALS * count).reshape(count, SPARSE_PARTIALS)
            out[:, p] = sum_by_halves(sums.T) + intercept[p]
    return bool(np.isfinite(out).all())


def add_gram_product_rows(x, chosen, along, out):
    """Add the chosen rows, each times its weight and its product with ``along``, to ``out``, one after another.

    ``along`` and ``out`` have the width of the rows, and one more value if the rows have an intercept.
    """
    _check_gram_product(len(x), x.shape[1], chosen, along, out)
    features = np.arange(x.shape[1])
    for row, weight in zip(chosen.rows, chosen.weights, strict=True):
        _add_gram_product(features, x[row].astype(np.float64), (weight, chosen.intercept), along, out)


def add_gram_product_csr(x, chosen, along, out):
    """Do the same for a :class:`~isrht.kernels._reference.descent.CheckedCsr`."""
    rows = x.rows
    _check_gram_product(len(rows.indptr) - 1, x.width, chosen, along, out)
    for row, weight in zip(chosen.rows, chosen.weights, strict=True):
        entries = slice(rows.indptr[row], rows.indptr[row + 1])
        values = rows.data[entries].astype(np.float64)
        _add_gram_product(rows.indices[entries], values, (weight, chosen.intercept), along, out)


def add_gram_csr(x, factors, pairs, squares):
    """Add what the Gram matrix of rows times their factors is made of: pairs of entries of a row, and their squares.

    The product of two entries goes to ``pairs`` (width, width), at the feature of the later one and that of the earlier
    one. The Gram matrix is ``pairs + pairs.T`` with ``squares`` added to its diagonal.
    """
    check_csr(x, len(squares))
    if len(factors) != len(x.indptr) - 1:
        raise ValueError("factors must have a value for each row")
    if pairs.shape != (len(squares), len(squares)):
        raise ValueError("pairs has the wrong shape")
    for row, factor in enumerate(factors):
        entries = slice(x.indptr[row], x.indptr[row + 1])
        features = x.indices[entries]
        with np.errstate(invalid="ignore", over="ignore"):
            values = factor * x.data[entries].astype(np.float64)
            for e, feature in enumerate(features):
                np.add.at(pairs[feature], features[:e], values[e] * values[:e])
                squares[feature] += values[e] * values[e]


def _add_gram_product(features, values, row, along, out):
    """Add one row. Entry e is added to partial sum e % 4 of the product."""
    weight, intercept = row
    with np.errstate(invalid="ignore", over="ignore"):
        partial = np.zeros(SPARSE_PARTIALS)
        np.add.at(partial, np.arange(len(features)) % SPARSE_PARTIALS, values * along[features])
        product = sum_by_halves(partial)
        if intercept:
            product = product + along[-1]
        product = product * weight
        np.add.at(out, features, values * product)
        if intercept:
            out[-1] += product


def _check_gram_product(count, width, chosen, along, out):
    if along.shape != out.shape:
        raise ValueError("along and out differ in length")
    if len(along) != width + chosen.intercept:
        raise ValueError("along and out must have the width of the rows and the intercept")
    if len(chosen.rows) != len(chosen.weights):
        raise ValueError("rows and weights differ in length")
    check_range(chosen.rows, count, "a chosen row is out of range")


def _check_scores(count, weights, intercept, out):
    if intercept.shape != weights.shape[:1]:
        raise ValueError("weights and intercept differ in length")
    if out.shape != (count, len(weights)):
        raise ValueError("out has the wrong shape")


def _padded(x, width):
    """Return x in float64 with zeros behind its columns."""
    padded = np.zeros((len(x), width))
    padded[:, : x.shape[1]] = x
    return padded
