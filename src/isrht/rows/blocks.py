"""One view of anything that is made of rows, and the one loop over it.

All that training needs of the data is a sum over rows: column statistics, ``X.T @ g``, a gradient, a
Hessian. Every algorithm of the package is therefore a function of one :class:`Block`, and
:meth:`RowBlocks.sum` adds its results. Partial sums are always added in block order, however many threads
computed them, so the number of workers never changes a bit of the result.

The rows are those of an array or CSR matrix, or :class:`RowsElsewhere`: what is read anew in every pass
(:mod:`isrht.rows.sources`) or lies on the workers of a cluster (:mod:`isrht.rows.dask.rows`). Whatever pieces they come
in, they are cut into the blocks that the same rows would have in memory, so the sums have the same order.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from isrht.support.matrices import BLOCK_ELEMENTS, rows_of
from isrht.support.threads import job_count

# Values of a block that had to be read: 16 MB of float64, however large a block of rows in memory may be.
READ_ELEMENTS = 2**21


@dataclass(frozen=True)
class Block:
    """Consecutive rows: ``X`` (2-D array or CSR), and their labels and weights where there are any."""

    start: int
    X: Any
    y: np.ndarray | None = None
    sample_weight: np.ndarray | None = None

    @property
    def stop(self):
        return self.start + self.X.shape[0]

    @property
    def rows(self):
        return slice(self.start, self.stop)


class RowsElsewhere:
    """Rows that are not in memory. A subclass has the shape and the like, and reads parts of consecutive rows.

    ``nnz`` are the stored values and ``pairs`` half the sum of their squared numbers per row, both for sparse rows.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    sparse = False
    nnz = 0
    pairs = 0.0
    # Whether the rows are summed where they lie, by ``sum_on_workers``, instead of being read here.
    on_workers = False

    def read(self, block_rows):
        """Yield all rows in order, ``block_rows`` at a time (fewer in the last part)."""
        raise NotImplementedError

    def finish(self, part):
        """Turn a part that was read into an array or CSR array: the work that threads can share."""
        return part

    def take(self, rows):
        """The rows of these indices, which ascend and may repeat."""
        raise NotImplementedError

    def map(self, function, n_features=None, sparse=None):
        """``function`` of a part, row by row: scaled, sketched or projected when it is read."""
        raise NotImplementedError

    def most_rows(self):
        """How many may be read at once: at least a few, which weigh no more than the totals of two classes."""
        return max(8, default_block_rows(self, READ_ELEMENTS))


class RowBlocks:
    """Rows with labels and weights, or any two arrays that have a row each, in blocks that can be read many times.

    ``block_rows`` depends only on the data unless it is given, never on the number of workers.
    """

    def __init__(self, X, y=None, sample_weight=None, *, block_rows=None):
        self.X = X
        self.y = y
        self.sample_weight = sample_weight
        self.block_rows = default_block_rows(X) if block_rows is None else block_rows
        if isinstance(X, RowsElsewhere):
            self.block_rows = min(self.block_rows, X.most_rows())

    @property
    def n_samples(self):
        return self.X.shape[0]

    @property
    def n_features(self):
        return self.X.shape[1]

    def __iter__(self):
        for start, part in self._parts():
            block = self._block(start, part)
            yield block
            del block, part  # a block is gone before the next one is read; so it is in the other loops

    def sum(self, function, n_jobs=None):
        """Add ``function(block)`` over the blocks, in block order.

        It returns an array, or a tuple of arrays that share no memory: the first ones take up the sums.
        """
        if getattr(self.X, "on_workers", False):
            return self.X.sum_on_workers(function, self)
        total = None
        for partial in self.map(function, n_jobs):
            total = partial if total is None else add(total, partial)
        return total

    def map(self, function, n_jobs=None):
        """Yield ``function(block)`` in block order; at most one block per worker is under way."""
        workers = job_count(n_jobs)
        if workers == 1 or self.n_samples <= self.block_rows:
            yield from map(function, self)
            return
        with ThreadPoolExecutor(workers) as pool:
            under_way = deque()
            for start, part in self._parts():
                if len(under_way) == workers:
                    yield under_way.popleft().result()
                under_way.append(pool.submit(lambda start, part: function(self._block(start, part)), start, part))
                del part
            while under_way:
                yield under_way.popleft().result()

    def _parts(self):
        if isinstance(self.X, RowsElsewhere):
            start = 0
            for part in self.X.read(self.block_rows):
                yield start, part
                start += part.shape[0]
                del part
            return
        for start in range(0, self.n_samples, self.block_rows):
            yield start, rows_of(self.X, slice(start, min(start + self.block_rows, self.n_samples)))

    def _block(self, start, part):
        X = self.X.finish(part) if isinstance(self.X, RowsElsewhere) else part
        rows = slice(start, start + part.shape[0])
        return Block(start, X, _take(self.y, rows), _take(self.sample_weight, rows))


def is_sparse(X):
    return X.sparse if isinstance(X, RowsElsewhere) else sp.issparse(X)


def pairs_of(X):
    """Half the sum over sparse rows of the square of their number of nonzeros."""
    if isinstance(X, RowsElsewhere):
        return X.pairs
    per_row = np.diff(X.indptr).astype(np.float64)
    return float(per_row @ per_row) / 2


def take_rows(X, rows):
    """The chosen rows: a copy of those of an array, a view of :class:`RowsElsewhere`."""
    return X.take(rows) if isinstance(X, RowsElsewhere) else X[rows]


def recut(pieces, block_rows):
    """Consecutive rows in parts of ``block_rows``, whatever pieces they come in."""
    part = None
    for piece in pieces:
        start, size = 0, piece.shape[0]
        while start < size:
            if part is None and size - start >= block_rows:
                yield rows_of(piece, slice(start, start + block_rows))
                start += block_rows
                continue
            part = _new_part(piece, block_rows) if part is None else part
            stop = min(size, start + block_rows - part.count)
            part.add(rows_of(piece, slice(start, stop)))
            start = stop
            if part.count == block_rows:
                yield part.pop()
                part = None
        del piece
    if part is not None:
        yield part.pop()


def _new_part(piece, block_rows):
    return _SparsePart() if sp.issparse(piece) else _DensePart(block_rows, piece)


class _DensePart:
    """Rows gathered in one array, so that they never are in memory twice."""

    def __init__(self, block_rows, piece):
        self.rows, self.count = np.empty((block_rows, piece.shape[1]), dtype=piece.dtype), 0

    def add(self, piece):
        self.rows[self.count : self.count + len(piece)] = piece
        self.count += len(piece)

    def pop(self):
        rows, self.rows = self.rows[: self.count], None
        return rows


class _SparsePart:
    def __init__(self):
        self.pieces, self.count = [], 0

    def add(self, piece):
        self.pieces.append(piece)
        self.count += piece.shape[0]

    def pop(self):
        pieces, self.pieces = self.pieces, None
        return sp.vstack(pieces, format="csr") if len(pieces) > 1 else pieces[0]


def default_block_rows(X, elements=BLOCK_ELEMENTS):
    """As many rows as make up so many stored values."""
    stored = X.nnz if is_sparse(X) else X.shape[0] * X.shape[1]
    per_row = max(1, stored // max(1, X.shape[0]))
    return max(1, elements // per_row)


def _take(values, rows):
    return None if values is None else values[rows]


def add(total, partial):
    """``total + partial``, in place where total is an array; tuples part by part."""
    if isinstance(total, tuple):
        return tuple(add(left, right) for left, right in zip(total, partial, strict=True))
    if isinstance(total, np.ndarray):
        total += partial
        return total
    return total + partial
