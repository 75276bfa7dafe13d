"""Rows in blocks, and the one loop over them: every algorithm here is a sum over blocks of rows.

All that training needs of the data is a sum over rows: column statistics, ``X.T @ g``, a gradient, a Hessian. Every
algorithm of the package is therefore a function of one :class:`Block`, and :meth:`RowBlocks.sum` adds its results.
Partial sums are always added in the order of the blocks, however many threads computed them, so the number of threads
never changes a bit of the result.

The rows are an array, a CSR matrix, or :class:`RowsElsewhere`: rows that are read anew in every pass
(:mod:`isrht.rows.sources`), or that lie on the workers of a cluster (:mod:`isrht.rows.dask.rows`). Whatever pieces they
come in, they are cut into the blocks that the same rows would have in memory, so the sums have the same order.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from isrht.support.matrices import BLOCK_ELEMENTS, rows_of
from isrht.support.progress import pass_over_rows
from isrht.support.threads import PAUSE, job_count, stream_in_threads

# A block that had to be read has at most this many values, 16 MB of float64, however large a block in memory may be.
READ_ELEMENTS = 2**21
CHANGED = "the source has changed while it was in use"


@dataclass(frozen=True)
class Block:
    """Some consecutive rows, and what belongs to them.

    Parameters
    ----------
    start : int
        The number of the first row.
    X : ndarray or CSR matrix
    y : ndarray or None
        The class of each row.
    sample_weight : ndarray or None
        The weight of each row, or its weights in several folds.
    values : anything that has rows, or None
        Whatever else belongs to these rows: what boosting has learned of them, say.
    """

    start: int
    X: Any
    y: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    values: Any = None

    @property
    def stop(self):
        """The number of the row after the last one."""
        return self.start + self.X.shape[0]

    @property
    def rows(self):
        """The numbers of the rows, as a slice."""
        return slice(self.start, self.stop)


class RowsElsewhere:
    """Rows that are not in memory. Subclasses say what shape they have and how parts of them are read.

    ``nnz`` counts the stored values of sparse rows. ``pairs`` is half the sum, over sparse rows, of the square of a
    row's number of stored values: about as many pairs of values as lie in one row.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    sparse = False
    nnz = 0
    pairs = 0.0
    # Whether other rows may come in a later pass than in the first, which found all of them finite.
    may_change = False
    # Whether the rows are summed where they lie, by ``send`` and ``sum_on_workers``, instead of being read here.
    on_workers = False

    def survey(self, n_jobs=None):
        """Learn now, by several threads, what would else be learnt when it is first asked for."""

    def held(self):
        """Return all rows as an array or CSR array, if a fit is to hold them in memory; None if it is not."""

    def refuse_changed(self):
        """Raise an error that names the block, if some rows are not finite any more; one more pass looks for them."""

    def read(self, block_rows):
        """Yield all rows in order, ``block_rows`` at a time (fewer in the last part)."""
        raise NotImplementedError

    def read_parts(self, block_rows):
        """Yield all rows as :meth:`read` does, and ``PAUSE`` after those whose memory is lent until then."""
        return self.read(block_rows)

    def finish(self, part):
        """Turn a part that was read into an array or CSR array. Threads share this work, but not the reading."""
        return part

    def take(self, rows):
        """Return the rows of these numbers, which ascend and may repeat, as rows elsewhere."""
        raise NotImplementedError

    def for_many_passes(self):
        """Return the same rows where they are cheap to read again and again: these themselves, unless they are few."""
        return self

    def map(self, function, n_features=None, sparse=None):
        """Return the rows as ``function`` changes them whenever they are read: scaled, sketched or projected.

        ``function`` takes an array or CSR array and works row by row. ``n_features`` and ``sparse`` say what becomes of
        the rows where that differs from what they are.
        """
        raise NotImplementedError

    def send(self, *values):
        """Send what belongs to the rows to the workers that have the rows, and return what is there afterwards."""
        raise NotImplementedError

    def sum_on_workers(self, function, sent, block_rows):
        """Return the sum of ``function(block)``, which the workers take; ``sent`` is what :meth:`send` returned."""
        raise NotImplementedError

    def most_rows(self):
        """Return how many rows may be read at once: at least a few, which weigh no more than totals of two classes."""
        return max(8, default_block_rows(self, READ_ELEMENTS))


class RowBlocks:
    """Rows and what belongs to them, in blocks that can be passed over many times.

    Parameters
    ----------
    X : ndarray, CSR matrix or RowsElsewhere
    y, sample_weight, values : array, RowValues or None
        What belongs to the rows, as :class:`Block` has it. All that is asked of it is that it can be sliced by rows.
    block_rows : int, default=None
        How many rows a block has. Unless it is given it follows from the data alone, never from the number of threads.
    """

    def __init__(self, X, y=None, sample_weight=None, *, values=None, block_rows=None):
        self.X = X
        self.y = y
        self.sample_weight = sample_weight
        self.values = values
        self.block_rows = default_block_rows(X) if block_rows is None else block_rows
        if isinstance(X, RowsElsewhere):
            self.block_rows = min(self.block_rows, X.most_rows())

    def __getstate__(self):
        """Leave out what only the client can refer to: a function that holds on to blocks may be sent to workers."""
        return {name: value for name, value in vars(self).items() if name != "_sent"}

    @property
    def n_samples(self):
        """The number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self):
        """The number of features."""
        return self.X.shape[1]

    def __iter__(self):
        for item in self._parts():
            if item is not PAUSE:
                block = self._block(*item)
                yield block
                del block
            # A block is let go of before the next one is read. The loops below do the same.
            del item

    def sum(self, function, n_jobs=None):
        """Add up ``function(block)`` over the blocks, in their order.

        Parameters
        ----------
        function : callable
            It returns an array, or a tuple of arrays that share no memory: those of the first block take up the sums.
        n_jobs : int, default=None
            Threads, as in scikit-learn.

        Returns
        -------
        array or tuple of arrays
        """
        if getattr(self.X, "on_workers", False):
            return self.X.sum_on_workers(function, self._sent, self.block_rows)
        if not getattr(self.X, "may_change", False):
            return self._total(function, n_jobs)
        with naming_change(self.X):
            total = self._total(function, n_jobs)
        if not is_finite(total):
            self.X.refuse_changed()
            if is_finite(self._total(function, n_jobs)):
                raise ValueError(f"{CHANGED}: a sum over its rows was not finite in one pass, and is in the next")
        return total

    def _total(self, function, n_jobs):
        total, n_samples = None, self.n_samples
        for number, partial in enumerate(self.map(function, n_jobs), 1):
            total = partial if total is None else add(total, partial)
            pass_over_rows(min(number * self.block_rows, n_samples), n_samples)
        return total

    def map(self, function, n_jobs=None):
        """Yield ``function(block)`` in the order of the blocks, computed by threads."""
        workers = job_count(n_jobs)
        if workers == 1 or self.n_samples <= self.block_rows:
            return map(function, self)
        return stream_in_threads(lambda part: function(self._block(*part)), self._parts(), workers)

    @cached_property
    def _sent(self):
        """What belongs to the rows, on the workers that have the rows: it is sent once for all passes."""
        return self.X.send(self.y, self.sample_weight, self.values)

    def _parts(self):
        if isinstance(self.X, RowsElsewhere):
            start = 0
            for part in self.X.read_parts(self.block_rows):
                if part is PAUSE:
                    yield PAUSE
                    continue
                yield start, part
                start += part.shape[0]
                del part
            return
        for start in range(0, self.n_samples, self.block_rows):
            yield start, rows_of(self.X, slice(start, min(start + self.block_rows, self.n_samples)))

    def _block(self, start, part):
        X = self.X.finish(part) if isinstance(self.X, RowsElsewhere) else part
        rows = slice(start, start + part.shape[0])
        return Block(start, X, _of_rows(self.y, rows), _of_rows(self.sample_weight, rows), _of_rows(self.values, rows))


@contextmanager
def naming_change(rows):
    """Let errors that rows cause which are not finite any more name their block: what else would be said is wrong."""
    try:
        yield
    except ValueError:
        rows.refuse_changed()
        raise


def is_finite(total):
    """Say whether all values of a sum are finite: those of an array, of a tuple of sums, or of a record of arrays."""
    if is_dataclass(total):
        total = tuple(vars(total).values())
    if isinstance(total, tuple):
        return all(map(is_finite, total))
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.sum(total)) or np.isfinite(total).all())  # to add up is quicker than to look


def _of_rows(values, rows):
    return None if values is None else values[rows]


def is_sparse(X):
    """Say whether rows are sparse, in memory or elsewhere."""
    return X.sparse if isinstance(X, RowsElsewhere) else sp.issparse(X)


def pairs_of(X):
    """Return half the sum, over sparse rows, of the square of a row's number of stored values."""
    if isinstance(X, RowsElsewhere):
        return X.pairs
    per_row = np.diff(X.indptr).astype(np.float64)
    return float(np.square(per_row).sum()) / 2


def take_rows(X, rows):
    """Return the rows of these numbers: a copy of those in memory, a view of those elsewhere."""
    return X.take(rows) if isinstance(X, RowsElsewhere) else X[rows]


def few_rows(X, rows):
    """Return the rows of these numbers, for many passes: a copy of those in memory, or of those that are read here."""
    taken = take_rows(X, rows)
    return taken.for_many_passes() if isinstance(taken, RowsElsewhere) else taken


def default_block_rows(X, elements=BLOCK_ELEMENTS):
    """Return how many rows have about so many stored values together."""
    stored = X.nnz if is_sparse(X) else X.shape[0] * X.shape[1]
    per_row = max(1, stored // max(1, X.shape[0]))
    return max(1, elements // per_row)


def add(total, partial):
    """Return ``total + partial``, of tuples part by part. Where total is an array it takes up the sum itself."""
    if isinstance(total, tuple):
        return tuple(add(left, right) for left, right in zip(total, partial, strict=True))
    if isinstance(total, np.ndarray):
        total += partial
        return total
    return total + partial
