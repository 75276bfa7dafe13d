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
    """What boosting keeps of the rows, on the workers; the columns are there alone."""

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
        send = cluster.sent(function)
        sums = [
            delayed(_sum_learned)(part, send, dask_key_name=cluster.named("sum", i))
            for i, part in enumerate(self.parts)
        ]
        return self._X.compute(cluster.tree_sum(sums))

    def append(self, X, function, n_columns, n_jobs=None):
        send, block_rows = cluster.sent(function), min(4 * default_block_rows(X), X.most_rows())
        self._persist(
            delayed(_appended)(part, rows, send, block_rows, dask_key_name=cluster.named("columns", i))
            for i, (part, rows) in enumerate(zip(X.parts(), self.parts, strict=True))
        )

    def _persist(self, parts):
        self.parts = list(dask.persist(*parts))


# What follows runs on the workers.


def _learned(values, n_classes, folds, n_columns):
    codes, training, held_out, weights = values
    roles = Roles(codes, n_classes, training, held_out, weights)
    return LearnedRows(roles, folds, np.zeros((n_columns, len(folds), len(codes))))


def _sum_learned(rows, function):
    with one_blas_thread():
        return rows.sum(function.function) if len(rows) else None


def _appended(X, rows, function, block_rows):
    """Rows with their new columns; those that were given remain as they are, for a task may run twice."""
    rows = rows.copy()
    with one_blas_thread():
        for block in RowBlocks(X, rows, block_rows=block_rows):
            function.function(block.X, block.y)
    return rows
