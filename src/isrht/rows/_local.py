"""Rows that this process reads, part by part, and what is derived from them: chosen, changed or stored rows.

What is derived is as lazy as the rows themselves: some of the rows, or all of them as a function changes them, are made
whenever they are read. Only projected rows, which are narrow and are passed over many times, are stored, in a temporary
file that has no name (:mod:`isrht.support.spill_file`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from isrht.rows._kept import KeptRows
from isrht.rows._recut import recut
from isrht.rows.blocks import RowBlocks, RowsElsewhere, default_block_rows, is_finite, naming_change
from isrht.rows.values import total
from isrht.support.spill_file import SpillFile


class LocalRows(RowsElsewhere):
    """Rows that this process reads. ``row_nnz`` (array or RowValues) counts the stored values of each sparse row."""

    row_nnz = None

    @property
    def nnz(self):
        """The number of stored values: of dense rows all values are stored."""
        return self._nnz_and_pairs[0] if self.sparse else self.shape[0] * self.shape[1]

    @property
    def pairs(self):
        """Half the sum, over sparse rows, of the square of a row's number of stored values."""
        return self._nnz_and_pairs[1]

    @cached_property
    def _nnz_and_pairs(self):
        def of_part(row_nnz):
            sizes = row_nnz.astype(np.float64)
            return np.array([sizes.sum(), np.square(sizes).sum() / 2])

        nnz, pairs = total(of_part, self.row_nnz)
        return int(nnz), float(pairs)

    def take(self, rows):
        """Return the rows of these numbers, which ascend and may repeat."""
        return TakenRows(self, rows)

    def map(self, function, n_features=None, sparse=None):
        """Return the rows as ``function`` changes them whenever they are read."""
        n_features = self.shape[1] if n_features is None else n_features
        return MappedRows(self, function, n_features, self.sparse if sparse is None else sparse)

    def store(self, projections, n_jobs=None):
        """Keep what several projections make of the rows in temporary files, all in one pass.

        Parameters
        ----------
        projections : list of (callable, int)
            Each turns an array or CSR array into a dense array of so many columns.
        n_jobs : int, default=None
            Threads, as in scikit-learn.

        Returns
        -------
        list of StoredRows
            One for each projection. Whoever asked for them closes them.
        """
        together = self.map(lambda X: [project(X) for project, _ in projections], sum(r for _, r in projections), False)
        stores = [StoredRows((self.shape[0], n_features), self.dtype) for _, n_features in projections]

        def keep(block):
            for stored, part in zip(stores, block.X, strict=True):
                if self.may_change and not is_finite(part):
                    raise ValueError("what was made of some rows is not finite")
                stored.put(block.start, part)

        try:
            with naming_change(self):
                for _ in RowBlocks(together).map(keep, n_jobs):
                    pass
        except BaseException:
            for stored in stores:
                stored.close()
            raise
        return stores

    def collect(self, function, n_jobs=None):
        """Return ``function`` of all rows as one array in memory: for what is as small as one label per row."""
        out = None
        results = RowBlocks(self).map(lambda block: (block.rows, function(block.X)), n_jobs)
        with naming_change(self):
            for rows, values in results:
                if out is None:
                    out = np.empty((self.shape[0], *values.shape[1:]), dtype=values.dtype)
                out[rows] = values
        return out


class DerivedRows(LocalRows):
    """Rows that are made of other rows, ``self._rows``."""

    @property
    def may_change(self):
        """Whether other rows may come in a later pass than in the first."""
        return self._rows.may_change

    def refuse_changed(self):
        """Raise an error that names the block, if some of the other rows are not finite any more."""
        self._rows.refuse_changed()


class TakenRows(DerivedRows):
    """Some of other rows, in the same order."""

    def __init__(self, rows, chosen):
        self._rows, self._chosen = rows, np.asarray(chosen)
        self.shape, self.dtype, self.sparse = (len(self._chosen), rows.shape[1]), rows.dtype, rows.sparse

    @property
    def row_nnz(self):
        """The number of stored values of each row, of sparse rows."""
        if not self.sparse:
            return None
        return getattr(self._rows.row_nnz, "array", self._rows.row_nnz)[self._chosen]

    def read(self, block_rows):
        """Yield the chosen rows in order; all rows are read for them."""
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
        """Turn a part that was read into an array or CSR array."""
        return self._rows.finish(part)

    def most_rows(self):
        """Return how many rows may be read at once."""
        return self._rows.most_rows()

    def for_many_passes(self):
        """Return the same rows in a temporary file, if the disk has room for them, so that not all rows are read."""
        kept = KeptRows(None)
        for block in RowBlocks(self):
            kept.append(block.X)
            del block
        return SlicedRows(self, kept) if kept.finish() else self


class MappedRows(DerivedRows):
    """Rows that a function changes when they are read. ``row_nnz`` counts the stored values before the change."""

    def __init__(self, rows, function, n_features, sparse):
        self._rows, self._function = rows, function
        self.shape, self.dtype, self.sparse = (rows.shape[0], n_features), rows.dtype, sparse
        self.row_nnz = rows.row_nnz

    def most_rows(self):
        """Return how many rows may be read at once: neither they nor what becomes of them may be too large."""
        return min(super().most_rows(), self._rows.most_rows())

    def read(self, block_rows):
        """Yield all rows as they were before the change, which :meth:`finish` makes."""
        return self._rows.read(block_rows)

    def read_parts(self, block_rows):
        """Yield all rows as :meth:`read` does, and ``PAUSE`` where those who made them want them back."""
        return self._rows.read_parts(block_rows)

    def finish(self, part):
        """Change the rows of a part that was read."""
        return self._function(self._rows.finish(part))


class StoredRows(LocalRows):
    """Dense rows in a temporary file without a name, which vanishes when it is closed or forgotten."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, np.dtype(dtype)
        self._file, self._mapped = SpillFile("projected rows"), None

    def put(self, start, X):
        """Set consecutive rows, the first of which has the number ``start``. Threads may set different rows at once."""
        self._file.write_at(X.astype(self.dtype, copy=False), start * self.shape[1] * self.dtype.itemsize)

    def read(self, block_rows):
        """Yield all rows in order, ``block_rows`` at a time (fewer in the last part), as slices of mapped memory."""
        if self._mapped is None:
            self._mapped = self._file.mapped(self.dtype, self.shape)
        for start in range(0, self.shape[0], block_rows):
            yield self._mapped[start : min(start + block_rows, self.shape[0])]

    def close(self):
        """Let the file vanish."""
        self._mapped = None
        self._file.close()


class SlicedRows(DerivedRows):
    """Other rows in a temporary file that is mapped into memory, of which any part is a slice."""

    def __init__(self, rows, kept):
        self._rows = rows
        self.shape, self.dtype, self.sparse, self.row_nnz = rows.shape, rows.dtype, rows.sparse, rows.row_nnz
        self._kept = kept

    def read(self, block_rows):
        """Yield all rows in order, ``block_rows`` at a time (fewer in the last part)."""
        for start in range(0, self.shape[0], block_rows):
            yield self._kept.rows(start, min(start + block_rows, self.shape[0]))
