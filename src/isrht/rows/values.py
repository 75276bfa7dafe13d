"""Values of rows (a row's class, its weight, its fold), kept where the rows are.

For rows in memory they are an array. For rows that are read from files they are :class:`RowValues`: a temporary file
without a name, of which a part is read with the rows it belongs to. On a Dask cluster the workers that have the rows
have their values, too (:class:`isrht.rows.dask.values.DaskRowValues`). Values that follow from others row by row are
computed anew for every block, and what an algorithm wants to know of all of them is a sum over rows. So nothing here
takes memory per row.

The functions below take arrays and :class:`RowValues` alike, so that an algorithm need not know where its rows are.
With arrays alone they are plain calls.
"""

from __future__ import annotations

import numpy as np

from isrht.rows.blocks import add
from isrht.support.spill_file import SpillFile

# The values of so many rows are in memory at once.
AT_ONCE = 2**16


class RowValues:
    """Values that are not in memory: one for each row, of shape (n_samples,), or several, (n_samples, width)."""

    shape: tuple[int, ...]

    @property
    def ndim(self):
        """1 where every row has one value, 2 where it has several."""
        return len(self.shape)

    def __len__(self):
        return self.shape[0]


def derived(function, *values, width=None):
    """Return ``function(*values)``, which works row by row: computed now from arrays, else when it is needed.

    Parameters
    ----------
    function : callable
        It takes the values of some rows, and returns an array of as many rows.
    *values : array, RowValues or None
        The function is given None as it is.
    width : int, default=None
        How many values the function returns for each row; None where it returns an array of one dimension.

    Returns
    -------
    array or RowValues
    """
    elsewhere = _elsewhere(values)
    return function(*values) if elsewhere is None else elsewhere.derived(function, values, width)


def total(function, *values):
    """Return the sum over all rows of what ``function`` makes of some rows: an array, or a tuple of arrays.

    Parameters
    ----------
    function : callable
        It takes the values of some rows, and returns their sum.
    *values : array, RowValues or None
    """
    elsewhere = _elsewhere(values)
    return function(*values) if elsewhere is None else elsewhere.total(function, values)


def class_totals(codes, weights, n_classes):
    """Return the weight of every class, or the number of its rows if ``weights`` is None.

    Rows whose code is ``n_classes`` or more belong to no class, and are left out.
    """

    def of_part(codes, weights):
        return np.bincount(codes, weights, minlength=n_classes)[:n_classes].astype(np.float64)

    return total(of_part, codes, weights)


def by_rank(function, codes, n_classes):
    """Return ``function(codes, ranks)``, which works row by row, computed once and kept where the rows are.

    The rank of a row is the number of rows of its class that come before it.
    """
    if isinstance(codes, RowValues):
        return codes.by_rank(function, n_classes)
    return np.concatenate([function(*part) for part in _ranked(codes, n_classes)])


def rows_by_rank(function, codes, n_classes):
    """Return the numbers of the rows for which ``function(codes, ranks)`` is true, in memory: for few of many rows."""
    if isinstance(codes, RowValues):
        return codes.rows_by_rank(function, n_classes)
    return np.flatnonzero(by_rank(function, codes, n_classes))


def gathered(values):
    """Return the values of all rows as an array in memory, for functions of users that take nothing else."""
    return values.gathered() if isinstance(values, RowValues) else values


def ranks(codes, before):
    """Return the rank of each row in its class, where ``before`` counts the rows of each class that came earlier."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.searchsorted(ordered, np.arange(len(before)))
    found = np.empty(len(codes), dtype=np.int64)
    found[order] = np.arange(len(codes)) - starts[ordered] + before[ordered]
    return found


def _ranked(codes, n_classes):
    """Yield the codes and ranks of some rows at a time."""
    before = np.zeros(n_classes + 1, dtype=np.int64)
    for rows in _slices(codes):
        part = codes[rows]
        yield part, ranks(part, before)
        before += np.bincount(part, minlength=len(before))


def _slices(values):
    return (slice(start, min(start + AT_ONCE, len(values))) for start in range(0, len(values), AT_ONCE))


def _elsewhere(values):
    """Return those of several values that say where all of them are, or None if all are in memory.

    Where rows are on workers, their values are on workers, whatever the other values are.
    """
    found = [some for some in values if isinstance(some, RowValues)]
    return next((some for some in found if not isinstance(some, LocalRowValues)), found[0] if found else None)


class LocalRowValues(RowValues):
    """Values that this process can read: ``values[start:stop]`` is an array."""

    def __getitem__(self, rows):
        raise NotImplementedError

    def derived(self, function, values, width=None):
        """Return what a function makes of these and other values, computed whenever it is read."""
        return DerivedRowValues(function, values, (len(self),) if width is None else (len(self), width))

    def total(self, function, values):
        """Return the sum over all rows of what a function makes of these and other values."""
        result = None
        for rows in _slices(self):
            part = function(*_parts(values, rows))
            result = part if result is None else add(result, part)
        return result

    def by_rank(self, function, n_classes):
        """Return what a function makes of these codes and the ranks of their rows, kept in a file."""
        kept = None
        for part in _ranked(self, n_classes):
            values = function(*part)
            kept = RowValuesFile(values.dtype) if kept is None else kept
            kept.append(values)
        return kept.finished()

    def rows_by_rank(self, function, n_classes):
        """Return the numbers of the rows for which a function of these codes and the ranks of rows is true."""
        parts = zip(range(0, len(self), AT_ONCE), _ranked(self, n_classes), strict=True)
        return np.concatenate([start + np.flatnonzero(function(*part)) for start, part in parts])

    def gathered(self):
        """Return the values of all rows as an array in memory."""
        return np.concatenate([self[rows] for rows in _slices(self)])


class FiledRowValues(LocalRowValues):
    """Values in a file without a name; ``array`` is that file, mapped into memory."""

    def __init__(self, file, array):
        self._file, self.array, self.shape = file, array, array.shape

    def __getitem__(self, rows):
        return np.array(self.array[rows])


class RowValuesFile:
    """The file of :class:`FiledRowValues` while it is being written."""

    def __init__(self, dtype):
        self._file, self._dtype, self._count = SpillFile("values of the rows"), np.dtype(dtype), 0

    def append(self, values):
        """Add the values of the next rows."""
        self._file.append(values.astype(self._dtype, copy=False))
        self._count += len(values)

    def finished(self):
        """Return the values of all rows that were added."""
        return FiledRowValues(self._file, self._file.mapped(self._dtype, (self._count,)))


class DerivedRowValues(LocalRowValues):
    """What a function makes of other values, some of which may be arrays, computed whenever it is read."""

    def __init__(self, function, values, shape):
        self._function, self._values, self.shape = function, values, shape

    def __getitem__(self, rows):
        return self._function(*_parts(self._values, rows))


def _parts(values, rows):
    return [None if some is None else some[rows] for some in values]
