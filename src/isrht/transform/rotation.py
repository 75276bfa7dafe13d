"""Rotate rows and project them on chosen columns: ``X D H S`` without ever storing ``X D H``.

A :class:`Rotation` is a diagonal (random signs in the paper, any numbers in general) and a padded length. It
projects rows on chosen columns by the fused kernels, dense rows through a buffer in the cache and sparse rows by
signed sums over their nonzeros, and goes back by the transpose. Columns are orthonormal: ``H = H_d / sqrt(d)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from isrht import kernels
from isrht.kernels.records import csr_rows
from isrht.rows.blocks import RowBlocks, default_block_rows
from isrht.support.matrices import BLOCK_ELEMENTS, contiguous_rows
from isrht.support.threads import job_count
from isrht.transform.lengths import next_power_of_two


@dataclass(frozen=True)
class Rotation:
    """Multiply features by a diagonal, pad them with zeros to a power of two, apply the Walsh-Hadamard transform.

    Parameters
    ----------
    diagonal : ndarray of shape (n_features,)
        Random signs in the paper, learned numbers in boosting.
    """

    diagonal: np.ndarray

    @property
    def n_features(self):
        """The number of features."""
        return len(self.diagonal)

    @property
    def length(self):
        """The padded width: the number of columns there are to choose from."""
        return next_power_of_two(self.n_features)

    def project(self, X, columns, scales, n_jobs=None):
        """Return some columns of the rotated rows.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        columns : array of int
            Numbers below ``length``, which may repeat.
        scales : array
            The factor of each of these columns.
        n_jobs : int, default=None
            Threads, as in scikit-learn.

        Returns
        -------
        ndarray of shape (n_samples, len(columns)), in the precision of X
        """
        out = np.empty((X.shape[0], len(columns)), dtype=X.dtype)
        diagonal = self.diagonal.astype(X.dtype)
        columns = np.ascontiguousarray(columns, dtype=np.int64)
        factors = (scales / np.sqrt(self.length)).astype(X.dtype)

        def project_block(block):
            wanted = diagonal, self.length, columns, factors, out[block.rows]
            if sp.issparse(block.X):
                kernels.engine.project_csr(csr_rows(block.X), *wanted)
            else:
                kernels.engine.project_rows(contiguous_rows(block.X), *wanted)

        # Larger blocks are fewer calls, smaller ones can be shared; the cut changes no bit of a row.
        at_once = default_block_rows(X) * (4 if job_count(n_jobs) == 1 else 1)
        for _ in RowBlocks(X, block_rows=at_once).map(project_block, n_jobs):
            pass
        return out

    def project_back(self, Z, columns, scales):
        """Multiply by the transpose of what :meth:`project` multiplies by.

        Parameters
        ----------
        Z : ndarray of shape (n_samples, len(columns))
        columns, scales : array
            As those of :meth:`project`.

        Returns
        -------
        ndarray of shape (n_samples, n_features), in the precision of Z
        """
        out = np.empty((Z.shape[0], self.n_features), dtype=Z.dtype)
        step = max(1, BLOCK_ELEMENTS // self.length)
        for start in range(0, Z.shape[0], step):
            rows = slice(start, min(start + step, Z.shape[0]))
            spread = np.zeros((rows.stop - start, self.length), dtype=Z.dtype)
            np.add.at(spread, (slice(None), columns), Z[rows] * scales.astype(Z.dtype))
            kernels.engine.transform(spread[:, :, None], 1 / np.sqrt(self.length))
            np.multiply(spread[:, : self.n_features], self.diagonal.astype(Z.dtype), out=out[rows])
        return out

    def gram(self, columns, scales):
        """Return the products of the scaled columns with each other, cut off at the features there are: (r, r).

        Two columns of H multiplied entry by entry are the column whose number is the exclusive or of theirs, so one
        transform of what the features weigh, the squared diagonal, has all the products.
        """
        weights = np.zeros((1, self.length))
        weights[0, : self.n_features] = self.diagonal.astype(np.float64) ** 2
        kernels.engine.transform(weights[:, :, None], 1.0 / self.length)
        return np.outer(scales, scales) * weights[0, columns[:, None] ^ columns]

    def rotate(self, rows):
        """Return all columns of a few dense rows, not normalised, in float64: (k, n_features) become (k, length)."""
        padded = np.zeros((len(rows), self.length))
        np.multiply(rows, self.diagonal, out=padded[:, : self.n_features])
        kernels.engine.transform(padded[:, :, None], 1.0)
        return padded
