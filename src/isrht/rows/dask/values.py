"""Values of rows on a Dask cluster (labels, weights, folds, what boosting keeps), which stay with the rows.

:class:`DaskRowValues` have a delayed array for every partition of the rows. The workers compute what follows from such
values row by row, and only totals come to the client: the classes of a partition and their counts, which is enough to
say which fold a row is in.
"""

from __future__ import annotations

import dask
import numpy as np
from dask import delayed

from isrht.rows.dask import _tasks, cluster
from isrht.rows.values import RowValues, ranks


class OnWorkers:
    """Something that belongs to rows and lies with them: ``parts`` has one delayed object for every partition."""

    parts: list


class DaskRowValues(OnWorkers, RowValues):
    """Values of rows on a Dask cluster.

    Parameters
    ----------
    X : DaskRows
        The rows that they belong to.
    parts : list of delayed arrays
        One for every partition of the rows.
    width : int, default=None
        How many values a row has; None where the arrays have one dimension.
    needs : object, default=None
        What the values are derived from, which workers keep only as long as somebody here holds on to it.
    """

    def __init__(self, X, parts, width=None, needs=None):
        self._X, self.parts, self._needs = X, parts, needs
        self.shape = (X.shape[0],) if width is None else (X.shape[0], width)

    @property
    def is_derived(self):
        """Whether the values are computed from others whenever they are needed."""
        return self._needs is not None

    def derived(self, function, values, width=None):
        """Return what a function makes of these and other values, computed by the workers when it is needed."""
        sent = self._sent(values)
        return DaskRowValues(self._X, self._apply(_tasks.of_values, function, sent), width, needs=(sent, values))

    def total(self, function, values):
        """Return the sum over all rows of what a function makes of these and other values."""
        sent = self._sent(values)
        return self._X.compute(cluster.tree_sum(self._apply(_tasks.sum_of_values, function, sent)))

    def by_rank(self, function, n_classes):
        """Return what a function makes of these codes and the ranks of their rows, kept by the workers."""
        return DaskRowValues(self._X, list(dask.persist(*self._ranked(_tasks.of_values, function, n_classes))))

    def rows_by_rank(self, function, n_classes):
        """Return the numbers of the rows for which a function of these codes and the ranks of rows is true."""
        found = self._X.compute(self._ranked(_tasks.rows_where, function, n_classes))
        starts = [rows.start for rows in self._X.row_slices()]
        return np.concatenate([start + rows for start, rows in zip(starts, found, strict=True)])

    def gathered(self):
        """Return the values of all rows as an array in the memory of the client."""
        return np.concatenate(self._X.compute(self.parts))

    def __getitem__(self, rows):
        """Return the values of a few rows, whose numbers ascend, as an array in the memory of the client."""
        by_partition = zip(self.parts, self._X.by_partition(rows), strict=True)
        return np.concatenate(self._X.compute([delayed(_tasks.taken)(part, mine) for part, mine in by_partition]))

    def _sent(self, values):
        return [self._X.sent_by_rows(some) for some in values]

    def _apply(self, how, function, sent):
        send, together = cluster.sent(function), enumerate(zip(*sent, strict=True))
        return [delayed(how)(send, *parts, dask_key_name=cluster.named("values", i)) for i, parts in together]

    def _ranked(self, how, function, n_classes):
        send = cluster.sent(function)
        counts = self._X.compute([delayed(_tasks.code_counts)(part, n_classes + 1) for part in self.parts])
        before = np.cumsum([np.zeros(n_classes + 1, dtype=np.int64), *counts[:-1]], axis=0)
        return [
            delayed(how)(send, part, delayed(ranks)(part, earlier), dask_key_name=cluster.named("ranked", i))
            for i, (part, earlier) in enumerate(zip(self.parts, before, strict=True))
        ]
