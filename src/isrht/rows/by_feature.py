"""Sparse rows with more features than rows, stored by feature, for work that asks every feature the same question.

Row by row, each entry adds to the totals of its feature, which lie anywhere in an array that no cache holds. Feature by
feature, an entry reads the factors of its row instead, and there are few rows: everything but the entries themselves
stays in the cache, and totals need not be kept at all, because a feature is finished before the next one begins.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from isrht import kernels
from isrht.kernels.records import csr_rows
from isrht.support.matrices import rows_of


class ByFeature:
    """The rows of a CSR matrix, stored by feature: ``features`` is its transpose, as a CSR matrix."""

    def __init__(self, X):
        self.shape, self.features = X.shape, X.T.tocsr()
        self._slices, self._lanes = {}, {}

    def moments(self, chunk, factors):
        """Return the sums over rows of ``x * first``, ``x * second`` and ``x**2 * second`` for a slice of features.

        Parameters
        ----------
        chunk : slice
        factors : ndarray of shape (n_samples, 2, n_problems)
            First and second of every row.

        Returns
        -------
        ndarray of shape (features of the slice, 3, n_problems)
        """
        totals = np.empty((chunk.stop - chunk.start, 3, factors.shape[2]))
        kernels.engine.moments_of_features(self.csr_rows(chunk), factors, totals)
        return totals

    def lanes(self, count):
        """Return about ``count`` slices of the features, which have about equally many entries."""
        if count not in self._lanes:
            work = self.features.indptr + np.arange(self.shape[1] + 1.0)
            ends = np.searchsorted(work, np.linspace(0, work[-1], count + 1))
            self._lanes[count] = [slice(int(first), int(last)) for first, last in pairwise(ends) if first < last]
        return self._lanes[count]

    @cached_property
    def singles(self):
        """The features that one row alone has: their numbers, that row, and the value there."""
        indptr = self.features.indptr
        numbers = np.flatnonzero(np.diff(indptr) == 1)
        entries = indptr[numbers]
        return numbers, self.features.indices[entries], self.features.data[entries].astype(np.float64)

    def csr_rows(self, chunk):
        """Return a slice of the features as CSR rows, which are kept: every round asks for the same slices."""
        key = chunk.start, chunk.stop
        if key not in self._slices:
            self._slices[key] = csr_rows(rows_of(self.features, chunk))
        return self._slices[key]


def worth_storing_by_feature(X):
    """Say whether it pays to store rows by feature: if they are sparse and there are no more rows than features.

    What belongs to the rows, which is read for every entry, then is smaller than what belongs to the features.
    """
    return sp.issparse(X) and X.shape[0] <= X.shape[1]
