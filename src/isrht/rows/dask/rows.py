"""Rows on a Dask cluster: every sum over rows is taken by the workers, where the rows are.

A block of rows is a partition of a Dask array or data frame, or a delayed object that loads one (a CSR matrix, say).
:meth:`DaskRows.sum_on_workers` sends the function to the workers, sums each partition there and adds the sums up in a
tree: what comes back is the sum alone, O(K d) for column statistics and O(r^2) for the Hessian of an SVM. Rows never
come to the client. Projected rows, which are passed over many times, stay in the memory of the workers, and Dask can
make them again when a worker is lost, as it can everything here.

So it is with what belongs to a row (:mod:`isrht.rows.dask.values`): labels that are in Dask are coded by the workers.
Labels and weights that the client has itself go to the workers once, in as few bytes as hold them.
"""

from __future__ import annotations

import warnings
from itertools import pairwise

import dask
import numpy as np
import scipy.sparse as sp
from dask import delayed
from sklearn.utils.validation import check_array, column_or_1d

from isrht.rows.blocks import RowBlocks, RowsElsewhere, pairs_of
from isrht.rows.dask import cluster
from isrht.rows.dask.values import DaskRowValues, OnWorkers, taken
from isrht.rows.labels import Appearance, CodedLabels, codes_in, different
from isrht.rows.weights import check_largest_weight, check_not_negative
from isrht.support.matrices import without_duplicates
from isrht.support.threads import one_blas_thread
from isrht.support.validation import checked_block


def is_dask(X):
    """Whether X is a Dask array or data frame, or a list of delayed blocks."""
    return dask.is_dask_collection(X) or (
        isinstance(X, list | tuple) and len(X) > 0 and all(map(dask.is_dask_collection, X))
    )


class DaskRows(RowsElsewhere):
    """Partitions of rows. What is known of all of them is learned by one pass on the workers, when it is needed."""

    on_workers = True

    def __init__(self, X):
        self._parts, self._sizes, self._width, self._dtype, self._columns = _partitions(X)
        self._known = None

    @property
    def shape(self):
        return self._facts.shape

    @property
    def dtype(self):
        return self._facts.dtype

    @property
    def sparse(self):
        return self._facts.sparse

    @property
    def nnz(self):
        return self._facts.nnz

    @property
    def pairs(self):
        return self._facts.pairs

    @property
    def header(self):
        """No rows, but the width and the names of the columns: known without a pass, or from the first partition."""
        if self._columns is not None:
            return self._columns
        if self._width is None:
            cluster.check_scheduler()
            self._width, self._dtype = self.compute(delayed(_width_and_dtype)(self._parts[0]))
        return np.empty((0, self._width))

    def take(self, rows):
        return TakenDaskRows(self, rows)

    def map(self, function, n_features=None, sparse=None):
        return MappedDaskRows(self, function, n_features, sparse)

    def store(self, projections, n_jobs=None):
        """What each of ``projections`` (function, width) makes of the rows, in the memory of the workers."""
        mapped = [self.map(project, n_features, sparse=False) for project, n_features in projections]
        sent, parts = [cluster.sent(project) for project, _ in projections], self.parts()
        names = [[cluster.named("project", i) for i in range(len(parts))] for _ in sent]
        kept = dask.persist(
            [
                [delayed(_apply)(send, part, dask_key_name=name) for part, name in zip(parts, named, strict=True)]
                for send, named in zip(sent, names, strict=True)
            ]
        )[0]
        return [StoredDaskRows(rows, parts) for rows, parts in zip(mapped, kept, strict=True)]

    def collect(self, function, n_jobs=None):
        """``function`` of all rows, as a Dask array that has not been computed."""
        import dask.array as da

        sample = function(self.sample())
        send = cluster.sent(function)
        parts = [
            da.from_delayed(delayed(_apply)(send, part), (size, *sample.shape[1:]), sample.dtype)
            for part, size in zip(self.parts(), self._sizes, strict=True)
        ]
        return da.concatenate(parts, allow_unknown_chunksizes=True)

    def sample(self):
        """A row of zeros, to learn what becomes of a row."""
        dtype = np.float32 if self._dtype == np.float32 else np.float64
        return np.zeros((1, self.header.shape[1]), dtype=dtype)

    def parts(self):
        """One delayed array or CSR array per partition."""
        dtype = self._known.dtype if self._known else None
        return [
            delayed(_converted)(part, i, dtype, dask_key_name=cluster.named("rows", i))
            for i, part in enumerate(self._parts)
        ]

    def coded(self, y):
        """The labels of these rows: those in Dask are coded by the workers, coded ones that are here are sent."""
        if isinstance(y, CodedLabels):
            return CodedLabels(y.classes, self.row_values(y.codes), y.appearance)
        parts, appearance = self._aligned(y, "y"), Appearance()
        for values in self.compute([delayed(_different)(part, i) for i, part in enumerate(parts)]):
            appearance.add(values)
        classes, order = appearance.sorted()
        codes = [
            delayed(_codes)(part, classes, dask_key_name=cluster.named("codes", i)) for i, part in enumerate(parts)
        ]
        return CodedLabels(classes, DaskRowValues(self, list(dask.persist(*codes))), order)

    def row_values(self, values):
        """Values that the client has, one per row, sent to the workers."""
        return DaskRowValues(self, self.sent_by_rows(values))

    def checked_weights(self, sample_weight):
        """Weights that are in Dask, checked there; None for others."""
        if not is_dask(sample_weight):
            return None
        parts = self._aligned(sample_weight, "sample_weight")
        weights = [
            delayed(_weights)(part, i, dask_key_name=cluster.named("weights", i)) for i, part in enumerate(parts)
        ]
        column = DaskRowValues(self, list(dask.persist(*weights)))
        check_largest_weight(max(self.compute([delayed(_largest)(part) for part in column.parts])))
        return column

    def _aligned(self, values, name):
        """One delayed part per partition of the rows."""
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
            delayed(_sum_part)(function, block_rows, *parts, dask_key_name=cluster.named("sum", i))
            for i, parts in enumerate(zip(self.parts(), *sent, strict=True))
        ]
        return self.compute(cluster.tree_sum(partial))

    def row_slices(self):
        ends = np.cumsum([0, *self._facts.sizes])
        return [slice(int(first), int(last)) for first, last in pairwise(ends)]

    def by_partition(self, chosen):
        """Which rows of each partition have the chosen numbers, which ascend."""
        slices = self.row_slices()
        ends = np.searchsorted(chosen, [rows.start for rows in slices] + [self.shape[0]])
        return [chosen[first:last] - rows.start for (first, last), rows in zip(pairwise(ends), slices, strict=True)]

    def _kept_by_rows(self, values):
        """Return one delayed part per partition. What is derived is computed now, so that no pass computes it anew."""
        parts = self.sent_by_rows(values)
        return list(dask.persist(*parts)) if isinstance(values, DaskRowValues) and values.is_derived else parts

    def sent_by_rows(self, values):
        if values is None:
            return [None] * len(self._parts)
        if isinstance(values, OnWorkers):
            return values.parts
        slices = (np.ascontiguousarray(values[rows]) for rows in self.row_slices())
        return list(dask.persist(*[delayed(_widened)(_compact(part), part.dtype.str) for part in slices]))

    @property
    def _facts(self):
        if self._known is None:
            cluster.check_scheduler()
            checks = [
                delayed(_checked)(part, i, dask_key_name=cluster.named("check", i))
                for i, part in enumerate(self._parts)
            ]
            self._known = PartitionFacts(self.compute(checks))
            self._width, self._sizes = self._known.shape[1], self._known.sizes
        return self._known

    def compute(self, what):
        """Compute, and if that fails say in which block."""
        try:
            return cluster.compute(what)
        except Exception as error:
            if not str(error).startswith("block "):
                self._find_fault(error)
            raise

    def _find_fault(self, error):
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
                cluster.compute(delayed(_n_rows)(part))
            except Exception as fault:
                if type(fault) is type(error):
                    kind = OSError if isinstance(fault, OSError) else ValueError
                    raise kind(f"block {i}: {type(fault).__name__}: {fault}") from error
                raise


class _Derived(DaskRows):
    """Rows made of those of ``rows``, partition by partition."""

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
            delayed(_apply)(send, part, dask_key_name=cluster.named("map", i))
            for i, part in enumerate(self._rows.parts())
        ]

    def most_rows(self):
        return min(super().most_rows(), self._rows.most_rows())


class TakenDaskRows(_Derived):
    def __init__(self, rows, chosen):
        super().__init__(rows)
        local = rows.by_partition(chosen)
        self._sizes = [len(chosen) for chosen in local]
        self._chosen = list(dask.persist(*[delayed(_compact(chosen), traverse=False) for chosen in local]))

    @property
    def _facts(self):
        return self._rows._facts.changed(sizes=self._sizes)

    def parts(self):
        together = enumerate(zip(self._rows.parts(), self._chosen, strict=True))
        return [delayed(taken)(part, local, dask_key_name=cluster.named("take", i)) for i, (part, local) in together]


class StoredDaskRows(_Derived):
    """Rows that the workers have, until :meth:`close`; a worker that is lost does not take them with it."""

    def __init__(self, rows, kept):
        super().__init__(rows)
        self._known, self._kept = rows._facts, kept

    def parts(self):
        return self._kept

    def close(self):
        self._kept = None


class PartitionFacts:
    """The sum of what is known of the partitions."""

    def __init__(self, found):
        self.sizes = [rows for rows, *_ in found]
        widths = [width for rows, width, *_ in found if rows]
        if not widths:
            raise ValueError("X has no rows")
        for i, (rows, width, *_) in enumerate(found):
            if rows and width != widths[0]:
                raise ValueError(f"block {i}: it has {width} features, but the blocks before have {widths[0]}")
        self.shape = sum(self.sizes), widths[0]
        self.dtype = np.dtype(np.result_type(*[dtype for rows, _, dtype, *_ in found if rows]))
        kinds = [sparse for rows, _, _, sparse, *_ in found if rows]
        if any(kinds) != all(kinds):
            raise ValueError(f"block {kinds.index(not kinds[0])}: some blocks are sparse, and some are not")
        self.sparse = kinds[0]
        self.nnz, self.pairs = sum(nnz for *_, nnz, _ in found), sum(pairs for *_, pairs in found)

    def changed(self, sizes=None, n_features=None, sparse=None):
        """Of fewer rows, or rows of another width; their nonzeros are estimated."""
        facts = object.__new__(PartitionFacts)
        facts.sizes = self.sizes if sizes is None else sizes
        facts.shape = sum(facts.sizes), self.shape[1] if n_features is None else n_features
        facts.sparse = self.sparse if sparse is None else sparse
        share = facts.shape[0] / self.shape[0]
        facts.dtype, facts.nnz, facts.pairs = self.dtype, int(share * self.nnz), share * self.pairs
        return facts


def _partitions(X):
    """Delayed partitions, the number of rows in each (NaN if unknown), width, dtype, and names of columns if any."""
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


# What follows runs on the workers.


def _checked(X, number):
    """Number of rows, width, dtype, whether sparse, stored values and pairs of them."""
    try:
        X = checked_block(X, ensure_min_samples=0)
    except (ValueError, TypeError) as error:
        raise ValueError(f"block {number}: {error}") from error
    if not sp.issparse(X):
        return *X.shape, X.dtype, False, X.size, 0.0
    X = without_duplicates(X)
    return *X.shape, X.dtype, True, X.nnz, pairs_of(X)


def _converted(X, number, dtype):
    try:
        X = checked_block(X, ensure_all_finite=dtype is None, ensure_min_samples=0)
    except (ValueError, TypeError) as error:
        raise ValueError(f"block {number}: {error}") from error
    return without_duplicates(X).astype(X.dtype if dtype is None else dtype, copy=False)


def _width_and_dtype(X):
    return X.shape[1], getattr(X, "dtype", None)


def _n_rows(X):
    return X.shape[0]


def _apply(function, X):
    if X.shape[0] == 0:
        return function.function(np.zeros((1, X.shape[1]), dtype=X.dtype))[:0]
    return function.function(X)


def _sum_part(function, block_rows, X, y, weights, values):
    if X.shape[0] == 0:
        return None
    with one_blas_thread():
        return RowBlocks(X, y, weights, values=values, block_rows=block_rows).sum(function.function)


def _different(y, number):
    try:
        return different(column_or_1d(y, warn=True))
    except ValueError as error:
        raise ValueError(f"block {number}: {error}") from error


def _codes(y, classes):
    return codes_in(classes, column_or_1d(y))


def _weights(values, number):
    try:
        weights = check_array(
            values, ensure_2d=False, dtype=np.float64, input_name="sample_weight", ensure_min_samples=0
        )
        check_not_negative(weights)
    except ValueError as error:
        raise ValueError(f"block {number}: {error}") from error
    return weights


def _largest(weights):
    return weights.max(initial=0.0)


def _compact(values):
    """The same numbers in as few bytes as hold them, if they are whole and not negative."""
    if values.size == 0 or values.dtype.kind not in "iuf" or values.min() < 0:
        return values
    for smaller in (np.uint8, np.uint16, np.uint32):
        if values.itemsize > np.dtype(smaller).itemsize and values.max() <= np.iinfo(smaller).max:
            compact = values.astype(smaller)
            return compact if np.array_equal(compact, values) else values
    return values


def _widened(values, dtype):
    return values.astype(dtype, copy=False)
