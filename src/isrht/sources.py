"""Rows that need not fit into memory: files, memory maps, anything that yields blocks of rows again and again.

A :class:`RowSource` is read once to learn what a model must know before it starts (how many rows, how wide, which
labels, whether all is finite), and then once per pass. Rows are never kept, and of labels only the classes: which row
has which lies in a file (:mod:`isrht.per_row`). What is derived from a source is as lazy as itself: rows that were
chosen, rows that are scaled or sketched as they are read. Only projected rows, which are narrow and are passed over
many times, are kept, in a temporary file that has no name: it vanishes with the fit, after an error and even when the
process is killed.

Blocks are cut anew into those that the same rows have in memory, so a fit from a source has the same sums, in the same
order, and is the same model.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from isrht.blocks import RowBlocks, Rows, default_block_rows, recut
from isrht.coded_labels import CodedLabels, Coder, part_by_part
from isrht.files.errors import FileError
from isrht.per_row import FiledColumn, FileOf, total
from isrht.sparse_structure import check_sparse
from isrht.unnamed_file import UnnamedFile
from isrht.validation import checked_block


class LocalRows(Rows):
    """Rows that this process reads. ``row_nnz`` (array or column) counts the stored values of each sparse row."""

    row_nnz = None

    @property
    def nnz(self):
        return self._nnz_and_pairs[0] if self.sparse else self.shape[0] * self.shape[1]

    @property
    def pairs(self):
        return self._nnz_and_pairs[1]

    @cached_property
    def _nnz_and_pairs(self):
        def of_part(row_nnz):
            sizes = row_nnz.astype(np.float64)
            return np.array([sizes.sum(), sizes @ sizes / 2])

        nnz, pairs = total(of_part, self.row_nnz)
        return int(nnz), float(pairs)

    def take(self, rows):
        return TakenRows(self, rows)

    def map(self, function, n_features=None, sparse=None):
        n_features = self.shape[1] if n_features is None else n_features
        return MappedRows(self, function, n_features, self.sparse if sparse is None else sparse)

    def store(self, projections, n_jobs=None):
        """What each of ``projections`` (function, width) makes of the rows, dense and narrow, in temporary files.

        One pass for all of them. To be closed.
        """
        together = self.map(lambda X: [project(X) for project, _ in projections], sum(r for _, r in projections), False)
        stores = [StoredRows(n_features, self.dtype) for _, n_features in projections]
        try:
            for parts in RowBlocks(together).map(lambda block: block.X, n_jobs):
                for stored, part in zip(stores, parts, strict=True):
                    stored.append(part)
        except BaseException:
            for stored in stores:
                stored.close()
            raise
        return stores

    def collect(self, function, n_jobs=None):
        """``function`` of all rows, as one array in memory: for what is as small as one label per row."""
        out = None
        results = RowBlocks(self).map(lambda block: (block.rows, function(block.X)), n_jobs)
        for rows, values in results:
            if out is None:
                out = np.empty((self.shape[0], *values.shape[1:]), dtype=values.dtype)
            out[rows] = values
        return out


class RowSource(LocalRows):
    """Rows for ``fit``, ``transform`` and ``predict`` that are read block by block, and never all at once.

    Parameters
    ----------
    blocks : iterable, callable, array, path or list of paths
        What yields the rows, many times over: pairs ``(X_block, y_block)``, or only ``X_block`` where labels are not
        needed or are given to ``fit``. An X_block is anything that scikit-learn takes for X. Either an iterable that
        starts anew whenever it is iterated, or a function that returns an iterator; or a 2-D array, such as a
        ``numpy.memmap``; or files, which are read by :func:`isrht.files.open_rows` (call it yourself for its options).
    progress : callable, default=None
        Called as ``progress(pass_number, rows_read, n_samples)`` after every block that was read; the number of rows
        is None in the first pass, which counts them.

    Attributes
    ----------
    shape, dtype, sparse
        Known from the first pass, which is made when one of them is first asked for.
    labels : array or None
        All labels, in memory: one more pass, which fitting does not make. None where the blocks have none.

    Examples
    --------
    >>> import numpy as np
    >>> from isrht import ISRHTClassifier, RowSource
    >>> def blocks():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(10):
    ...         X = rng.standard_normal((100, 50))
    ...         yield X, X[:, :3].sum(axis=1) > 0
    >>> model = ISRHTClassifier(16, random_state=0).fit(RowSource(blocks))
    >>> model.coef_.shape
    (1, 50)
    """

    def __init__(self, blocks, *, progress=None):
        self.progress = progress
        self._array = blocks if _is_matrix(blocks) else None
        self._blocks = _reiterable(blocks)
        self._is_list = isinstance(blocks, list | tuple)
        self._facts = None
        self._passes = 0

    @property
    def shape(self):
        return self._survey().shape

    @property
    def dtype(self):
        return self._survey().dtype

    @property
    def sparse(self):
        return self._survey().sparse

    @property
    def row_nnz(self):
        return self._survey().row_nnz

    @property
    def labels(self):
        if not self._survey().has_labels:
            return None
        return np.concatenate([column_or_1d(y) for *_, y in self._raw(self._blocks)])

    @property
    def coded_labels(self):
        """As :class:`CodedLabels`, or None where the blocks have none."""
        facts = self._survey()
        if facts.fault is not None:
            raise facts.fault
        return facts.labels

    @property
    def header(self):
        """No rows, but the width and the names of the columns."""
        return self._survey().header

    def __getstate__(self):
        """Without what the first pass found, which lies in files of this process."""
        return {**vars(self), "_facts": None}

    def read(self, block_rows):
        facts = self._survey()
        if self._array is not None and not facts.sparse:
            return self._read_slices(block_rows)
        return recut(self._read_again(), block_rows)

    def _read_slices(self, block_rows):
        for _, start, X, _ in self._raw(_Slices(self._array, block_rows)):
            yield self._converted(X)
            self._tell(start + X.shape[0])

    def _read_again(self):
        facts, count = self._facts, 0
        for number, start, X, _ in self._raw(self._blocks):
            with _naming_block(number, start):
                X = self._own(X)
                if X.shape[1] != facts.shape[1]:
                    raise ValueError(f"it has {X.shape[1]} features, but had {facts.shape[1]} when it was first read")
            count = start + X.shape[0]
            if count > facts.shape[0]:
                break
            yield X
            del X
            self._tell(count)
        if count != facts.shape[0]:
            raise ValueError(
                f"the source has changed while it was in use: it had {facts.shape[0]} rows, and now has "
                f"{'more' if count > facts.shape[0] else count}"
            )

    def _own(self, X):
        """The block, converted, in memory that nobody writes to: an iterator may fill one buffer again and again."""
        converted = self._converted(X)
        return converted if self._is_list or not _share_memory(converted, X) else converted.copy()

    def _converted(self, X):
        # int64 and float16 become float64, other sparse formats CSR; finite they were in the first pass.
        X = checked_block(X, ensure_all_finite=False, ensure_min_samples=0)
        return canonical(X).astype(self._facts.dtype, copy=False)

    def _survey(self):
        """The first pass: check every block and learn what can only be known from all of them."""
        if self._facts is None:
            survey = _Survey()
            for number, start, X, y in self._raw(self._blocks):
                with _naming_block(number, start):
                    survey.add(X, y)
                survey.code(y, number, start)
                self._tell(survey.n_samples)
            self._facts = survey.facts()
        return self._facts

    def _raw(self, blocks):
        """Number, first row, X and y of every block that has rows, as they come."""
        self._passes += 1
        number, start = 0, 0
        with _naming_block(0, 0):
            iterator = iter(blocks)
        while True:
            with _naming_block(number, start):
                item = next(iterator, None)
                if item is None:
                    return
                X, y = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
                n_rows = _row_count(X)
            if n_rows:
                yield number, start, X, y
            del X, y, item
            number, start = number + 1, start + n_rows

    def _tell(self, count):
        if self.progress is not None:
            self.progress(self._passes, count, None if self._facts is None else self._facts.shape[0])


class TakenRows(LocalRows):
    """Some rows of others, in their order."""

    def __init__(self, rows, chosen):
        self._rows, self._chosen = rows, np.asarray(chosen)
        self.shape, self.dtype, self.sparse = (len(self._chosen), rows.shape[1]), rows.dtype, rows.sparse

    @property
    def row_nnz(self):
        if not self.sparse:
            return None
        return getattr(self._rows.row_nnz, "array", self._rows.row_nnz)[self._chosen]

    def read(self, block_rows):
        return recut(self._pieces(), block_rows)

    def _pieces(self):
        start = 0
        for part in self._rows.read(min(default_block_rows(self._rows), self._rows.most_rows())):
            first, last = np.searchsorted(self._chosen, [start, start + part.shape[0]])
            if first < last:
                yield part[self._chosen[first:last] - start]
            start += part.shape[0]
            del part

    def finish(self, part):
        return self._rows.finish(part)

    def most_rows(self):
        return self._rows.most_rows()


class MappedRows(LocalRows):
    """Rows that a function of a part changes when they are read. Its ``row_nnz`` are those before."""

    def __init__(self, rows, function, n_features, sparse):
        self._rows, self._function = rows, function
        self.shape, self.dtype, self.sparse = (rows.shape[0], n_features), rows.dtype, sparse
        self.row_nnz = rows.row_nnz

    def most_rows(self):
        return min(super().most_rows(), self._rows.most_rows())

    def read(self, block_rows):
        return self._rows.read(block_rows)

    def finish(self, part):
        return self._function(self._rows.finish(part))


class StoredRows(LocalRows):
    """Dense rows in a temporary file without a name."""

    def __init__(self, n_features, dtype):
        self.shape, self.dtype = (0, n_features), np.dtype(dtype)
        self._file, self._lock = UnnamedFile("projected rows"), threading.Lock()

    def append(self, X):
        self._file.append(X.astype(self.dtype, copy=False))
        self.shape = self.shape[0] + X.shape[0], self.shape[1]

    def read(self, block_rows):
        for start in range(0, self.shape[0], block_rows):
            rows = np.empty((min(block_rows, self.shape[0] - start), self.shape[1]), dtype=self.dtype)
            with self._lock:
                self._file.read_into(rows, start * self.shape[1] * self.dtype.itemsize)
            yield rows

    def close(self):
        self._file.close()


class _Survey:
    """What the first pass gathers."""

    def __init__(self):
        self.n_samples, self.n_features, self.sparse, self.dtype = 0, None, None, np.dtype(np.float32)
        self.header = None
        self.labels, self.row_nnz, self.has_labels, self.fault = Coder(), FileOf(np.int32), False, None

    def add(self, X, y):
        header = X[:0] if hasattr(X, "columns") else None
        X = checked_block(X)
        if self.n_features is None:
            self.n_features, self.sparse, self.header = X.shape[1], sp.issparse(X), header
        elif X.shape[1] != self.n_features:
            raise ValueError(f"it has {X.shape[1]} features, but the blocks before have {self.n_features}")
        elif sp.issparse(X) != self.sparse:
            raise ValueError(f"it is {'sparse' if sp.issparse(X) else 'dense'}, but the blocks before are not")
        elif self.header is not None and header is None:
            raise ValueError("its columns have no names, unlike those of the first block")
        elif self.header is not None and list(header.columns) != list(self.header.columns):
            raise ValueError("its columns have other names, or another order, than those of the first block")
        self._check_labels(X.shape[0], y)
        self.n_samples += X.shape[0]
        self.dtype = np.result_type(self.dtype, X.dtype)
        if self.sparse:
            self.row_nnz.append(np.diff(canonical(X).indptr))

    def _check_labels(self, n_rows, y):
        if self.n_samples and (y is not None) != self.has_labels:
            raise ValueError(f"it has {'no' if y is None else ''} labels, unlike the blocks before")
        if y is None:
            return
        self.has_labels = True
        y = column_or_1d(y, warn=True)
        if len(y) != n_rows:
            raise ValueError(f"it has {n_rows} rows, but {len(y)} labels")

    def code(self, y, number, start):
        """Take up the labels of a block. That they are no classes is a fault only to those who need classes."""
        if y is None or self.fault is not None:
            return
        try:
            with _naming_block(number, start):
                self.labels.add(column_or_1d(y))
        except ValueError as fault:
            self.fault = fault

    def facts(self):
        if self.n_samples == 0:
            raise ValueError("the source has no rows")
        header = np.empty((0, self.n_features)) if self.header is None else self.header
        shape = self.n_samples, self.n_features
        labels = self.labels.result() if self.has_labels and self.fault is None else None
        row_nnz = self.row_nnz.column() if self.sparse else None
        return _Facts(shape, self.dtype, self.sparse, row_nnz, header, self.has_labels, labels, self.fault)


@dataclass(frozen=True)
class _Facts:
    shape: tuple[int, int]
    dtype: np.dtype
    sparse: bool
    row_nnz: FiledColumn | None
    header: Any
    has_labels: bool
    labels: CodedLabels | None
    fault: Exception | None


class _Slices:
    """The rows of a matrix, some at a time; those of a memory map as plain arrays."""

    def __init__(self, X, block_rows=None):
        self.X, self.block_rows = X, default_block_rows(X) if block_rows is None else block_rows

    def __iter__(self):
        for start in range(0, self.X.shape[0], self.block_rows):
            part = self.X[start : start + self.block_rows]
            yield part if sp.issparse(part) else np.asarray(part)


def as_rows(X):
    """X as :class:`Rows` if it is to be read block by block, else None: then it is scikit-learn's to check."""
    if isinstance(X, Rows):
        return X
    if isinstance(X, np.memmap) and _is_matrix(X) and X.size:
        return RowSource(X)
    if _may_be_dask(X):
        from isrht.dask_rows import DaskRows, is_dask

        return DaskRows(X) if is_dask(X) else None
    return None


def _may_be_dask(X):
    """Whether X, or the first in a list, comes from Dask, which is not imported to know it."""
    first = X[0] if isinstance(X, list | tuple) and len(X) else X
    return type(first).__module__.partition(".")[0] in ("dask", "dask_expr")


def validate_rows(estimator, rows, y=None, *, needs_labels=True, reset=True):
    """The labels of the rows, coded, from ``y`` or from the source; set or check the number of features on the way."""
    header = getattr(rows, "header", None)
    header = np.empty((0, rows.shape[1])) if header is None else header
    validate_data(estimator, header, skip_check_array=True, reset=reset)
    if not needs_labels:
        return None
    labels = _coded(rows, y) if y is not None else getattr(rows, "coded_labels", None)
    if labels is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None and the source has no labels"
        )
    return labels


def _coded(rows, y):
    if isinstance(y, CodedLabels):
        return y
    if _may_be_dask(y) and not rows.on_workers:
        raise TypeError("y is in Dask, but the rows are not: give both to Dask, or compute y")
    if not _may_be_dask(y):
        y = column_or_1d(y, warn=True)
        check_consistent_length(rows, y)
        y = part_by_part(y)
    return rows.coded(y) if rows.on_workers else y


@contextmanager
def stored(rows, projections, n_jobs=None):
    """A list of what ``projections`` make of the rows, kept for many passes until the end of the context."""
    kept = rows.store(projections, n_jobs)
    try:
        yield kept
    finally:
        for one in kept:
            one.close()


def _reiterable(blocks):
    if callable(blocks):
        return _Call(blocks)
    if _is_matrix(blocks):
        check_sparse(blocks)
        return _Slices(blocks.tocsr() if sp.issparse(blocks) else blocks)
    if _is_path(blocks) or (isinstance(blocks, list | tuple) and blocks and all(map(_is_path, blocks))):
        from isrht.files import open_rows

        return open_rows(blocks)
    if not hasattr(blocks, "__iter__"):
        raise TypeError(f"RowSource needs an iterable of blocks of rows, got {type(blocks).__name__}")
    if iter(blocks) is blocks:
        raise TypeError(
            f"RowSource reads its blocks many times, but a {type(blocks).__name__} can be iterated only once: "
            "give the function that makes it"
        )
    return blocks


class _Call:
    """Iterated by calling a function anew."""

    def __init__(self, function):
        self.function = function

    def __iter__(self):
        return iter(self.function())


def _is_path(value):
    return isinstance(value, str | os.PathLike)


def _is_matrix(X):
    return sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2)


def _row_count(X):
    if hasattr(X, "shape"):
        if len(X.shape) != 2:
            raise ValueError(f"a block must have two dimensions, got shape {X.shape}")
        return X.shape[0]
    return len(X)


def _share_memory(converted, X):
    if sp.issparse(X):
        parts = [getattr(X, name) for name in ("data", "indices", "indptr") if hasattr(X, name)]
        mine = converted.data, converted.indices, converted.indptr
        return any(np.may_share_memory(one, other) for one in mine for other in parts)
    return np.may_share_memory(converted, X) if isinstance(X, np.ndarray) else True


def canonical(X):
    """Sparse rows without duplicate entries."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return sp.csr_array(X) if sp.issparse(X) else X


@contextmanager
def _naming_block(number, start):
    """Let errors say which block they come from."""
    try:
        yield
    except FileError:  # names the file, and the line
        raise
    except OSError as error:
        raise OSError(f"block {number} (from row {start}): {error}") from error
    except MemoryError:
        raise
    except Exception as error:  # a damaged file may raise anything
        raise ValueError(f"block {number} (from row {start}): {error}") from error
