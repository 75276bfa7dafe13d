"""What boosting keeps of every row: its class, its weight in every fold, and the columns learned so far.

Nothing else of a row outlives a pass. The residual, which the next round works on, follows from the columns and the
small SVM on them, so it is computed where and when it is needed.

:class:`LearnedRows` has its arrays in memory. For rows that are read from files the columns, which are the bulk of it,
lie in a temporary file without a name, and what remains in memory is a few bytes per row. On a cluster the workers
that have the rows keep this, too (:mod:`isrht.rows.workers.values`): only sums over rows travel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isrht.rows.blocks import RowBlocks, default_block_rows
from isrht.support.spill_file import SpillFile

# Elements of the columns, or of the scores of one path, that are worked on at once.
AT_ONCE = 2**18
# Fewer blocks than this are worked on by one thread: a pass over them takes a few milliseconds.
BLOCKS_FOR_THREADS = 8


class Head(NamedTuple):
    """What the residual of a path follows from: its columns and the small SVM on them.

    Parameters
    ----------
    path : int
        The number of the path, under which the rows keep its columns.
    size : int
        How many columns it has. Before it has any, the residual follows from the mean label.
    solutions : array of shape (n_problems, size + 1)
        The weights of the small SVM, and its intercepts last.
    mean_label : array of shape (n_problems,)
    """

    path: int
    size: int
    solutions: np.ndarray
    mean_label: np.ndarray

    def scores(self, rows, chosen=slice(None)):
        """Return the scores of some rows, or of those chosen among them, under the small SVM: (rows, problems)."""
        columns = rows.columns[: self.size, self.path][:, chosen]
        return columns.T @ self.solutions[:, :-1].T + self.solutions[:, -1]

    def moved(self, cut):
        """Return the same with scores that are less by ``cut``."""
        solutions = self.solutions.copy()
        solutions[:, -1] -= cut
        return self._replace(solutions=solutions)

    def residual(self, rows):
        """Return what is left to explain of some rows: an array (rows, problems).

        Without columns these are the labels around their mean, and later ``y max(0, 1 - y f)``.
        """
        if self.size == 0:
            return rows.Y - self.mean_label
        return rows.Y * np.maximum(0, 1 - rows.Y * self.scores(rows))


class LearnedRows:
    """The roles of rows and the columns that paths have learned for them, in memory.

    Parameters
    ----------
    roles : Roles
    folds : array of shape (n_paths,)
        The fold of each path.
    columns : array of shape (n_columns, n_paths, n_samples)
        Zero where a path has not learned so many yet.
    """

    # Whether the rows are worked on block by block in every pass. If not, all of them are here, in memory.
    elsewhere = False

    def __init__(self, roles, folds, columns):
        self.roles, self.folds, self.columns = roles, folds, columns

    @property
    def shape(self):
        return len(self.roles), len(self.columns)

    def __len__(self):
        return len(self.roles)

    def __getitem__(self, rows):
        """Return some rows, whose columns are a view."""
        return LearnedRows(self.roles[rows], self.folds, None if self.columns is None else self.columns[:, :, rows])

    @property
    def Y(self):
        """The labels as +1/-1, a column for each two-class problem."""
        return self.roles.Y

    def training_weights(self, path):
        """Return the weights of the rows in the training of a path."""
        return self.roles.training_weights(self.folds[path])

    def held_out_weights(self, path):
        """Return the weights of the rows among those that the fold of a path holds out."""
        return self.roles.held_out_weights(self.folds[path])

    def all_training_weights(self):
        """Return the weights of the rows in the training of every fold: an array (rows, folds)."""
        return self.roles.training_weights(slice(None))

    def columns_of(self, path, size):
        """Return the first ``size`` columns of a path: a view (rows, size)."""
        return self.columns[:size, path].T

    def copy(self):
        """Return the same rows with columns of their own."""
        copied = self[:]
        copied.columns = self.columns.copy()
        return copied

    def sum(self, function, n_jobs=None):
        """Add ``function(some rows)`` over all rows, without reading X."""
        blocks = RowBlocks(self, block_rows=self.block_rows)
        return blocks.sum(lambda block: function(block.X), self._threads(n_jobs))

    def each(self, function, n_jobs=None):
        """Return ``function(some rows)`` for every block of the rows that :meth:`sum` adds up, in the same order."""
        blocks = RowBlocks(self, block_rows=self.block_rows)
        return list(blocks.map(lambda block: function(block.X), self._threads(n_jobs)))

    def _threads(self, n_jobs):
        """Return ``n_jobs`` where the rows are many enough that threads take less time than it takes to start them."""
        return n_jobs if len(self) > BLOCKS_FOR_THREADS * self.block_rows else None

    @property
    def block_rows(self):
        """How many rows are worked on at once."""
        return max(64, AT_ONCE // max(len(self.columns), self.roles.n_classes))

    def append(self, X, function, n_columns, n_jobs=None):
        """Let ``function(X_block, rows)`` write new columns, block by block. Paths then have at most ``n_columns``."""
        self.reserve(n_columns)
        blocks = RowBlocks(X, values=self, block_rows=4 * default_block_rows(X))
        for _ in blocks.map(lambda block: function(block.X, block.values), n_jobs):
            pass

    def reserve(self, n_columns):
        """Make sure that there is room for so many columns of every path."""


class FiledRows(LearnedRows):
    """Rows whose columns lie in a temporary file, mapped into memory."""

    elsewhere = True

    def __init__(self, roles, folds, n_columns):
        self._file = SpillFile("learned columns")
        columns = self._file.mapped(np.float64, (n_columns, len(folds), len(roles)))
        super().__init__(roles, folds, columns)

    def reserve(self, n_columns):
        self._file.reserve(n_columns * self.columns[0].nbytes)
