"""What belongs to the rows on a Dask cluster stays with them: labels, weights, folds, and what boosting keeps.

A :class:`DaskColumn` has a delayed array for every partition of the rows. What follows from such values row by row is
computed by the workers, and only totals come to the client: the classes of a partition and their counts, which is
enough to say which fold a row is in.
"""

from __future__ import annotations

import dask
import numpy as np
from dask import delayed

from isrht.rows.dask import cluster
from isrht.rows.blocks import RowBlocks, default_block_rows
from isrht.boosting._rows import LearnedRows
from isrht.linear.newton import one_blas_thread
from isrht.rows.values import Column, ranks


class DaskColumn(Column):
    """Values that belong to the rows, a delayed array for every partition."""

    def __init__(self, X, parts, width=None, needs=None):
        # Workers keep what was sent to them only as long as somebody here holds on to it.
        self._X, self.parts, self._needs = X, parts, needs
        self.shape = (X.shape[0],) if width is None else (X.shape[0], width)

    @property
    def is_derived(self):
        return self._needs is not None

    def derived(self, function, columns, width=None):
        sent = self._sent(columns)
        return DaskColumn(self._X, self._apply(_derived, function, sent), width, needs=(sent, columns))

    def total(self, function, columns):
        sent = self._sent(columns)
        return self._X.compute(cluster.tree_sum(self._apply(_total, function, sent)))

    def by_rank(self, function, n_classes):
        return DaskColumn(self._X, list(dask.persist(*self._ranked(_derived, function, n_classes))))

    def rows_by_rank(self, function, n_classes):
        found = self._X.compute(self._ranked(_rows_where, function, n_classes))
        starts = [rows.start for rows in self._X.row_slices()]
        return np.concatenate([start + rows for start, rows in zip(starts, found, strict=True)])

    def gathered(self):
        return np.concatenate(self._X.compute(self.parts))

    def __getitem__(self, rows):
        """The values of few rows, whose numbers ascend."""
        by_partition = zip(self.parts, self._X.by_partition(rows), strict=True)
        return np.concatenate(self._X.compute([delayed(taken)(part, mine) for part, mine in by_partition]))

    def _sent(self, columns):
        return [self._X.sent_by_rows(column) for column in columns]

    def _apply(self, how, function, sent):
        send, together = cluster.sent(function), enumerate(zip(*sent, strict=True))
        return [delayed(how)(send, *parts, dask_key_name=cluster.named("column", i)) for i, parts in together]

    def _ranked(self, how, function, n_classes):
        send = cluster.sent(function)
        counts = self._X.compute([delayed(_code_counts)(part, n_classes + 1) for part in self.parts])
        before = np.cumsum([np.zeros(n_classes + 1, dtype=np.int64), *counts[:-1]], axis=0)
        return [
            delayed(how)(send, part, delayed(ranks)(part, earlier), dask_key_name=cluster.named("ranked", i))
            for i, (part, earlier) in enumerate(zip(self.parts, before, strict=True))
        ]


class LearnedDaskRows(LearnedRows):
    """What boosting keeps of the rows, on the workers; the columns are there alone."""

    elsewhere = True

    def __init__(self, X, codes, n_classes, training, held_out, weights, folds, n_columns):
        super().__init__(codes, n_classes, training, held_out, weights, folds, None)
        self._X = X
        sides = zip(*(X.sent_by_rows(side) for side in (codes, training, held_out, weights)), strict=True)
        self._persist(
            delayed(_learned)(*side, n_classes, folds, n_columns, dask_key_name=cluster.named("learned", i))
            for i, side in enumerate(sides)
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


def _derived(function, *columns):
    return function.function(*columns)


def _total(function, *columns):
    return function.function(*columns) if len(columns[0]) else None


def _rows_where(function, codes, ranks):
    return np.flatnonzero(function.function(codes, ranks))


def _code_counts(codes, length):
    return np.bincount(codes, minlength=length)


def _learned(codes, training, held_out, weights, n_classes, folds, n_columns):
    columns = np.zeros((n_columns, len(folds), len(codes)))
    return LearnedRows(codes, n_classes, training, held_out, weights, folds, columns)


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


def taken(values, rows):
    return values[rows]
