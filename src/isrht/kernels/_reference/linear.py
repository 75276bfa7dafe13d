"""The twins of the kernels that score rows under linear models (``core/linear``)."""

from __future__ import annotations

import numpy as np

from isrht.kernels._reference.checks import check_csr
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
