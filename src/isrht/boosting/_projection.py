"""How learned columns are stored, and what they do to rows.

A fitted model has T diagonals D_t, a matrix A that mixes their columns 0 to the learned components, and for the other
components the Walsh contrast, another column of H behind one of the diagonals. Few features make all of this one small
matrix, by which rows are multiplied; otherwise rows are rotated once per diagonal (:mod:`isrht.transform.rotation`).
Which of the two depends on the model alone, so that a row is projected to the same bits in whatever company it comes.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht.linear.scores import linear_scores
from isrht.projections.feature_moments import CHUNK, chunks_of
from isrht.rows.blocks import RowBlocks
from isrht.support.hints import Array
from isrht.support.validation import checked_finite
from isrht.transform.lengths import next_power_of_two
from isrht.transform.rotation import Rotation

# A contrast weighs this much of a learned column, and all contrasts together weigh at most as much as four of them.
CONTRAST_WEIGHT = 0.1
CONTRASTS_TOGETHER = 0.4
# Dense rows are multiplied by the projection as a matrix while it has at most so many elements.
MATRIX_ELEMENTS = 2**24
# Sparse rows are while the second cache holds it: every value of a row reads as many elements as there are components.
SPARSE_MATRIX_ELEMENTS = 2**16
# Diagonals of no more elements together are read side by side where nothing but the sums behind them is wanted: 16 MB.
SUMMED_ELEMENTS = 2**21
# Factors of features below this, or above its inverse, would lose digits in float32.
SMALLEST_FACTOR = 1e-25


def _is_odd(numbers):
    """Return whether numbers below 2**64 have an odd number of bits."""
    numbers = np.asarray(numbers, dtype=np.uint64)
    for half in (32, 16, 8, 4, 2, 1):
        numbers = numbers ^ (numbers >> np.uint64(half))
    return (numbers & np.uint64(1)).astype(bool)


class LearnedProjection:
    """The part of :class:`~isrht.BoostedISRHT` that is a linear map of rows.

    It stores what a path has learned in the fitted attributes, and projects rows by these attributes alone.
    """

    def project(self, X):
        """Project the rows of an array or CSR matrix that has been checked, as :meth:`transform` does."""
        with np.errstate(over="ignore", invalid="ignore"):
            projected = self._project(X if self._fits(X.dtype) else X.astype(np.float64))
            projected -= self.offsets_.astype(projected.dtype)
            projected = projected.astype(X.dtype, copy=False)
        return checked_finite(projected)

    def _fits(self, dtype):
        """Say whether the diagonals can be had in ``dtype`` without losing digits.

        Features of tiny or huge values have huge or tiny units, which may be beyond the range of float32.
        """
        units = np.array([1.0]) if self._units is None else self._units
        sizes = self._row_scale * np.array([units.min() / self._norms.max(), units.max() / self._norms.min()])
        return dtype == np.float64 or (sizes.min() > SMALLEST_FACTOR and sizes.max() < 1 / SMALLEST_FACTOR)

    def to_features(self, weights):
        """Return weights on components as weights on features.

        ``transform(X) @ w.T`` is ``X @ to_features(w).T`` up to a constant.

        Parameters
        ----------
        weights : array of shape (n_vectors, n_components_)

        Returns
        -------
        ndarray of shape (n_vectors, n_features)
        """
        weights = np.asarray(weights) * self.column_scales_
        back = np.zeros((len(weights), self.n_features_in_))
        if len(weights) > 1:  # a rotation for each vector and diagonal would cost more than all columns
            for chunk in chunks_of(self.n_features_in_):
                back[:, chunk] = weights @ self._columns(chunk)
            return back
        learned = weights[:, : self.n_learned_] @ self.mixing_
        for t, rotation, mine in self._rounds():
            columns = np.concatenate([[0], self.selected_columns_[mine]])
            pulls = np.column_stack([learned[:, t], weights[:, mine]])
            back += rotation.project_back(pulls, columns, self._unnormalised(len(columns)))
        return back

    def _columns(self, chunk):
        """Return what some features are multiplied by for all components, before scales: (components, features).

        Column c of H has the sign (-1)^popcount(k & c) for feature k, the product of a sign for the place in the chunk,
        whose length is a power of two, and one for the chunk.
        """
        diagonals = np.stack([self._diagonal(t, chunk) for t in range(self.n_learned_)])
        contrasts, owners = self.selected_columns_[self.n_learned_ :], self.column_rounds_[self.n_learned_ :]
        places = np.arange(chunk.stop - chunk.start)
        columns = np.empty((self.n_components_, len(places)))
        columns[: self.n_learned_] = self.mixing_ @ diagonals
        odd, turned = _is_odd(np.arange(CHUNK)), _is_odd(chunk.start & contrasts)
        for row, column, t, turn in zip(columns[self.n_learned_ :], contrasts, owners, turned, strict=True):
            np.multiply(diagonals[t], np.where(odd[places & column] ^ turn, -1.0, 1.0), out=row)
        return columns

    @property
    def diagonals_(self) -> Array:
        """The learned diagonals, D_1 ... D_T: an array (n_learned_, n_features)."""
        return np.stack([self._diagonal(t) for t in range(self.n_learned_)])

    @property
    def n_components_(self) -> int:
        """The number of columns that ``transform`` gives."""
        return len(self.selected_columns_)

    @property
    def _n_features_out(self):
        return self.n_components_

    @property
    def nbytes(self) -> int:
        """The bytes of what ``transform`` needs: diagonals and their units, A, columns, scales and offsets."""
        arrays = [self._stored, self._support, self._units, self.mixing_, self.selected_columns_, self.column_rounds_]
        arrays += [self.column_scales_, self.offsets_]
        return sum(array.nbytes for array in arrays if array is not None)

    def _keep_projection(self, features, path):
        """Set the fitted attributes of the projection from what a path has learned of all rows."""
        self.mean_ = features.mean[:, 0]
        self.n_features_padded_ = next_power_of_two(self.n_features_in_)
        self._keep_diagonals(features, path)
        self._keep_columns(path)
        self.offsets_ = self._rotate(self.mean_[None])[0]

    def _keep_diagonals(self, features, path):
        """Store the diagonals as float32 numbers, or as bits where only signs were learned."""
        if not path.size:  # no feature differs between the classes: keep a diagonal of zeros, so columns of zeros
            path.size, path.z[0], path.norms[0], path.mixing[0, 0] = 1, 0, 1, 1
            path.contrasts.append(np.arange(1, min(self.n_components, self.n_features_padded_)))
        self.n_learned_ = path.size
        self.mixing_ = np.ascontiguousarray(path.mixing[: path.size, : path.size])
        self._norms = path.norms[: path.size].copy()
        self._units = 1 / features.deviation[:, 0] if self.diagonal_ == "standard" else None
        self._support = np.packbits(path.z[0] != 0) if self.diagonal_ == "signs" else None
        z = path.z[: path.size]
        self._stored = np.packbits(z > 0, axis=1) if self.diagonal_ == "signs" else z.copy()
        self._row_scale = path.row_scale

    def _keep_columns(self, path):
        """Keep column 0 of every diagonal, then their contrasts in turn until there are as many as were asked for."""
        wanted = self.n_components - self.n_learned_
        each = [len(range(t, wanted, self.n_learned_)) for t in range(self.n_learned_)]
        contrasts = [columns[:count] for columns, count in zip(path.contrasts, each, strict=True)]
        learned = np.arange(self.n_learned_)
        sizes = [len(columns) for columns in contrasts]
        self.selected_columns_ = np.concatenate([np.zeros_like(learned), *contrasts])
        self.column_rounds_ = np.concatenate([learned, np.repeat(learned, sizes)])
        weight = min(CONTRAST_WEIGHT, CONTRASTS_TOGETHER / np.sqrt(max(1, sum(sizes))))
        relative = np.where(np.arange(len(self.selected_columns_)) < self.n_learned_, 1.0, weight)
        self.column_scales_ = relative * (np.sqrt(self.C_) if self.scaled else 1.0) * self._row_scale

    def _diagonal(self, t, some=slice(None)):
        """Return diagonal t, or some of it, from how it is stored: float32 numbers, or bits where it is signs alone."""
        if self.diagonal_ == "signs":
            positive = np.unpackbits(self._stored[t], count=self.n_features_in_)[some].astype(np.float64)
            used = np.unpackbits(self._support, count=self.n_features_in_)[some]
            return used * (2 * positive - 1) / self._norms[t]
        diagonal = self._stored[t, some].astype(np.float64) / self._norms[t]
        return diagonal if self._units is None else diagonal * self._units[some]

    def _rounds(self):
        """Yield for each diagonal its number, its rotation, and which components are its contrasts."""
        contrast = np.arange(self.n_components_) >= self.n_learned_
        for t in range(self.n_learned_):
            yield t, Rotation(self._diagonal(t)), np.flatnonzero(contrast & (self.column_rounds_ == t))

    def _unnormalised(self, count):
        """Return factors that undo the normalisation of H, by whose unnormalised columns features are added up."""
        return np.full(count, np.sqrt(self.n_features_padded_))

    def _project(self, X):
        """Project rows without subtracting the mean: by a matrix if that is small, otherwise by rotating them."""
        most = SPARSE_MATRIX_ELEMENTS if sp.issparse(X) else MATRIX_ELEMENTS
        if self.n_components_ * self.n_features_in_ > most:
            return self._rotate(X)
        return self._multiply_sparse(X) if sp.issparse(X) else self._multiply(X)

    def _rotate(self, X):
        """Project rows by rotating them once per diagonal."""
        out = np.empty((X.shape[0], self.n_components_), dtype=X.dtype)
        learned = np.empty((X.shape[0], self.n_learned_), dtype=X.dtype)
        if sp.issparse(X) and self.n_learned_ == self.n_components_:
            self._add_up(X, learned)
        else:
            for t, rotation, mine in self._rounds():
                columns = np.concatenate([[0], self.selected_columns_[mine]])
                projected = rotation.project(X, columns, self._unnormalised(len(columns)), self.n_jobs)
                learned[:, t], out[:, mine] = projected[:, 0], projected[:, 1:]
        out[:, : self.n_learned_] = learned @ self.mixing_.T.astype(X.dtype)
        out *= self.column_scales_.astype(X.dtype)
        return out

    def _add_up(self, X, learned):
        """Write the sums of sparse rows behind each diagonal, column 0 of the rotation, for several diagonals at once.

        That takes a fifth of the time of the rotation, which reads the rows anew for each diagonal.
        """
        at_once = max(1, SUMMED_ELEMENTS // self.n_features_in_)
        for first in range(0, self.n_learned_, at_once):
            some = range(first, min(first + at_once, self.n_learned_))
            diagonals = np.stack([self._diagonal(t) for t in some])
            learned[:, some] = linear_scores(X, diagonals, np.zeros(len(some)), self.n_jobs)[0]

    def _matrix(self):
        """Return the projection as one matrix (components, features)."""
        return self.to_features(np.eye(self.n_components_))

    def _multiply_sparse(self, X):
        """Project sparse rows by one matrix, in float64."""
        return linear_scores(X, self._matrix(), np.zeros(self.n_components_), self.n_jobs)[0]

    def _multiply(self, X):
        """Project dense rows by one matrix."""
        matrix = self._matrix().T.astype(X.dtype)

        def multiplied(block):
            with np.errstate(over="ignore", invalid="ignore"):  # in its own thread; project checks the result
                return block.X @ matrix

        return np.concatenate(list(RowBlocks(X).map(multiplied, self.n_jobs)))
