"""What boosting keeps of rows that lie on a Dask cluster: the workers that have the rows keep this, too."""

from __future__ import annotations

import dask
import numpy as np
from dask import delayed

from isrht.boosting._roles import Roles
from isrht.boosting._rows import LearnedRows
from isrht.rows.blocks import RowBlocks, default_block_rows
from isrht.rows.dask import cluster
from isrht.rows.dask.values import OnWorkers
from isrht.support.threads import one_blas_thread


class LearnedDaskRows(OnWorkers, LearnedRows):
    """What boosting keeps of the rows, on the workers. Only they have the columns.

    Parameters
    ----------
    X : DaskRows
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
        values = (roles.codes, roles.training, roles.held_out, roles.weights)
        parts = zip(*map(X.sent_by_rows, values), strict=True)
        self._persist(
            delayed(_learned)(part, roles.n_classes, folds, n_columns, dask_key_name=cluster.named("learned", i))
            for i, part in enumerate(parts)
        )

    def sum(self, function, n_jobs=None):
        """Add ``function(some rows)`` over all rows, on the workers, without reading X."""
        send = cluster.sent(function)
        sums = [
            delayed(_sum_learned)(part, send, dask_key_name=cluster.named("sum", i))
            for i, part in enumerate(self.parts)
        ]
        return self._X.compute(cluster.tree_sum(sums))

    def append(self, X, function, n_columns, n_jobs=None):
        """Let ``function(X_block, rows)`` write new columns, on the workers that have both."""
        send, block_rows = cluster.sent(function), min(4 * default_block_rows(X), X.most_rows())
        self._persist(
            delayed(_appended)(part, rows, send, block_rows, dask_key_name=cluster.named("columns", i))
            for i, (part, rows) in enumerate(zip(X.parts(), self.parts, strict=True))
        )

    def _persist(self, parts):
        self.parts = list(dask.persist(*parts))


# What follows runs on the workers.


def _learned(values, n_classes, folds, n_columns):
    """Return what is kept of the rows of a partition, before any column is learned."""
    codes, training, held_out, weights = values
    roles = Roles(codes, n_classes, training, held_out, weights)
    return LearnedRows(roles, folds, np.zeros((n_columns, len(folds), len(codes))))


def _sum_learned(rows, function):
    """Return the sum of a function over the rows of a partition, or None if it has no rows."""
    with one_blas_thread():
        return rows.sum(function.function) if len(rows) else None


def _appended(X, rows, function, block_rows):
    """Return the rows of a partition with their new columns.

    The rows that were given remain as they are, because Dask may run a task twice.
    """
    rows = rows.copy()
    with one_blas_thread():
        for block in RowBlocks(X, values=rows, block_rows=block_rows):
            function.function(block.X, block.values)
    return rows
