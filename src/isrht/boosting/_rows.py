"""What boosting keeps of every row: its class, its weight in every fold, and the columns learned so far.

Nothing else of a row outlives a pass. The residual, which the next round works on, follows from the columns and the
small SVM on them, so it is computed where and when it is needed.

:class:`LearnedRows` has its arrays in memory. For rows that are read from files the columns, which are the bulk of it,
lie in a temporary file without a name, and what remains in memory is a few bytes per row. On a Dask cluster the workers
that have the rows keep this, too (:mod:`isrht.rows.dask.values`): only sums over rows travel.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from isrht.rows.blocks import RowBlocks, default_block_rows
from isrht.rows.values import class_totals, derived, total
from isrht.support.spill_file import UnnamedFile

# Elements of the columns, or of the scores of one path, that are worked on at once.
AT_ONCE = 2**18


class Head(NamedTuple):
    """What the residual of a path follows from: its columns and the small SVM on them, or the mean label before any."""

    path: int
    size: int
    solutions: np.ndarray
    mean_label: np.ndarray

    def scores(self, rows):
        return rows.columns_of(self.path, self.size) @ self.solutions[:, :-1].T + self.solutions[:, -1]

    def residual(self, rows):
        """(rows, problems): the labels around their mean, then ``y max(0, 1 - y f)``."""
        if self.size == 0:
            return rows.Y - self.mean_label
        return rows.Y * np.maximum(0, 1 - rows.Y * self.scores(rows))


class LearnedRows:
    """Arrays with one entry per row, in memory or in a file.

    Parameters
    ----------
    codes : array of shape (n_samples,)
        Class numbers.
    n_classes : int
    training, held_out : arrays of shape (n_samples, n_folds)
        How often each fold trains on a row, or holds it out.
    weights : array of shape (n_samples,) or None
        These four may be columns (:mod:`isrht.rows.values`) where all rows are meant, and not some of them.
    folds : array of shape (n_paths,)
        The fold of each path.
    columns : array of shape (n_columns, n_paths, n_samples)
        Zero where a path has not come so far.
    """

    # Whether the rows are to be passed over: else all of them are here, in memory.
    elsewhere = False

    def __init__(self, codes, n_classes, training, held_out, weights, folds, columns):
        self.codes, self.n_classes, self.weights = codes, n_classes, weights
        self.training, self.held_out, self.folds, self.columns = training, held_out, folds, columns

    @property
    def shape(self):
        return len(self.codes), len(self.columns)

    def __len__(self):
        return len(self.codes)

    def __getitem__(self, rows):
        """Some rows, whose columns are a view."""
        return LearnedRows(
            self.codes[rows],
            self.n_classes,
            self.training[rows],
            self.held_out[rows],
            None if self.weights is None else self.weights[rows],
            self.folds,
            None if self.columns is None else self.columns[:, :, rows],
        )

    @cached_property
    def Y(self):
        """Labels +1/-1: one column for two classes, else one per class against the rest."""
        wanted = np.arange(1, 2) if self.n_classes == 2 else np.arange(self.n_classes)
        return np.where(self.codes[:, None] == wanted, 1.0, -1.0)

    def training_weights(self, path):
        return self._weighted_by(self.folds[path])(self.training, self.weights)

    def held_out_weights(self, path):
        return self._weighted_by(self.folds[path])(self.held_out, self.weights)

    def all_training_weights(self):
        """(rows, folds)."""
        return self._weighted_by(slice(None))(self.training, self.weights)

    def mean_label(self, path):
        """Of the training rows, for every column of ``Y``."""
        weights = derived(self._weighted_by(self.folds[path]), self.training, self.weights)
        shares = class_totals(self.codes, weights, self.n_classes)
        means = 2 * shares / shares.sum() - 1
        return means[1:] if self.n_classes == 2 else means

    def held_out_totals(self, path):
        """Return the sum of the weights of the rows that are held out, and of the squares of these weights."""
        weight_of = self._weighted_by(self.folds[path])

        def of_part(counts, weights):
            weights = weight_of(counts, weights)
            return np.array([weights.sum(), weights @ weights])

        return total(of_part, self.held_out, self.weights)

    def columns_of(self, path, size):
        """The first ``size`` columns of a path: a view (rows, size)."""
        return self.columns[:size, path].T

    def copy(self):
        """The same rows with columns of their own."""
        copied = self[:]
        copied.columns = self.columns.copy()
        return copied

    def sum(self, function, n_jobs=None):
        """Add ``function(some rows)`` over all rows, without reading X."""
        return RowBlocks(self, block_rows=self.block_rows).sum(lambda block: function(block.X), n_jobs)

    @property
    def block_rows(self):
        return max(64, AT_ONCE // max(len(self.columns), self.n_classes))

    def append(self, X, function, n_columns, n_jobs=None):
        """Let ``function(X_block, rows)`` write new columns, block by block; a path has at most ``n_columns`` then."""
        self.reserve(n_columns)
        blocks = RowBlocks(X, self, block_rows=4 * default_block_rows(X))
        for _ in blocks.map(lambda block: function(block.X, block.y), n_jobs):
            pass

    def reserve(self, n_columns):
        """Make sure that there is room for so many columns of every path."""

    @staticmethod
    def _weighted_by(fold):
        """The weights of rows in a fold (or several), as a function of counts and weights of these rows."""

        def weighted(counts, weights):
            counts = counts[:, fold]
            if weights is None:
                return counts.astype(np.float64)
            return counts * (weights if counts.ndim == 1 else weights[:, None])

        return weighted


class FiledRows(LearnedRows):
    """Whose columns lie in a file that has no name, mapped into memory."""

    elsewhere = True

    def __init__(self, codes, n_classes, training, held_out, weights, folds, n_columns):
        self._file = UnnamedFile("learned columns")
        columns = self._file.mapped(np.float64, (n_columns, len(folds), len(codes)))
        super().__init__(codes, n_classes, training, held_out, weights, folds, columns)

    def reserve(self, n_columns):
        self._file.reserve(n_columns * self.columns[0].nbytes)
