"""One view of anything that is made of rows, and the one loop over it.

All that training needs of the data is a sum over rows: column statistics, ``X.T @ g``, a gradient, a
Hessian. Every algorithm of the package is therefore a function of one :class:`Block`, and
:meth:`RowBlocks.sum` adds its results. Partial sums are always added in block order, however many threads
computed them, so the number of workers never changes a bit of the result.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp

# Elements of one dense block: 4 MB of float64, which stays in the outer cache while it is worked on.
BLOCK_ELEMENTS = 2**19


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


class RowBlocks:
    """The rows of an array or CSR matrix, with labels and weights, in blocks that can be read many times.

    ``block_rows`` depends only on the data unless it is given, never on the number of workers.
    """

    def __init__(self, X, y=None, sample_weight=None, *, block_rows=None):
        self.X = X
        self.y = y
        self.sample_weight = sample_weight
        self.block_rows = default_block_rows(X) if block_rows is None else block_rows

    @property
    def n_samples(self):
        return self.X.shape[0]

    @property
    def n_features(self):
        return self.X.shape[1]

    def __iter__(self):
        for start in range(0, self.n_samples, self.block_rows):
            rows = slice(start, min(start + self.block_rows, self.n_samples))
            yield Block(start, rows_of(self.X, rows), _take(self.y, rows), _take(self.sample_weight, rows))

    def sum(self, function, n_jobs=None):
        """Add ``function(block)`` over the blocks, in block order.

        It returns an array, or a tuple of arrays that share no memory: the first ones take up the sums.
        """
        total = None
        for partial in self.map(function, n_jobs):
            total = partial if total is None else _add(total, partial)
        return total

    def map(self, function, n_jobs=None):
        """Yield ``function(block)`` in block order; at most one block per worker is under way."""
        workers = job_count(n_jobs)
        if workers == 1 or self.n_samples <= self.block_rows:
            yield from map(function, self)
            return
        with ThreadPoolExecutor(workers) as pool:
            under_way = deque()
            for block in self:
                if len(under_way) == workers:
                    yield under_way.popleft().result()
                under_way.append(pool.submit(function, block))
            while under_way:
                yield under_way.popleft().result()


def default_block_rows(X):
    """As many rows as make up ``BLOCK_ELEMENTS`` stored values."""
    stored = X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1]
    per_row = max(1, stored // max(1, X.shape[0]))
    return max(1, BLOCK_ELEMENTS // per_row)


def rows_of(X, rows):
    """Consecutive rows of X as a view: slicing a CSR matrix by SciPy copies them."""
    if not sp.issparse(X):
        return X[rows]
    first, last = X.indptr[rows.start], X.indptr[rows.stop]
    indptr = X.indptr[rows.start : rows.stop + 1] - first
    view = X.__class__((rows.stop - rows.start, X.shape[1]), dtype=X.dtype)
    view.data, view.indices, view.indptr = X.data[first:last], X.indices[first:last], indptr
    return view


def worker_count(workers):
    """The number of threads meant by ``workers``, as :func:`scipy.fft.fft` reads it."""
    if workers is None:
        return 1
    cores = joblib.cpu_count()
    count = cores + 1 + workers if workers < 0 else workers
    if count < 1:
        raise ValueError(
            f"workers must be positive, or from -1 to -{cores} to count back from all cores, got {workers}"
        )
    return count


def job_count(n_jobs):
    """The number of threads meant by ``n_jobs``, as scikit-learn reads it.

    Not ``joblib.effective_n_jobs``: within a process of a pool it would forbid processes, and these are threads.
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: use a positive number, -1 for all cores, or None for one")
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


def _take(values, rows):
    return None if values is None else values[rows]


def _add(total, partial):
    if isinstance(total, tuple):
        return tuple(_add(left, right) for left, right in zip(total, partial, strict=True))
    if isinstance(total, np.ndarray):
        total += partial
        return total
    return total + partial
