"""Sparse rows with more features than rows, stored by feature, for work that asks every feature the same question.

Row by row, each entry adds to the totals of its feature, which lie anywhere in an array that no cache holds. Feature by
feature, an entry reads the factors of its row instead, and there are few rows: everything but the entries themselves
stays in the cache, and totals need not be kept at all, because a feature is finished before the next one begins.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from isrht import kernels
from isrht.support.matrices import csr_parts, rows_of


class ByFeature:
    """The rows of a CSR matrix; ``features`` is its transpose, CSR too."""

    def __init__(self, X):
        self.shape, self.features = X.shape, X.T.tocsr()
        self._parts = {}

    def moments(self, chunk, factors):
        """For a slice of features the sums of ``x first``, ``x second`` and ``x**2 second``: (features, 3, problems).

        ``factors`` (rows, 2, problems) are first and second.
        """
        totals = np.empty((chunk.stop - chunk.start, 3, factors.shape[2]))
        kernels.engine.moments_of_features(*self._arrays(chunk), factors, totals)
        return totals

    def gradients(self, chunk, first):
        """The sums of ``x first`` alone."""
        return rows_of(self.features, chunk).astype(np.float64, copy=False) @ first

    def lanes(self, count):
        """So many slices of the features, of about as many entries each."""
        work = self.features.indptr + np.arange(self.shape[1] + 1.0)
        ends = np.searchsorted(work, np.linspace(0, work[-1], count + 1))
        return [slice(int(first), int(last)) for first, last in pairwise(ends) if first < last]

    def make_diagonals(self, chunk, factors, *problems_and_results):
        """Diagonals straight from the moments, and the rows times them added to the last of the results."""
        kernels.engine.diagonals_of_features(*self._arrays(chunk), factors, *problems_and_results)

    def _arrays(self, chunk):
        """Of the same chunks in every round."""
        key = chunk.start, chunk.stop
        if key not in self._parts:
            self._parts[key] = csr_parts(rows_of(self.features, chunk))
        return self._parts[key]


def worth_storing_by_feature(X):
    """Where what belongs to a row, and is read for every entry, is smaller than what belongs to a feature."""
    return sp.issparse(X) and X.shape[0] <= X.shape[1]
