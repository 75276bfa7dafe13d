"""Rows on a Dask cluster: every sum over rows is taken by the workers, where the rows are.

A block of rows is a partition of a Dask array or data frame, or a delayed object that loads one (a CSR matrix, say).
:meth:`DaskRows.sum_on_workers` sends the function to the workers, sums each partition there and adds the sums up in a
tree: what comes back is the sum alone, O(K d) for column statistics and O(r^2) for the Hessian of an SVM. Rows never
come to the client. Projected rows, which are passed over many times, stay in the memory of the workers, and Dask can
make them again when a worker is lost, as it can everything here.

So it is with what belongs to a row (:class:`DaskColumn`): labels that are in Dask are coded by the workers, and only
the classes of a partition and their counts come to the client, which is enough to say which fold a row is in. What
boosting keeps of a row stays with the row. Labels and weights that the client has itself go to the workers once, in as
few bytes as hold them.

Whatever scheduler Dask uses serves: that of the current ``Client``, or threads.
"""

from __future__ import annotations

import asyncio
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from uuid import uuid4

import dask
import numpy as np
import scipy.sparse as sp
from dask import delayed
from sklearn.utils.validation import check_array, column_or_1d

from isrht.blocks import RowBlocks, Rows, add, default_block_rows, pairs_of
from isrht.coded_labels import Appearance, CodedLabels, codes_in, different
from isrht.learned_rows import LearnedRows
from isrht.newton import one_blas_thread
from isrht.per_row import Column, ranks
from isrht.sources import canonical
from isrht.validation import FLOATS, check_not_negative, check_some_weight

# Partial sums that one task of the tree adds up.
FAN_IN = 8
# Seconds that a scheduler may take to answer at all.
PATIENCE = 30


def is_dask(X):
    """Whether X is a Dask array or data frame, or a list of delayed blocks."""
    return dask.is_dask_collection(X) or (
        isinstance(X, list | tuple) and len(X) > 0 and all(map(dask.is_dask_collection, X))
    )


def connect(address, timeout=PATIENCE):
    """A client of the scheduler at ``address``, or an error that says that nothing answers there."""
    from distributed import Client
    from distributed.comm import connect as open_comm

    async def answer():  # a Client would wait for ever for a greeting that never comes
        comm = await asyncio.wait_for(open_comm(address, timeout=timeout), timeout)
        comm.abort()

    try:
        with ThreadPoolExecutor(1) as another_loop:
            another_loop.submit(asyncio.run, answer()).result()
        return Client(address, timeout=timeout)
    except (OSError, TimeoutError) as error:
        raise TimeoutError(f"no Dask scheduler answered at {address} within {timeout:g} s") from error


class DaskRows(Rows):
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
            check_scheduler()
            self._width, self._dtype = self._compute(delayed(_width_and_dtype)(self._parts[0]))
        return np.empty((0, self._width))

    def take(self, rows):
        return TakenDaskRows(self, rows)

    def map(self, function, n_features=None, sparse=None):
        return MappedDaskRows(self, function, n_features, sparse)

    def store(self, projections, n_jobs=None):
        """What each of ``projections`` (function, width) makes of the rows, in the memory of the workers."""
        mapped = [self.map(project, n_features, sparse=False) for project, n_features in projections]
        sent, parts = [_sent(project) for project, _ in projections], self.parts()
        names = [[_name("project", i) for i in range(len(parts))] for _ in sent]
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
        send = _sent(function)
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
            delayed(_converted)(part, i, dtype, dask_key_name=_name("rows", i)) for i, part in enumerate(self._parts)
        ]

    def coded(self, y):
        """The labels of these rows: those in Dask are coded by the workers, coded ones that are here are sent."""
        if isinstance(y, CodedLabels):
            return CodedLabels(y.classes, self.column(y.codes), y.appearance)
        parts, appearance = self._aligned(y, "y"), Appearance()
        for values in self._compute([delayed(_different)(part, i) for i, part in enumerate(parts)]):
            appearance.add(values)
        classes, order = appearance.sorted()
        codes = [delayed(_codes)(part, classes, dask_key_name=_name("codes", i)) for i, part in enumerate(parts)]
        return CodedLabels(classes, DaskColumn(self, list(dask.persist(*codes))), order)

    def column(self, values):
        """Values that the client has, one per row, sent to the workers."""
        return DaskColumn(self, self._sent_by_rows(values))

    def checked_weights(self, sample_weight):
        """Weights that are in Dask, checked there; None for others."""
        if not is_dask(sample_weight):
            return None
        parts = self._aligned(sample_weight, "sample_weight")
        weights = [delayed(_weights)(part, i, dask_key_name=_name("weights", i)) for i, part in enumerate(parts)]
        column = DaskColumn(self, list(dask.persist(*weights)))
        check_some_weight(column.total(lambda weights: np.count_nonzero(weights > 0), [column]))
        return column

    def _aligned(self, values, name):
        """One delayed part per partition of the rows."""
        import dask.array as da

        parts = list(values) if isinstance(values, list | tuple) else list(np.ravel(values.to_delayed()))
        sizes = _compute([delayed(len)(part) for part in parts])
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

    def learned_rows(self, codes, n_classes, training, held_out, weights, folds, n_columns):
        return LearnedDaskRows(self, codes, n_classes, training, held_out, weights, folds, n_columns)

    def sum_on_workers(self, function, blocks):
        function = _sent(function)
        partial = [
            delayed(_sum_part)(X, y, weights, function, blocks.block_rows, dask_key_name=_name("sum", i))
            for i, (X, y, weights) in enumerate(zip(self.parts(), *self._sides(blocks), strict=True))
        ]
        return self._compute(_tree_sum(partial))

    def row_slices(self):
        ends = np.cumsum([0, *self._facts.sizes])
        return [slice(int(first), int(last)) for first, last in pairwise(ends)]

    def by_partition(self, chosen):
        """Which rows of each partition have the chosen numbers, which ascend."""
        slices = self.row_slices()
        ends = np.searchsorted(chosen, [rows.start for rows in slices] + [self.shape[0]])
        return [chosen[first:last] - rows.start for (first, last), rows in zip(pairwise(ends), slices, strict=True)]

    def _sides(self, blocks):
        """Labels and weights of each partition, sent to the workers once for all passes over these blocks."""
        if getattr(blocks, "sides_on_workers", None) is None:
            blocks.sides_on_workers = [self._kept_by_rows(side) for side in (blocks.y, blocks.sample_weight)]
        return blocks.sides_on_workers

    def _kept_by_rows(self, side):
        """What is derived is computed once: every task of every pass costs as much as a thousand rows."""
        parts = self._sent_by_rows(side)
        return list(dask.persist(*parts)) if isinstance(side, DaskColumn) and side.is_derived else parts

    def _sent_by_rows(self, values):
        if values is None:
            return [None] * len(self._parts)
        if isinstance(values, DaskColumn | LearnedDaskRows):
            return values.parts
        slices = (np.ascontiguousarray(values[rows]) for rows in self.row_slices())
        return list(dask.persist(*[delayed(_widened)(_compact(part), part.dtype.str) for part in slices]))

    @property
    def _facts(self):
        if self._known is None:
            check_scheduler()
            checks = [delayed(_checked)(part, i, dask_key_name=_name("check", i)) for i, part in enumerate(self._parts)]
            self._known = _Facts(self._compute(checks))
            self._width, self._sizes = self._known.shape[1], self._known.sizes
        return self._known

    def _compute(self, what):
        """Compute, and if that fails say in which block."""
        try:
            return _compute(what)
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
                _compute(delayed(_n_rows)(part))
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
        send = _sent(self._function)
        return [delayed(_apply)(send, part, dask_key_name=_name("map", i)) for i, part in enumerate(self._rows.parts())]

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
        return [delayed(_taken)(part, local, dask_key_name=_name("take", i)) for i, (part, local) in together]


class StoredDaskRows(_Derived):
    """Rows that the workers have, until :meth:`close`; a worker that is lost does not take them with it."""

    def __init__(self, rows, kept):
        super().__init__(rows)
        self._known, self._kept = rows._facts, kept

    def parts(self):
        return self._kept

    def close(self):
        self._kept = None


class LearnedDaskRows(LearnedRows):
    """What boosting keeps of the rows, on the workers; the columns are there alone."""

    elsewhere = True

    def __init__(self, X, codes, n_classes, training, held_out, weights, folds, n_columns):
        super().__init__(codes, n_classes, training, held_out, weights, folds, None)
        self._X = X
        sides = zip(*(X._sent_by_rows(side) for side in (codes, training, held_out, weights)), strict=True)
        self._persist(
            delayed(_learned)(*side, n_classes, folds, n_columns, dask_key_name=_name("learned", i))
            for i, side in enumerate(sides)
        )

    def sum(self, function, n_jobs=None):
        send = _sent(function)
        sums = [delayed(_sum_learned)(part, send, dask_key_name=_name("sum", i)) for i, part in enumerate(self.parts)]
        return self._X._compute(_tree_sum(sums))

    def append(self, X, function, n_columns, n_jobs=None):
        send, block_rows = _sent(function), min(4 * default_block_rows(X), X.most_rows())
        self._persist(
            delayed(_appended)(part, rows, send, block_rows, dask_key_name=_name("columns", i))
            for i, (part, rows) in enumerate(zip(X.parts(), self.parts, strict=True))
        )

    def _persist(self, parts):
        self.parts = list(dask.persist(*parts))


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
        return self._X._compute(_tree_sum(self._apply(_total, function, sent)))

    def by_rank(self, function, n_classes):
        return DaskColumn(self._X, list(dask.persist(*self._ranked(_derived, function, n_classes))))

    def rows_by_rank(self, function, n_classes):
        found = self._X._compute(self._ranked(_rows_where, function, n_classes))
        starts = [rows.start for rows in self._X.row_slices()]
        return np.concatenate([start + rows for start, rows in zip(starts, found, strict=True)])

    def gathered(self):
        return np.concatenate(self._X._compute(self.parts))

    def __getitem__(self, rows):
        """The values of few rows, whose numbers ascend."""
        taken = [delayed(_taken)(part, mine) for part, mine in zip(self.parts, self._X.by_partition(rows), strict=True)]
        return np.concatenate(self._X._compute(taken))

    def _sent(self, columns):
        return [self._X._sent_by_rows(column) for column in columns]

    def _apply(self, how, function, sent):
        send, together = _sent(function), enumerate(zip(*sent, strict=True))
        return [delayed(how)(send, *parts, dask_key_name=_name("column", i)) for i, parts in together]

    def _ranked(self, how, function, n_classes):
        send = _sent(function)
        counts = self._X._compute([delayed(_code_counts)(part, n_classes + 1) for part in self.parts])
        before = np.cumsum([np.zeros(n_classes + 1, dtype=np.int64), *counts[:-1]], axis=0)
        return [
            delayed(how)(send, part, delayed(ranks)(part, earlier), dask_key_name=_name("ranked", i))
            for i, (part, earlier) in enumerate(zip(self.parts, before, strict=True))
        ]


class _Facts:
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
        facts = object.__new__(_Facts)
        facts.sizes = self.sizes if sizes is None else sizes
        facts.shape = sum(facts.sizes), self.shape[1] if n_features is None else n_features
        facts.sparse = self.sparse if sparse is None else sparse
        share = facts.shape[0] / self.shape[0]
        facts.dtype, facts.nnz, facts.pairs = self.dtype, int(share * self.nnz), share * self.pairs
        return facts


def check_scheduler():
    """That the scheduler of the current client answers, before a fit waits for it in vain."""
    if "distributed" not in sys.modules:
        return
    from distributed import default_client

    try:
        client = default_client()
    except ValueError:  # there is none: Dask computes in this process
        return
    if client.asynchronous or dask.base.get_scheduler() != client.get:
        return
    try:
        client.sync(client.scheduler.identity, callback_timeout=PATIENCE)
    except TimeoutError as error:
        raise TimeoutError(
            f"the Dask scheduler at {client.scheduler.address} did not answer within {PATIENCE:g} s"
        ) from error


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


def _sent(function):
    """The function as data of the graph: it goes to each worker once, and not with every task."""
    return delayed(_Function(function), traverse=False)


class _Function:
    """So that Dask takes a function for data."""

    def __init__(self, function):
        self.function = function


def _name(what, i):
    return f"isrht-{what}-block-{i}-{uuid4().hex}"


def _compute(what):
    return dask.compute(what)[0]


def _tree_sum(partial):
    while len(partial) > 1:
        groups = [partial[first : first + FAN_IN] for first in range(0, len(partial), FAN_IN)]
        partial = [delayed(_sum_of)(group, dask_key_name=_name("add", i)) for i, group in enumerate(groups)]
    return partial[0]


# What follows runs on the workers.


def _checked(X, number):
    """Number of rows, width, dtype, whether sparse, stored values and pairs of them."""
    try:
        X = check_array(X, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=0)
    except (ValueError, TypeError) as error:
        raise ValueError(f"block {number}: {error}") from error
    if not sp.issparse(X):
        return *X.shape, X.dtype, False, X.size, 0.0
    X = canonical(X)
    return *X.shape, X.dtype, True, X.nnz, pairs_of(X)


def _converted(X, number, dtype):
    try:
        X = check_array(X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=dtype is None, ensure_min_samples=0)
    except (ValueError, TypeError) as error:
        raise ValueError(f"block {number}: {error}") from error
    return canonical(X).astype(X.dtype if dtype is None else dtype, copy=False)


def _width_and_dtype(X):
    return X.shape[1], getattr(X, "dtype", None)


def _n_rows(X):
    return X.shape[0]


def _apply(function, X):
    if X.shape[0] == 0:
        return function.function(np.zeros((1, X.shape[1]), dtype=X.dtype))[:0]
    return function.function(X)


def _taken(X, rows):
    return X[rows]


def _sum_part(X, y, weights, function, block_rows):
    if X.shape[0] == 0:
        return None
    with one_blas_thread():
        return RowBlocks(X, y, weights, block_rows=block_rows).sum(function.function)


def _sum_of(parts):
    """Their sum, in order. None of them is written to: a task may run twice."""
    total = None
    for part in parts:
        if part is not None:
            total = _copy(part) if total is None else add(total, part)
    return total


def _copy(part):
    if isinstance(part, tuple):
        return tuple(map(_copy, part))
    return part.copy() if isinstance(part, np.ndarray) else part


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
