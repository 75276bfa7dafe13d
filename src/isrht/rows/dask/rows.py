"""Rows in Dask: partitions become the blocks of :class:`~isrht.rows.workers.rows.WorkerRows`.

A partition is one of a Dask array or data frame, or a delayed object that loads one (a CSR matrix, say). The first pass
finds out how large each is. Tiny ones are then joined to blocks, and the blocks are dealt to as many pieces as the
cluster has threads, so that a pass is a handful of tasks (:mod:`isrht.rows.dask._layout`). Rows that are few enough
stay in the memory of the workers; others are loaded again in every pass, one partition after the other, unless they are
persisted. Dask makes what a lost worker had again.

Labels and weights that are in Dask are coded and checked by the workers.
"""

from __future__ import annotations

import warnings
from functools import partial

import dask
import numpy as np
from dask import delayed

from isrht.rows.dask import cluster
from isrht.rows.dask._layout import first_layout, joined_partitions, layout
from isrht.rows.dask.partitions import Partitions, facts, rows_of, values_of
from isrht.rows.dask.workers import DaskWorkers
from isrht.rows.labels import CodedLabels
from isrht.rows.workers import _tasks
from isrht.rows.workers._facts import PartitionFacts
from isrht.rows.workers.pieces import Piece, applied
from isrht.rows.workers.rows import WorkerRows

# Rows of no more bytes than this for each thread are kept in the memory of the workers.
HELD_BYTES = 2**26
# So many partitions that are so small are worth a warning.
MANY_PARTITIONS, SMALL_BYTES = 16, 2**20


def is_dask(X):
    """Say whether X is a Dask array or data frame, or a list of delayed blocks."""
    return dask.is_dask_collection(X) or (
        isinstance(X, list | tuple) and len(X) > 0 and all(map(dask.is_dask_collection, X))
    )


class DaskRows(WorkerRows):
    """Rows in the partitions of a Dask collection.

    What must be known of all rows, such as how many there are, the workers find out in one pass, when it is needed.

    Parameters
    ----------
    X : Dask array, Dask data frame, or list of delayed blocks
    header : data frame without rows, default=None
        It has the names of the features, which delayed blocks do not tell.
    """

    def __init__(self, X, header=None):
        self._parts, self._sizes, self._width, self._dtype, self._columns = _partitions(X)
        self._columns = self._columns if header is None else header
        self._prepared = None

    @property
    def _facts(self):
        return self._ready.facts

    @property
    def workers(self):
        return self._ready.workers

    @property
    def kept(self):
        return self._ready.kept

    @property
    def opened(self):
        return self._ready.opened

    @property
    def _ready(self):
        if self._prepared is None:
            cluster.check_scheduler()
            self._prepared = _Prepared(self._parts)
            self._width, self._sizes = self._facts.shape[1], self._prepared.partition_facts.sizes
        return self._prepared

    @property
    def header(self):
        """A frame or array without rows, which has the width of the rows and the names of their features.

        It is known without a pass, or from the first partition alone.
        """
        if self._columns is not None:
            return self._columns
        if self._width is None:
            cluster.check_scheduler()
            self._width, self._dtype = _asked(self._parts, delayed(_width_and_dtype)(self._parts[0]))
        return np.empty((0, self._width))

    def collect(self, function, n_jobs=None):
        """Return ``function`` of all rows, as a Dask array that has not been computed."""
        import dask.array as da

        dtype = np.float32 if self._dtype == np.float32 else np.float64
        sample = function(np.zeros((1, self.header.shape[1]), dtype=dtype))
        send = cluster.sent(function, len(self._parts))
        known = None if self._prepared is None else self.dtype

        def applied_to(i, part, size):
            made = delayed(_applied)(send, part, i, known, dask_key_name=cluster.named("apply", i, "partition"))
            return da.from_delayed(made, (size, *sample.shape[1:]), sample.dtype)

        parts = [applied_to(i, *both) for i, both in enumerate(zip(self._parts, self._sizes, strict=True))]
        return da.concatenate(parts, allow_unknown_chunksizes=True)

    def coded(self, y):
        """Return the labels of these rows, whose codes the workers have.

        Parameters
        ----------
        y : CodedLabels or Dask collection
            Labels that have been coded are sent to the workers; labels in Dask are coded by the workers.

        Returns
        -------
        CodedLabels
        """
        return super().coded(y) if isinstance(y, CodedLabels) else self.coded_there(self._aligned(y, "y"))

    def checked_weights(self, sample_weight):
        """Return weights that are in Dask, which the workers check, or None if they are not in Dask."""
        if not is_dask(sample_weight):
            return None
        return self.weights_there(self._aligned(sample_weight, "sample_weight"))

    def _aligned(self, values, name):
        """Return values that are in Dask as what is kept of every piece: ``(number, array)`` of its partitions."""
        parts = list(values) if isinstance(values, list | tuple) else cluster.delayed_parts(values)
        sizes = self._lengths(parts)
        if sum(sizes) != self.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {self.shape[0]}, "
                f"{name} has {sum(sizes)}"
            )
        if sizes != self._sizes:
            parts = _cut_anew(parts, sizes, self._sizes)
        kept = Partitions(parts).kept(self._ready.layout)
        return self.workers.keep("values", values_of, kept)

    def _lengths(self, parts):
        there = Partitions(parts)
        dealt = first_layout(len(parts), cluster.threads())
        counts = DaskWorkers(dealt, parts).gather("lengths", _lengths, there.kept(dealt))
        return [length for piece in counts for length in piece]


class _Prepared:
    """The partitions after the first pass: checked, joined to blocks, and dealt to the threads of the cluster."""

    def __init__(self, parts):
        there = Partitions(parts)
        located = there.located()
        dealt = first_layout(len(parts), there.threads(), located)
        found = DaskWorkers(dealt, parts).gather("check", facts, there.kept(dealt))
        self.partition_facts = PartitionFacts.of(_in_order(dealt, found))
        sizes = _bytes_of(_in_order(dealt, found), self.partition_facts)
        _warn_of_small_ones(sizes)
        blocks = joined_partitions(sizes)
        hold = sum(sizes) <= HELD_BYTES * len(cluster.threads())
        threads, located = (cluster.threads(), None) if hold else (there.threads(), located)
        self.layout = layout(blocks, [sum(sizes[i] for i in block) + 1 for block in blocks], threads, located)
        self.workers = DaskWorkers(self.layout, parts)
        numbers = self.workers.spread(self.layout.pieces)
        self.kept, self.opened = [numbers, there.kept(self.layout)], partial(rows_of, self.partition_facts.dtype)
        self.facts = self.partition_facts.changed(
            sizes=[sum(self.partition_facts.sizes[i] for i in block) for block in blocks]
        )
        if hold:
            self.kept = [self.workers.keep("rows", partial(_tasks.held, self.opened), *self.kept)]
            self.opened = _held


def _held(kept):
    return Piece.held(*kept)


def _in_order(dealt, found):
    """Return what was found of each partition, in their order, where every partition was a block."""
    by_number = {}
    for piece, blocks in zip(dealt.pieces, found, strict=True):
        by_number.update(zip(piece, (fact for (fact,) in blocks), strict=True))
    return [by_number[number] for number in sorted(by_number)]


def _bytes_of(partitions, facts):
    each = facts.dtype.itemsize + (4 if facts.sparse else 0)
    return [part.nnz * each for part in partitions]


def _warn_of_small_ones(sizes):
    if len(sizes) < MANY_PARTITIONS or sum(sizes) >= SMALL_BYTES * len(sizes):
        return
    warnings.warn(
        f"X has {len(sizes)} partitions of {sum(sizes) / len(sizes) / 1e6:.2g} MB on average, which a task of Dask is "
        "hardly worth: fewer and larger ones, or X.compute() and a fit in memory, would be faster",
        UserWarning,
        stacklevel=2,
    )


def _cut_anew(parts, sizes, wanted):
    """Return values as delayed parts of other lengths."""
    import dask.array as da

    arrays = [
        da.from_delayed(delayed(np.asarray)(part), (size,), object) for part, size in zip(parts, sizes, strict=True)
    ]
    return list(da.concatenate(arrays).rechunk((tuple(wanted),)).to_delayed())


def _asked(parts, what):
    return DaskWorkers(first_layout(len(parts), [None]), parts)._compute(what)


# What follows runs on the workers.


def _applied(sent, X, number, dtype):
    return applied(sent.function, _tasks.converted(X, number, dtype))


def _width_and_dtype(X):
    return X.shape[1], getattr(X, "dtype", None)


def _lengths(blocks):
    return [len(values) for parts in values_of(blocks) for _, values in parts]


def _partitions(X):
    """Return what is known of a Dask collection without a pass over it.

    Returns
    -------
    parts : list of delayed objects
        The partitions.
    sizes : list
        The number of rows of each, NaN where it is not known.
    width : int or None
    dtype : dtype or None
    frame : data frame without rows, or None
        It has the names of the features.
    """
    if isinstance(X, list | tuple):
        return list(X), [np.nan] * len(X), None, None, None
    if hasattr(X, "columns"):
        meta = X._meta.iloc[:0]
        return cluster.delayed_parts(X), [np.nan] * X.npartitions, len(X.columns), None, meta
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a Dask array of {X.ndim} dimensions")
    if X.numblocks[1] > 1:
        warnings.warn(
            f"X has {X.numblocks[1]} chunks along the features; it is rechunked, so that a block has whole rows. "
            "Rows alone should be chunked.",
            UserWarning,
            stacklevel=5,
        )
        X = X.rechunk({1: -1})
    return cluster.delayed_parts(X), list(X.chunks[0]), int(X.shape[1]), X.dtype, None
