"""Values of rows on workers (labels, weights, folds, what boosting keeps), which stay with the rows.

The workers compute what follows from such values row by row, and only totals come to the client: the classes of a block
and their counts, which is enough to say which fold a row is in.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from isrht.rows.values import RowValues
from isrht.rows.workers import _tasks


class OnWorkers:
    """Something that belongs to rows and lies with them: ``kept`` is the list of the parts of all blocks, by piece."""

    kept: object

    def __reduce__(self):
        """Stay with the client, where a function that happens to hold on to this is sent to the workers."""
        return LeftBehind, ()


class LeftBehind:
    """What workers find in the place of rows and values that only the client can refer to."""


class WorkerValues(OnWorkers, RowValues):
    """Values of rows on workers.

    Parameters
    ----------
    X : WorkerRows
        The rows that they belong to.
    kept : Kept
        A list of arrays for every piece, one for each of its blocks.
    width : int, default=None
        How many values a row has; None where the arrays have one dimension.
    """

    def __init__(self, X, kept, width=None):
        self._X, self._kept = X, kept
        self.shape = (X.shape[0],) if width is None else (X.shape[0], width)

    is_derived = False

    @property
    def kept(self):
        return self._kept

    @property
    def sources(self):
        """What the values are made of, where they are: a list of what is kept."""
        return [self._kept]

    def opened(self):
        """Return the function by which a worker makes the values of its blocks of the :attr:`sources`."""
        return _tasks.same

    def derived(self, function, values, width=None):
        """Return what a function makes of these and other values, computed by the workers when it is needed."""
        return DerivedWorkerValues(self._X, function, self._on_workers(values), width)

    def total(self, function, values):
        """Return the sum over all rows of what a function makes of these and other values."""
        values = self._on_workers(values)
        task, sources = partial(_tasks.sum_of_values, function, opener(values)), sources_of(values)
        return self._X.workers.total("values", task, self._X.numbers, *sources)

    def by_rank(self, function, n_classes):
        """Return what a function makes of these codes and the ranks of their rows, kept by the workers."""
        return WorkerValues(self._X, self._ranked(self._X.workers.keep, _tasks.of_ranks, function, n_classes))

    def rows_by_rank(self, function, n_classes):
        """Return the numbers of the rows for which a function of these codes and the ranks of rows is true."""
        found = self._X.in_order(self._ranked(self._X.workers.gather, _tasks.where_ranks, function, n_classes))
        starts = [rows.start for rows in self._X.row_slices()]
        return np.concatenate([start + rows for start, rows in zip(starts, found, strict=True)])

    def gathered(self):
        """Return the values of all rows as an array in the memory of the client."""
        return np.concatenate(self._X.in_order(self._X.workers.gather("values", _tasks.same, self.kept)))

    def __getitem__(self, rows):
        """Return the values of a few rows, whose numbers ascend, as an array in the memory of the client."""
        chosen = self._X.spread(self._X.by_block(rows))
        return np.concatenate(self._X.in_order(self._X.workers.gather("values", _tasks.taken, self.kept, chosen)))

    def _on_workers(self, values):
        """Return values as those that are on the workers; arrays of the client are sent."""
        return [some if some is None or isinstance(some, OnWorkers) else self._X.row_values(some) for some in values]

    def _ranked(self, how, task, function, n_classes):
        X, kept = self._X, self.kept
        counts = X.in_order(X.workers.gather("counts", partial(_tasks.code_counts, n_classes + 1), kept))
        before = np.cumsum([np.zeros(n_classes + 1, dtype=np.int64), *counts[:-1]], axis=0)
        return how("ranks", partial(task, function), X.spread(list(before)), kept)


class DerivedWorkerValues(WorkerValues):
    """What a function makes of other values, computed by the workers whenever it is needed."""

    is_derived = True

    def __init__(self, X, function, values, width):
        super().__init__(X, None, width)
        self._function, self._values = function, values

    @property
    def kept(self):
        """The values, computed now, so that no pass computes them anew."""
        if self._kept is None:
            self._kept = self._X.workers.keep("values", self.opened(), *self.sources)
        return self._kept

    @property
    def sources(self):
        return sources_of(self._values)

    def opened(self):
        return partial(_tasks.of_values, self._function, opener(self._values))


def sources_of(values):
    """Return what several values are made of, where they are."""
    return [one for some in values if some is not None for one in some.sources]


def opener(values):
    """Return a function of what is kept of several values, which yields the values of each block together."""
    parts = [None if some is None else (some.opened(), len(some.sources)) for some in values]
    return partial(_opened_together, parts)


def _opened_together(parts, *kept):
    kept, lists = list(kept), []
    for part in parts:
        if part is None:
            lists.append(None)
            continue
        opened, count = part
        lists.append(opened(*kept[:count]))
        kept = kept[count:]
    length = next(len(one) for one in lists if one is not None)
    return zip(*([None] * length if one is None else one for one in lists), strict=True)
