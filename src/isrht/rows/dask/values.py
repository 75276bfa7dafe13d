"""What belongs to the rows on a Dask cluster stays with them: labels, weights, folds, and what boosting keeps.

A :class:`DaskRowValues` has a delayed array for every partition of the rows. What follows from such values row by row is
computed by the workers, and only totals come to the client: the classes of a partition and their counts, which is
enough to say which fold a row is in.
"""

from __future__ import annotations

import dask
import numpy as np
from dask import delayed

from isrht.rows.dask import cluster
from isrht.rows.values import RowValues, ranks


class OnWorkers:
    """What belongs to the rows and lies with them: ``parts`` has one delayed object for every partition."""

    parts: list


class DaskRowValues(OnWorkers, RowValues):
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
        return DaskRowValues(self._X, self._apply(_derived, function, sent), width, needs=(sent, columns))

    def total(self, function, columns):
        sent = self._sent(columns)
        return self._X.compute(cluster.tree_sum(self._apply(_total, function, sent)))

    def by_rank(self, function, n_classes):
        return DaskRowValues(self._X, list(dask.persist(*self._ranked(_derived, function, n_classes))))

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


# What follows runs on the workers.


def _derived(function, *columns):
    return function.function(*columns)


def _total(function, *columns):
    return function.function(*columns) if len(columns[0]) else None


def _rows_where(function, codes, ranks):
    return np.flatnonzero(function.function(codes, ranks))


def _code_counts(codes, length):
    return np.bincount(codes, minlength=length)


def taken(values, rows):
    return values[rows]
