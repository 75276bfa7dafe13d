"""Scale features by their smallest and largest values, which are found block by block like a sum over rows.

scikit-learn's scalers need to know nothing else of the data: they are fitted on two rows, that of the smallest values
and that of the largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import MinMaxScaler

from isrht.rows.blocks import RowBlocks


@dataclass(frozen=True)
class Extremes:
    """The smallest and largest value of every feature over ``count`` rows; ``a + b`` are those of both sets of rows."""

    lowest: np.ndarray
    highest: np.ndarray
    count: int

    def __add__(self, other):
        if not (self.count and other.count):
            return self if self.count else other
        lowest, highest = np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest)
        return Extremes(lowest, highest, self.count + other.count)


def extremes(block):
    """Return the extremes of the rows of a block whose weight is not zero."""
    X = block.X if block.sample_weight is None else block.X[block.sample_weight > 0]
    if X.shape[0] == 0:
        return Extremes(np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0)
    lowest, highest = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        lowest, highest = lowest.toarray(), highest.toarray()
    return Extremes(lowest.ravel(), highest.ravel(), X.shape[0])


def fit_scaler(scaler, X, weights=None):
    """Fit a scaler on rows that have been checked, wherever they are, in one pass.

    Parameters
    ----------
    scaler : MaxAbsScaler or MinMaxScaler
    X : ndarray, CSR matrix or RowsElsewhere
    weights : array, RowValues or None
        Rows of weight zero do not count.

    Returns
    -------
    scaler
    """
    found = RowBlocks(X, sample_weight=weights).sum(extremes)
    scaler.fit(np.stack([found.lowest, found.highest]))
    scaler.n_samples_seen_ = found.count
    return scaler


def scaled(scaler, X):
    """Return what ``scaler.transform`` makes of an array or CSR matrix, which has been checked already."""
    if sp.issparse(X):
        return X._with_data(
            np.multiply(X.data, (1.0 / scaler.scale_).take(X.indices), dtype=X.dtype, casting="same_kind")
        )
    out = X.copy()
    if isinstance(scaler, MinMaxScaler):
        out *= scaler.scale_
        out += scaler.min_
    else:
        out /= scaler.scale_
    return out
