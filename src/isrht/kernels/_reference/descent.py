"""The twins of the kernels of dual coordinate descent (``core/linear/descent.hpp``).

The dual of a linear SVM with the squared hinge has one variable ``alpha >= 0`` per row, and the weights are the sum of
the rows times their labels and variables. One step makes one variable the best that it can be while the others stay.
Several problems on the same rows take their steps together, one in each lane, and none of them looks at another. Four
or eight lanes are float32 and a problem alone float64, in an order that is fixed: entry e of a row is added to partial
sum e % 4 of the product.
"""

from __future__ import annotations

import numpy as np

from isrht.kernels._reference.checks import check_csr, check_range

LANES = {
    np.dtype(np.float64): ((1,), "doubles must have one lane"),
    np.dtype(np.float32): ((4, 8), "floats must have 4 or 8 lanes"),
}
PARTIALS = 4


def descend_rows(x, problems, state, epoch):
    """Take one step of coordinate descent with each row of the order."""
    if x.shape[1] != len(state.weights):
        raise ValueError("the weights and the rows differ in width")
    _check_descent(len(x), problems, state, epoch)
    for row in epoch.order:
        _step(row, np.arange(x.shape[1]), x[row].astype(state.weights.dtype), (problems, state, epoch))


class CheckedCsr:
    """:class:`~isrht.kernels.records.CsrRows` of a given width that have been checked, once for all epochs."""

    def __init__(self, x, width):
        check_csr(x, width)
        self.rows, self.width = x, width

    def rows_for(self, weights):
        """Return the rows, if the weights are as wide."""
        if self.width != len(weights):
            raise ValueError("the weights and the rows differ in width")
        return self.rows


def descend_csr(x, problems, state, epoch):
    """Do the same for a :class:`CheckedCsr`."""
    x = x.rows_for(state.weights)
    _check_descent(len(x.indptr) - 1, problems, state, epoch)
    for row in epoch.order:
        entries = slice(x.indptr[row], x.indptr[row + 1])
        _step(row, x.indices[entries], x.data[entries].astype(state.weights.dtype), (problems, state, epoch))


def add_scaled_rows(x, factors, weights, intercept):
    """Add rows times factors (rows, lanes) to ``weights`` (width, lanes), and the factors to ``intercept``."""
    if x.shape[1] != len(weights):
        raise ValueError("the weights and the rows differ in width")
    _check_factors(len(x), factors, weights, intercept)
    for row in np.flatnonzero(factors.any(axis=1)):
        _add_row(np.arange(x.shape[1]), x[row].astype(weights.dtype), factors[row], weights, intercept)


def add_scaled_csr(x, factors, weights, intercept):
    """Do the same for a :class:`CheckedCsr`."""
    x = x.rows_for(weights)
    _check_factors(len(x.indptr) - 1, factors, weights, intercept)
    for row in np.flatnonzero(factors.any(axis=1)):
        entries = slice(x.indptr[row], x.indptr[row + 1])
        _add_row(x.indices[entries], x.data[entries].astype(weights.dtype), factors[row], weights, intercept)


def _step(row, features, values, records):
    """Take the step of one row in all lanes that are open."""
    problems, state, epoch = records
    lanes, real = np.arange(state.weights.shape[1]), state.weights.dtype.type
    is_open = (int(state.closed[row]) | epoch.finished) >> lanes & 1 == 0
    if not is_open.any():
        return
    label, ridge, alpha = problems.labels[row], problems.ridge[row], state.alpha[row].copy()
    with np.errstate(all="ignore"):
        score = _product(features, values, state.weights)
        score = score + (state.intercept if len(state.intercept) else real(0))
        slope = label * score - real(1) + ridge * alpha
        curvature = problems.norms[row] + ridge
        best = alpha - real(epoch.stretch) * (slope / curvature)
        following = np.where(best > 0, best, real(0))
        change = np.where(is_open, following - alpha, real(0))
        size = np.where(slope < 0, -slope, np.where(alpha > 0, slope, real(0)))
        gain = -change * (slope + real(0.5) * curvature * change)
    epoch.violation[:] = np.where(is_open & (size > epoch.violation), size, epoch.violation)
    leaving = is_open & (alpha == 0) & (slope > epoch.threshold)
    state.closed[row] |= np.uint8((leaving << lanes).sum())
    state.alpha[row] = np.where(is_open, following, alpha)
    if (change != 0).any():
        epoch.gain[:] += gain.astype(np.float64)
        _add_row(features, values, change * label, state.weights, state.intercept)


def _product(features, values, weights):
    """Return the products of a row and the weights of each lane."""
    products = values[:, None] * weights[features]
    partial = np.zeros((PARTIALS, weights.shape[1]), weights.dtype)
    np.add.at(partial, np.arange(len(features)) % PARTIALS, products)
    return (partial[0] + partial[2]) + (partial[1] + partial[3])


def _add_row(features, values, factors, weights, intercept):
    """Add a row times one factor per lane to the weights, and the factors to the intercepts if there are any."""
    with np.errstate(all="ignore"):
        np.add.at(weights, features, values[:, None] * factors)
        if len(intercept):
            intercept += factors


def _check_lanes(weights, intercept):
    lanes = weights.shape[1]
    allowed, message = LANES[weights.dtype]
    if lanes not in allowed:
        raise ValueError(message)
    if len(intercept) not in (0, lanes):
        raise ValueError("intercept must have one value per lane, or none")
    return lanes


def _check_descent(count, problems, state, epoch):
    lanes = _check_lanes(state.weights, state.intercept)
    if any(part.shape != (count, lanes) for part in (problems.labels, problems.ridge, state.alpha)):
        raise ValueError("labels, ridge and alpha must have a row for each row, and a column for each lane")
    if len(problems.norms) != count or len(state.closed) != count:
        raise ValueError("norms and closed must have a value for each row")
    if any(len(part) != lanes for part in (epoch.threshold, epoch.gain, epoch.violation)):
        raise ValueError("threshold, gain and violation must have a value for each lane")
    check_range(epoch.order, count, "a chosen row is out of range")


def _check_factors(count, factors, weights, intercept):
    lanes = _check_lanes(weights, intercept)
    if factors.shape != (count, lanes):
        raise ValueError("factors must have a row for each row, and a column for each lane")
