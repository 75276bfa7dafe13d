"""Rotate and project: ``X D H S`` without ever storing ``X D H``.

A :class:`Rotation` is a diagonal (random signs in the paper, any numbers in general) and a padded length. It
projects rows on chosen columns by the fused kernels, dense rows through a buffer in the cache and sparse rows by
signed sums over their nonzeros, and goes back by the transpose. Columns are orthonormal: ``H = H_d / sqrt(d)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from isrht import _kernels
from isrht.blocks import BLOCK_ELEMENTS, RowBlocks, default_block_rows
from isrht.hadamard import next_power_of_two


@dataclass(frozen=True)
class Rotation:
    """Multiply features by ``diagonal``, pad with zeros to a power of two, apply the Walsh-Hadamard transform."""

    diagonal: np.ndarray

    @property
    def n_features(self):
        return len(self.diagonal)

    @property
    def length(self):
        """The padded width: the number of columns there are to choose from."""
        return next_power_of_two(self.n_features)

    def project(self, X, columns, scales, n_jobs=None):
        """The rotated rows of X in ``columns``, times ``scales``: an array (n_samples, len(columns))."""
        out = np.empty((X.shape[0], len(columns)), dtype=X.dtype)
        diagonal = self.diagonal.astype(X.dtype)
        columns = np.ascontiguousarray(columns, dtype=np.int64)
        factors = (scales / np.sqrt(self.length)).astype(X.dtype)

        def project_block(block):
            wanted = diagonal, self.length, columns, factors, out[block.rows]
            if sp.issparse(block.X):
                _kernels.engine.project_csr(*csr_parts(block.X), *wanted)
            else:
                _kernels.engine.project_rows(contiguous_rows(block.X), *wanted)

        for _ in RowBlocks(X, block_rows=4 * default_block_rows(X)).map(project_block, n_jobs):
            pass
        return out

    def project_back(self, Z, columns, scales):
        """The transpose of :meth:`project`: from the chosen columns to an array (n_samples, n_features)."""
        out = np.empty((Z.shape[0], self.n_features), dtype=Z.dtype)
        step = max(1, BLOCK_ELEMENTS // self.length)
        for start in range(0, Z.shape[0], step):
            rows = slice(start, min(start + step, Z.shape[0]))
            spread = np.zeros((rows.stop - start, self.length), dtype=Z.dtype)
            np.add.at(spread, (slice(None), columns), Z[rows] * scales.astype(Z.dtype))
            _kernels.engine.transform(spread[:, :, None], 1 / np.sqrt(self.length))
            np.multiply(spread[:, : self.n_features], self.diagonal.astype(Z.dtype), out=out[rows])
        return out

    def gram(self, columns, scales):
        """Return the products of the scaled columns with each other, cut off at the features there are: (r, r).

        Two columns of H multiplied entry by entry are the column whose number is the exclusive or of theirs, so one
        transform of what the features weigh, the squared diagonal, has all the products.
        """
        weights = np.zeros((1, self.length))
        weights[0, : self.n_features] = self.diagonal.astype(np.float64) ** 2
        _kernels.engine.transform(weights[:, :, None], 1.0 / self.length)
        return np.outer(scales, scales) * weights[0, columns[:, None] ^ columns]

    def rotate(self, rows):
        """All columns of a few dense rows, unnormalised, in float64: (k, n_features) to (k, length)."""
        padded = np.zeros((len(rows), self.length))
        np.multiply(rows, self.diagonal, out=padded[:, : self.n_features])
        _kernels.engine.transform(padded[:, :, None], 1.0)
        return padded


def contiguous_rows(X):
    """X itself where the values of a row lie side by side, as the dense kernels need them; else a copy."""
    return X if X.shape[1] <= 1 or X.strides[1] == X.itemsize else np.ascontiguousarray(X)


def csr_parts(X):
    """data, indices and indptr as the sparse kernels need them: of one index type, no room behind the last value."""
    indptr = X.indptr if X.indptr.dtype == X.indices.dtype else X.indptr.astype(X.indices.dtype)
    stored = slice(indptr[-1])
    return X.data[stored], X.indices[stored], indptr
