"""What boosting keeps of rows that lie on a cluster: the workers that have the rows keep this, too."""

from __future__ import annotations

from functools import partial

import numpy as np

from isrht.boosting._roles import Roles
from isrht.boosting._rows import LearnedRows
from isrht.rows.blocks import RowBlocks, default_block_rows
from isrht.rows.workers.tree import TreeSum
from isrht.rows.workers.values import OnWorkers
from isrht.support.threads import one_blas_thread


class LearnedWorkerRows(OnWorkers, LearnedRows):
    """What boosting keeps of the rows, on the workers. Only they have the columns.

    Parameters
    ----------
    X : WorkerRows
    roles : Roles
    folds : array of shape (n_paths,)
        The fold of each path.
    n_columns : int
        The most columns that a path learns.
    """

    elsewhere = True

    def __init__(self, X, roles, folds, n_columns):
        super().__init__(roles, folds, None)
        self._X = X
        values = X.send(roles.codes, roles.training, roles.held_out, roles.weights)
        self.kept = X.workers.keep("learned", partial(_learned, roles.n_classes, folds, n_columns), *values)

    def sum(self, function, n_jobs=None):
        """Add ``function(some rows)`` over all rows, on the workers, without reading X."""
        return self._X.workers.total("columns", partial(_sum_learned, function), self._X.numbers, self.kept)

    def append(self, X, function, n_columns, n_jobs=None):
        """Let ``function(X_block, rows)`` write new columns, on the workers that have both."""
        block_rows = min(4 * default_block_rows(X), X.most_rows())
        task = partial(_appended, function, block_rows, X.opened)
        self.kept = X.workers.keep("columns", task, *X.kept, self.kept)


# What follows runs on the workers, where ``blocks`` has the learned rows of every block of a piece.


def _learned(n_classes, folds, n_columns, *values):
    """Return what is kept of the rows of each block, before any column is learned."""
    count = len(next(some for some in values if some is not None))
    values = zip(*([None] * count if some is None else some for some in values), strict=True)
    return [_learned_block(n_classes, folds, n_columns, *some) for some in values]


def _learned_block(n_classes, folds, n_columns, codes, training, held_out, weights):
    roles = Roles(codes, n_classes, training, held_out, weights)
    return LearnedRows(roles, folds, np.zeros((n_columns, len(folds), len(codes))))


def _sum_learned(function, numbers, blocks):
    """Return the sum of a function over the rows of a piece."""
    total = TreeSum()
    with one_blas_thread():
        for number, rows in zip(numbers, blocks, strict=True):
            total.add(number, rows.sum(function) if len(rows) else None)
    return total


def _appended(function, block_rows, opened, *kept):
    """Return the rows of the blocks of a piece with their new columns.

    The rows that were given remain as they are, because a cluster may run a task twice.
    """
    *kept, blocks = kept
    blocks = [rows.copy() for rows in blocks]
    with one_blas_thread():
        for (_, X), rows in zip(opened(*kept), blocks, strict=True):
            for block in RowBlocks(X, values=rows, block_rows=block_rows):
                function(block.X, block.values)
            del X
    return blocks
