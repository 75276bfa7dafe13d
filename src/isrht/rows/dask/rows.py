"""Rows on a Dask cluster: the workers that have the rows take every sum over rows.

A block of rows is a partition of a Dask array or data frame, or a delayed object that loads one (a CSR matrix, say).
:meth:`DaskRows.sum_on_workers` sends a function to the workers, which sum each partition and add the sums up in a tree.
What comes back is the sum alone, O(K d) numbers for column statistics and O(r^2) for the Hessian of an SVM. Rows never
come to the client. Projected rows, which are passed over many times, stay in the memory of the workers, and Dask can
make them again when a worker is lost, as it can everything here.

The values that belong to rows (:mod:`isrht.rows.dask.values`) are treated alike: the workers code labels that are in
Dask. Labels and weights that the client has itself go to the workers once, in as few bytes as hold them.
"""

from __future__ import annotations

import warnings
from itertools import pairwise

import dask
import numpy as np
from dask import delayed

from isrht.rows.blocks import RowsElsewhere
from isrht.rows.dask import _tasks, cluster
from isrht.rows.dask._facts import PartitionFacts
from isrht.rows.dask.values import DaskRowValues, OnWorkers
from isrht.rows.labels import Appearance, CodedLabels
from isrht.rows.weights import check_largest_weight


def is_dask(X):
    """Say whether X is a Dask array or data frame, or a list of delayed blocks."""
    return dask.is_dask_collection(X) or (
        isinstance(X, list | tuple) and len(X) > 0 and all(map(dask.is_dask_collection, X))
    )


class DaskRows(RowsElsewhere):
    """Rows in the partitions of a Dask collection.

    What must be known of all rows, such as how many there are, the workers find out in one pass, when it is needed.

    Parameters
    ----------
    X : Dask array, Dask data frame, or list of delayed blocks
    """

    on_workers = True

    def __init__(self, X):
        self._parts, self._sizes, self._width, self._dtype, self._columns = _partitions(X)
        self._known = None

    @property
    def shape(self):
        """The numbers of rows and of features."""
        return self._facts.shape

    @property
    def dtype(self):
        """The precision that holds all partitions."""
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
        """A frame or array without rows, which has the width of the rows and the names of their features.

        It is known without a pass, or from the first partition alone.
        """
        if self._columns is not None:
            return self._columns
        if self._width is None:
            cluster.check_scheduler()
            self._width, self._dtype = self.compute(delayed(_tasks.width_and_dtype)(self._parts[0]))
        return np.empty((0, self._width))

    def take(self, rows):
        """Return the rows of these numbers, which ascend."""
        return TakenDaskRows(self, rows)

    def map(self, function, n_features=None, sparse=None):
        """Return the rows as ``function`` changes them, on the workers, whenever they are needed."""
        return MappedDaskRows(self, function, n_features, sparse)

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
        list of StoredDaskRows
            One for each projection. Whoever asked for them closes them.
        """
        mapped = [self.map(project, n_features, sparse=False) for project, n_features in projections]
        sent, parts = [cluster.sent(project) for project, _ in projections], self.parts()
        names = [[cluster.named("project", i) for i in range(len(parts))] for _ in sent]
        kept = dask.persist(
            [
                [delayed(_tasks.apply)(send, part, dask_key_name=name) for part, name in zip(parts, named, strict=True)]
                for send, named in zip(sent, names, strict=True)
            ]
        )[0]
        return [StoredDaskRows(rows, parts) for rows, parts in zip(mapped, kept, strict=True)]

    def collect(self, function, n_jobs=None):
        """Return ``function`` of all rows, as a Dask array that has not been computed."""
        import dask.array as da

        sample = function(self.sample())
        send = cluster.sent(function)
        parts = [
            da.from_delayed(delayed(_tasks.apply)(send, part), (size, *sample.shape[1:]), sample.dtype)
            for part, size in zip(self.parts(), self._sizes, strict=True)
        ]
        return da.concatenate(parts, allow_unknown_chunksizes=True)

    def sample(self):
        """Return a row of zeros, from which one can learn what a function makes of a row."""
        dtype = np.float32 if self._dtype == np.float32 else np.float64
        return np.zeros((1, self.header.shape[1]), dtype=dtype)

    def parts(self):
        """Return one delayed array or CSR array per partition."""
        dtype = self._known.dtype if self._known else None
        return [
            delayed(_tasks.converted)(part, i, dtype, dask_key_name=cluster.named("rows", i))
            for i, part in enumerate(self._parts)
        ]

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
        if isinstance(y, CodedLabels):
            return CodedLabels(y.classes, self.row_values(y.codes), y.appearance)
        parts, appearance = self._aligned(y, "y"), Appearance()
        for values in self.compute([delayed(_tasks.different_labels)(part, i) for i, part in enumerate(parts)]):
            appearance.add(values)
        classes, order = appearance.sorted()
        codes = [
            delayed(_tasks.codes)(part, classes, dask_key_name=cluster.named("codes", i))
            for i, part in enumerate(parts)
        ]
        return CodedLabels(classes, DaskRowValues(self, list(dask.persist(*codes))), order)

    def row_values(self, values):
        """Send an array of one value per row to the workers, and return it as values of these rows."""
        return DaskRowValues(self, self.sent_by_rows(values))

    def checked_weights(self, sample_weight):
        """Return weights that are in Dask, which the workers check, or None if they are not in Dask."""
        if not is_dask(sample_weight):
            return None
        parts = self._aligned(sample_weight, "sample_weight")
        weights = [
            delayed(_tasks.checked_weights)(part, i, dask_key_name=cluster.named("weights", i))
            for i, part in enumerate(parts)
        ]
        values = DaskRowValues(self, list(dask.persist(*weights)))
        check_largest_weight(max(self.compute([delayed(_tasks.largest)(part) for part in values.parts])))
        return values

    def _aligned(self, values, name):
        """Return values that are in Dask as one delayed part for every partition of the rows."""
        import dask.array as da

        parts = list(values) if isinstance(values, list | tuple) else list(np.ravel(values.to_delayed()))
        sizes = cluster.compute([delayed(len)(part) for part in parts])
        if sum(sizes) != self.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {self.shape[0]}, "
                f"{name} has {sum(sizes)}"
            )
        if sizes == self._facts.sizes:
            return parts
        arrays = [
            da.from_delayed(delayed(np.asarray)(part), (size,), object) for part, size in zip(parts, sizes, strict=True)
        ]
        return list(da.concatenate(arrays).rechunk((tuple(self._facts.sizes),)).to_delayed())

    def send(self, *values):
        """Return what belongs to the rows as lists of delayed parts, one for every partition, on the workers."""
        return [self._kept_by_rows(some) for some in values]

    def sum_on_workers(self, function, sent, block_rows):
        """Return the sum of ``function(block)``, which the workers take; ``sent`` is what :meth:`send` returned."""
        function = cluster.sent(function)
        partial = [
            delayed(_tasks.sum_part)(function, block_rows, *parts, dask_key_name=cluster.named("sum", i))
            for i, parts in enumerate(zip(self.parts(), *sent, strict=True))
        ]
        return self.compute(cluster.tree_sum(partial))

    def row_slices(self):
        """Return the numbers of the rows of each partition, as slices."""
        ends = np.cumsum([0, *self._facts.sizes])
        return [slice(int(first), int(last)) for first, last in pairwise(ends)]

    def by_partition(self, chosen):
        """Return, for each partition, the places in it of the rows that have the chosen numbers, which ascend."""
        slices = self.row_slices()
        ends = np.searchsorted(chosen, [rows.start for rows in slices] + [self.shape[0]])
        return [chosen[first:last] - rows.start for (first, last), rows in zip(pairwise(ends), slices, strict=True)]

    def _kept_by_rows(self, values):
        """Return one delayed part per partition. What is derived is computed now, so that no pass computes it anew."""
        parts = self.sent_by_rows(values)
        return list(dask.persist(*parts)) if isinstance(values, DaskRowValues) and values.is_derived else parts

    def sent_by_rows(self, values):
        """Return values of rows as delayed parts, one for every partition, on the workers.

        Parameters
        ----------
        values : array, OnWorkers or None
            What is on the workers already is not sent again.

        Returns
        -------
        list of delayed objects or None
        """
        if values is None:
            return [None] * len(self._parts)
        if isinstance(values, OnWorkers):
            return values.parts
        slices = (np.ascontiguousarray(values[rows]) for rows in self.row_slices())
        return list(dask.persist(*[delayed(_tasks.widened)(_tasks.compact(part), part.dtype.str) for part in slices]))

    @property
    def _facts(self):
        if self._known is None:
            cluster.check_scheduler()
            checks = [
                delayed(_tasks.checked)(part, i, dask_key_name=cluster.named("check", i))
                for i, part in enumerate(self._parts)
            ]
            self._known = PartitionFacts.of(self.compute(checks))
            self._width, self._sizes = self._known.shape[1], self._known.sizes
        return self._known

    def compute(self, what):
        """Return the result of delayed objects; an error says in which block it happened."""
        try:
            return cluster.compute(what)
        except Exception as error:
            if not str(error).startswith("block "):
                self._find_fault(error)
            raise

    def _find_fault(self, error):
        """Raise an error that says in which block another one happened, by loading the blocks one after the other."""
        if type(error).__name__ == "KilledWorker":
            guilty = [f"block {i}: " for i, part in enumerate(self._parts) if error.task in part.__dask_graph__()]
            raise MemoryError(
                f"{''.join(guilty[:1])}workers died again and again at {error.task}: does it need more memory than a "
                "worker has?"
            ) from error
        if type(error).__name__ in ("FutureCancelledError", "CancelledError"):
            raise ConnectionError("the Dask client was closed, or lost its scheduler, while it waited") from error
        for i, part in enumerate(self._parts):
            try:
                cluster.compute(delayed(_tasks.n_rows)(part))
            except Exception as fault:
                if type(fault) is type(error):
                    kind = OSError if isinstance(fault, OSError) else ValueError
                    raise kind(f"block {i}: {type(fault).__name__}: {fault}") from error
                raise


class _Derived(DaskRows):
    """Rows that are made of other rows, partition by partition."""

    def __init__(self, rows):
        self._rows = rows
        self._parts, self._sizes, self._known, self._columns = rows._parts, rows._sizes, None, None
        self._width, self._dtype = None, None

    @property
    def header(self):
        return np.empty((0, self._rows.header.shape[1]))

    def sample(self):
        return self._rows.sample()


class MappedDaskRows(_Derived):
    """Rows that a function changes on the workers, whenever they are needed."""

    def __init__(self, rows, function, n_features, sparse):
        super().__init__(rows)
        self._function, self._n_features, self._sparse = function, n_features, sparse

    @property
    def _facts(self):
        facts = self._rows._facts
        return facts.changed(n_features=self._n_features, sparse=self._sparse)

    @property
    def header(self):
        return super().header if self._n_features is None else np.empty((0, self._n_features))

    def sample(self):
        return self._function(self._rows.sample())

    def parts(self):
        send = cluster.sent(self._function)
        return [
            delayed(_tasks.apply)(send, part, dask_key_name=cluster.named("map", i))
            for i, part in enumerate(self._rows.parts())
        ]

    def most_rows(self):
        return min(super().most_rows(), self._rows.most_rows())


class TakenDaskRows(_Derived):
    """Some of other rows, in the same order."""

    def __init__(self, rows, chosen):
        super().__init__(rows)
        local = rows.by_partition(chosen)
        self._sizes = [len(chosen) for chosen in local]
        self._chosen = list(dask.persist(*[delayed(_tasks.compact(chosen), traverse=False) for chosen in local]))

    @property
    def _facts(self):
        return self._rows._facts.changed(sizes=self._sizes)

    def parts(self):
        together = enumerate(zip(self._rows.parts(), self._chosen, strict=True))
        return [
            delayed(_tasks.taken)(part, local, dask_key_name=cluster.named("take", i)) for i, (part, local) in together
        ]


class StoredDaskRows(_Derived):
    """Rows that the workers keep in memory until :meth:`close`. Dask makes those of a worker that is lost again."""

    def __init__(self, rows, kept):
        super().__init__(rows)
        self._known, self._kept = rows._facts, kept

    def parts(self):
        return self._kept

    def close(self):
        """Let the workers forget the rows."""
        self._kept = None


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
        return list(X.to_delayed()), [np.nan] * X.npartitions, len(X.columns), None, meta
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
    return list(X.to_delayed().ravel()), list(X.chunks[0]), int(X.shape[1]), X.dtype, None
