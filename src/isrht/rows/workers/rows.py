"""Rows on the workers of a cluster: the workers that have the rows take every sum over rows.

:meth:`WorkerRows.sum_on_workers` sends a function to the workers, which sum their blocks. What comes back is the sum
alone, O(K d) numbers for column statistics and O(r^2) for the Hessian of an SVM. Rows never come to the client.
Projected rows, which are passed over many times, stay in the memory of the workers.

All of it stands on the three calls of :class:`~isrht.rows.workers.protocol.Workers`. A derived piece of rows (some of
them, or all as a function changes them) is a function of what is kept, which the worker that has it calls.
"""

from __future__ import annotations

from functools import partial
from itertools import chain, pairwise

import numpy as np

from isrht.rows.blocks import RowsElsewhere
from isrht.rows.labels import Appearance, CodedLabels
from isrht.rows.weights import check_largest_weight
from isrht.rows.workers import _tasks
from isrht.rows.workers._facts import PartitionFacts
from isrht.rows.workers.pieces import Piece
from isrht.rows.workers.values import LeftBehind, OnWorkers, WorkerValues
from isrht.support.matrices import without_duplicates


class WorkerRows(RowsElsewhere):
    """Rows in the pieces of a cluster.

    Parameters
    ----------
    workers : Workers
    kept : list of Kept
        What the pieces are made of.
    opened : callable
        The worker calls it with what is kept of a piece, and gets a :class:`~isrht.rows.workers.pieces.Piece`.
    facts : PartitionFacts
    header : data frame or array without rows, default=None
        It has the width of the rows, and the names of their features if they have names.
    """

    on_workers = True

    def __init__(self, workers, kept, opened, facts, header=None):
        self.workers, self.kept, self.opened, self._known, self._header = workers, kept, opened, facts, header

    def __reduce__(self):
        """Stay with the client, where a function that happens to hold on to the rows is sent to the workers."""
        return LeftBehind, ()

    @classmethod
    def surveyed(cls, workers, kept, opened, header=None):
        """Return rows of which the workers find out in one pass what must be known.

        Parameters
        ----------
        workers, kept, opened, header
            As above. Blocks without rows may have any width.
        """
        found = workers.gather("check", partial(_tasks.facts_of_blocks, opened), *kept)
        by_number = {}
        for numbers, facts in zip(workers.pieces, found, strict=True):
            by_number.update(zip(numbers, facts, strict=True))
        facts = PartitionFacts.of([by_number[number] for number in sorted(by_number)])
        return cls(workers, kept, partial(_uniform, opened, facts.n_features, facts.dtype), facts, header)

    @property
    def _facts(self):
        return self._known

    @property
    def shape(self):
        """The numbers of rows and of features."""
        return self._facts.shape

    @property
    def dtype(self):
        """The precision that holds all blocks."""
        return self._facts.dtype

    @property
    def sparse(self):
        """Whether the rows are sparse."""
        return self._facts.sparse

    @property
    def nnz(self):
        """The number of stored values."""
        return self._facts.nnz

    @property
    def pairs(self):
        """Half the sum, over sparse rows, of the square of a row's number of stored values."""
        return self._facts.pairs

    @property
    def header(self):
        """A frame or array without rows, which has the width of the rows and the names of their features."""
        return np.empty((0, self.shape[1])) if self._header is None else self._header

    @property
    def numbers(self):
        """The numbers of the blocks of each piece, on the workers."""
        if getattr(self, "_numbers", None) is None:
            self._numbers = self.workers.spread(self.workers.pieces)
        return self._numbers

    def take(self, rows):
        """Return the rows of these numbers, which ascend."""
        chosen = self.by_block(rows)
        facts = self._facts.changed(sizes=[len(some) for some in chosen])
        kept = self.spread([_tasks.compact(some) for some in chosen])
        return WorkerRows(self.workers, [*self.kept, kept], partial(_taken, self.opened), facts, self.header)

    def map(self, function, n_features=None, sparse=None):
        """Return the rows as ``function`` changes them, on the workers, whenever they are needed."""
        return MappedWorkerRows(self, function, n_features, sparse)

    def store(self, projections, n_jobs=None):
        """Keep what several projections make of the rows in the memory of the workers.

        Parameters
        ----------
        projections : list of (callable, int)
            Each turns an array or CSR array into a dense array of so many columns.
        n_jobs : ignored
            Every worker has threads of its own.

        Returns
        -------
        list of StoredWorkerRows
            One for each projection. Whoever asked for them closes them.
        """
        task = partial(_tasks.projected, [project for project, _ in projections], self.opened)
        together = self.workers.keep("project", task, *self.kept)
        several = len(projections) > 1
        kept = [
            self.workers.keep("project", partial(_tasks.nth, i), together) if several else together
            for i in range(len(projections))
        ]
        opened = _held if several else _first_held
        facts = [self._facts.changed(n_features=width, sparse=False) for _, width in projections]
        return [StoredWorkerRows(self.workers, [one], opened, its) for one, its in zip(kept, facts, strict=True)]

    def collect(self, function, n_jobs=None):
        """Return ``function`` of all rows, in the memory of the client: for what is as small as a label per row."""
        task = partial(_tasks.collected, function, self.opened)
        return np.concatenate(self.in_order(self.workers.gather("collect", task, *self.kept)))

    def coded(self, y):
        """Return the labels of these rows, whose codes the workers have.

        Parameters
        ----------
        y : CodedLabels
            Labels that have been coded here are sent to the workers.

        Returns
        -------
        CodedLabels
        """
        return CodedLabels(y.classes, self.row_values(y.codes), y.appearance)

    def coded_there(self, labels):
        """Return the labels of these rows, which the workers have and code.

        Parameters
        ----------
        labels : Kept
            For every block of a piece a list of ``(number, labels)``; an error is named by the number.

        Returns
        -------
        CodedLabels
        """
        found, appearance = self.in_order(self.workers.gather("labels", _tasks.different_labels, labels)), Appearance()
        for values in chain.from_iterable(found):
            appearance.add(values)
        classes, order = appearance.sorted()
        codes = self.workers.keep("labels", partial(_tasks.codes, classes), labels)
        return CodedLabels(classes, WorkerValues(self, codes), order)

    def weights_there(self, weights):
        """Return weights that the workers have and check, given as :meth:`coded_there` takes labels."""
        kept = self.workers.keep("weights", _tasks.checked_weights, weights)
        check_largest_weight(max(self.workers.gather("weights", _tasks.largest, kept)))
        return WorkerValues(self, kept)

    def checked_weights(self, sample_weight):
        """Return weights that are on the workers already, or None if they are not."""
        return None

    def row_values(self, values):
        """Send an array of one value per row to the workers, and return it as values of these rows."""
        slices = (np.ascontiguousarray(values[rows]) for rows in self.row_slices())
        sent = self.spread([(_tasks.compact(part), part.dtype.str) for part in slices])
        width = values.shape[1] if values.ndim == 2 else None
        return WorkerValues(self, self.workers.keep("values", _tasks.widened, sent), width)

    def spread(self, by_block):
        """Send an object of its own for every block to the piece that has the block."""
        return self.workers.spread([[by_block[number] for number in piece] for piece in self.workers.pieces])

    def in_order(self, by_piece):
        """Return the results of all blocks in the order of the blocks, from a list of results of each piece."""
        found = {}
        for numbers, results in zip(self.workers.pieces, by_piece, strict=True):
            found.update(zip(numbers, results, strict=True))
        return [found[number] for number in sorted(found)]

    def send(self, *values):
        """Return what is kept of everything that belongs to the rows, on the workers that have the rows."""
        return [None if some is None else self._on_workers(some).kept for some in values]

    def _on_workers(self, values):
        return values if isinstance(values, OnWorkers) else self.row_values(values)

    def sum_on_workers(self, function, sent, block_rows):
        """Return the sum of ``function(block)``, which the workers take; ``sent`` is what :meth:`send` returned."""
        task = partial(_tasks.sum_blocks, function, block_rows, self.opened)
        return self.workers.total("sum", task, *self.kept, *sent)

    def row_slices(self):
        """Return the numbers of the rows of each block, as slices."""
        ends = np.cumsum([0, *self._facts.sizes])
        return [slice(int(first), int(last)) for first, last in pairwise(ends)]

    def by_block(self, chosen):
        """Return, for each block, the places in it of the rows that have the chosen numbers, which ascend."""
        slices = self.row_slices()
        ends = np.searchsorted(chosen, [rows.start for rows in slices] + [self.shape[0]])
        return [chosen[first:last] - rows.start for (first, last), rows in zip(pairwise(ends), slices, strict=True)]


class MappedWorkerRows(WorkerRows):
    """Rows that a function changes on the workers, whenever they are needed."""

    def __init__(self, rows, function, n_features, sparse):
        self._rows, self._function, self._n_features, self._sparse = rows, function, n_features, sparse

    @property
    def workers(self):
        return self._rows.workers

    @property
    def kept(self):
        return self._rows.kept

    @property
    def opened(self):
        return partial(_mapped, self._rows.opened, self._function)

    @property
    def _facts(self):
        return self._rows._facts.changed(n_features=self._n_features, sparse=self._sparse)

    @property
    def header(self):
        width = self._rows.header.shape[1] if self._n_features is None else self._n_features
        return np.empty((0, width))

    def collect(self, function, n_jobs=None):
        """Return ``function`` of all rows, as the rows that are changed give it."""
        return self._rows.collect(partial(_one_after_the_other, self._function, function), n_jobs)

    def most_rows(self):
        return min(super().most_rows(), self._rows.most_rows())


class StoredWorkerRows(WorkerRows):
    """Rows that the workers keep in memory until :meth:`close`."""

    def close(self):
        """Let the workers forget the rows."""
        self.kept = None


# What follows runs on the workers.


def _one_after_the_other(first, second, X):
    return second(first(X))


def _uniform(opened, n_features, dtype, *kept):
    """Return a piece whose blocks have one precision, and one width even if they have no rows."""

    def same(X):
        return without_duplicates(X).astype(dtype, copy=False) if X.shape[0] else np.zeros((0, n_features), dtype)

    piece = opened(*kept)
    return Piece(piece.numbers, lambda: map(same, piece.blocks()))


def _mapped(opened, function, *kept):
    return opened(*kept).mapped(function)


def _taken(opened, *kept):
    *kept, chosen = kept
    return opened(*kept).taken(chosen)


def _held(kept):
    return Piece.held(*kept)


def _first_held(kept):
    return Piece.held(*kept[0])
