"""Rows that were dear to read, kept for all passes after the first: one long array, or one long CSR matrix, in files.

Any consecutive rows are then slices of mapped files, which cost no copy and no parsing, and threads share the reading.
"""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import scipy.sparse as sp

from isrht.support.block_cache import Room
from isrht.support.spill_file import SpillFile
from isrht.support.threads import Task, lent_threads


@contextmanager
def kept_behind(kept, workers):
    """Yield a function that keeps a block: where threads may be had, one of them writes it while the next is read.

    Parameters
    ----------
    kept : KeptRows or None
        None keeps nothing.
    workers : int
    """
    if kept is None or workers == 1:
        yield _forgotten if kept is None else kept.append
        return
    under_way = Task(_forgotten, None)
    under_way.run()
    with lent_threads(1) as crew:

        def append(X):
            nonlocal under_way
            under_way.result()  # no more than one block waits for the disk
            under_way = Task(kept.append, X)
            crew.let(under_way.run)

        try:
            yield append
            under_way.result()
        finally:
            under_way.take_back()


def _forgotten(X):
    """Keep nothing of a block."""


class KeptRows:
    """Rows that the first pass keeps, block by block.

    Parameters
    ----------
    limit : int or None
        How many bytes may be kept; None is as many as the disk has room for.
    """

    def __init__(self, limit):
        self._room, self._dtype, self._files, self._lengths = Room(limit), None, None, None
        self._width, self._ends, self._arrays = None, 0, None

    def append(self, X):
        """Keep a block, which is an array or CSR matrix without duplicates, if there is room for it."""
        if self._room.given_up:
            return
        if self._dtype is not None and np.can_cast(X.dtype, self._dtype):
            X = X.astype(self._dtype, copy=False)
        parts = self._parts(X)
        if self._files is None:
            self._dtype, self._width = X.dtype, X.shape[1]
            self._files = [SpillFile("rows that were read") for _ in parts]
            self._lengths, self._types = [0] * len(parts), [part.dtype for part in parts]
        if [part.dtype for part in parts] != self._types:
            self._room.give_up("their blocks have different types")
        for i, (file, part) in enumerate(zip(self._files, parts, strict=True)):
            if not self._room.append(file, part):
                self.close()
                return
            self._lengths[i] += part.size

    def _parts(self, X):
        if not sp.issparse(X):
            return [np.ascontiguousarray(X)]
        ends = X.indptr[1:].astype(np.int64) + self._ends
        self._ends = int(ends[-1]) if len(ends) else self._ends
        small = X.shape[1] <= np.iinfo(np.int32).max
        return [X.data, X.indices.astype(np.int32 if small else np.int64, copy=False), ends]

    def finish(self):
        """Say whether all rows were kept, after the last of them."""
        if self._room.given_up or self._files is None:
            return False
        lengths = zip(self._files, self._types, self._lengths, strict=True)
        self._arrays = [file.mapped(dtype, (length,)) for file, dtype, length in lengths]
        return True

    def rows(self, start, stop):
        """Return consecutive rows, as a view."""
        if len(self._arrays) == 1:
            width = self._width
            return self._arrays[0][start * width : stop * width].reshape(stop - start, width)
        data, indices, ends = self._arrays
        first = int(ends[start - 1]) if start else 0
        indptr = np.empty(stop - start + 1, dtype=indices.dtype if ends[stop - 1] - first < 2**31 else np.int64)
        indptr[0] = 0
        np.subtract(ends[start:stop], first, out=indptr[1:], casting="unsafe")
        view = sp.csr_array((stop - start, self._width), dtype=self._dtype)
        last = first + int(indptr[-1])
        view.data, view.indices, view.indptr = data[first:last], indices[first:last], indptr
        view.has_canonical_format = True
        return view

    def close(self):
        """Let the files vanish."""
        self._arrays = None
        for file in self._files or []:
            file.close()
