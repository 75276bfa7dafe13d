"""One small value per row (its class, its weight, its fold), kept where the rows are.

For rows in memory that is an array. For rows that are read from files it is a :class:`RowValues`: a temporary file without
a name, of which a block is read with the rows it belongs to; on a Dask cluster the workers have it
(:class:`isrht.rows.dask.values.DaskRowValues`). What follows from such values row by row is computed anew for every block, and
what is wanted of all of them is a sum over rows, so nothing here takes memory per row.

The functions below take arrays and columns alike, so that an algorithm need not know where its rows are. With arrays
alone they are plain calls.
"""

from __future__ import annotations

import numpy as np

from isrht.rows.blocks import add
from isrht.support.spill_file import SpillFile

# Rows that are worked on at once.
AT_ONCE = 2**16


class RowValues:
    """Values of shape ``(n_samples,)`` or ``(n_samples, width)`` that are not in memory."""

    shape: tuple[int, ...]

    @property
    def ndim(self):
        return len(self.shape)

    def __len__(self):
        return self.shape[0]


def derived(function, *columns, width=None):
    """``function(*columns)`` row by row, a value per row or ``width`` of them: of arrays now, else when it is needed.

    A column may be None, which the function gets as it is.
    """
    elsewhere = _elsewhere(columns)
    return function(*columns) if elsewhere is None else elsewhere.derived(function, columns, width)


def total(function, *columns):
    """The sum of ``function`` of some rows over all rows: an array, or a tuple of arrays."""
    elsewhere = _elsewhere(columns)
    return function(*columns) if elsewhere is None else elsewhere.total(function, columns)


def class_totals(codes, weights, n_classes):
    """The weight of every class, or the number of its rows if ``weights`` is None. Other codes are left out."""

    def of_part(codes, weights):
        return np.bincount(codes, weights, minlength=n_classes)[:n_classes].astype(np.float64)

    return total(of_part, codes, weights)


def by_rank(function, codes, n_classes):
    """``function(codes, ranks)`` row by row, kept: a row's rank is the number of rows of its class before it."""
    if isinstance(codes, RowValues):
        return codes.by_rank(function, n_classes)
    return np.concatenate([function(*part) for part in _ranked(codes, n_classes)])


def rows_by_rank(function, codes, n_classes):
    """The numbers of the rows for which ``function(codes, ranks)`` is true, as an array: for few of many."""
    if isinstance(codes, RowValues):
        return codes.rows_by_rank(function, n_classes)
    return np.flatnonzero(by_rank(function, codes, n_classes))


def gathered(column):
    """All of it, as an array in memory: for users' functions that take nothing else."""
    return column.gathered() if isinstance(column, RowValues) else column


def ranks(codes, before):
    """The rank of each row in its class, where ``before`` counts the rows of each class that came before these."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.searchsorted(ordered, np.arange(len(before)))
    found = np.empty(len(codes), dtype=np.int64)
    found[order] = np.arange(len(codes)) - starts[ordered] + before[ordered]
    return found


def _ranked(codes, n_classes):
    """Codes and ranks of some rows at a time."""
    before = np.zeros(n_classes + 1, dtype=np.int64)
    for rows in _slices(codes):
        part = codes[rows]
        yield part, ranks(part, before)
        before += np.bincount(part, minlength=len(before))


def _slices(column):
    return (slice(start, min(start + AT_ONCE, len(column))) for start in range(0, len(column), AT_ONCE))


def _elsewhere(columns):
    """The one that says where columns are: rows on workers have columns on workers."""
    found = [column for column in columns if isinstance(column, RowValues)]
    return next((column for column in found if not isinstance(column, LocalRowValues)), found[0] if found else None)


class LocalRowValues(RowValues):
    """What this process can read: ``column[start:stop]`` is an array."""

    def __getitem__(self, rows):
        raise NotImplementedError

    def derived(self, function, columns, width=None):
        return DerivedRowValues(function, columns, (len(self),) if width is None else (len(self), width))

    def total(self, function, columns):
        result = None
        for rows in _slices(self):
            part = function(*_parts(columns, rows))
            result = part if result is None else add(result, part)
        return result

    def by_rank(self, function, n_classes):
        kept = None
        for part in _ranked(self, n_classes):
            values = function(*part)
            kept = RowValuesFile(values.dtype) if kept is None else kept
            kept.append(values)
        return kept.finished()

    def rows_by_rank(self, function, n_classes):
        parts = zip(range(0, len(self), AT_ONCE), _ranked(self, n_classes), strict=True)
        return np.concatenate([start + np.flatnonzero(function(*part)) for start, part in parts])

    def gathered(self):
        return np.concatenate([self[rows] for rows in _slices(self)])


class FiledRowValues(LocalRowValues):
    """Values in a file without a name. ``array`` is that file, mapped."""

    def __init__(self, file, array):
        self._file, self.array, self.shape = file, array, array.shape

    def __getitem__(self, rows):
        return np.array(self.array[rows])


class RowValuesFile:
    """A :class:`FiledRowValues` that is still being written."""

    def __init__(self, dtype):
        self._file, self._dtype, self._count = SpillFile("values of the rows"), np.dtype(dtype), 0

    def append(self, values):
        self._file.append(values.astype(self._dtype, copy=False))
        self._count += len(values)

    def finished(self):
        return FiledRowValues(self._file, self._file.mapped(self._dtype, (self._count,)))


class DerivedRowValues(LocalRowValues):
    """A function of other columns, some of which may be arrays."""

    def __init__(self, function, columns, shape):
        self._function, self._columns, self.shape = function, columns, shape

    def __getitem__(self, rows):
        return self._function(*_parts(self._columns, rows))


def _parts(columns, rows):
    return [None if column is None else column[rows] for column in columns]
