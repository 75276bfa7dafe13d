"""Rows that need not fit into memory: files, memory maps, anything that yields blocks of rows again and again.

A :class:`RowSource` is read once to learn what a model must know before it starts (:mod:`isrht.rows._survey`), and then
once per pass. Rows are never kept in memory, and what is dear to read is kept in a file
(:mod:`isrht.rows._kept`). Of labels only the classes are kept: which row has which class lies in a file
(:mod:`isrht.rows.values`). What is derived from a source is as lazy as itself (:mod:`isrht.rows._local`).

Blocks are cut anew into those that the same rows have in memory, so a fit from a source has the same sums, in the same
order, and is the same model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from numbers import Integral
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import assert_all_finite, column_or_1d

from isrht.files.rows import FileRows
from isrht.rows._foreign import HOW_ELSE, foreign_blocks
from isrht.rows._kept import KeptRows, kept_behind
from isrht.rows._local import LocalRows
from isrht.rows._recut import recut
from isrht.rows._survey import Survey, checked_rows, naming_block
from isrht.rows.blocks import CHANGED, READ_ELEMENTS, default_block_rows, is_finite
from isrht.support.block_cache import BlockCache
from isrht.support.hints import Array, ArrayOrLazy, HasShape, Path
from isrht.support.matrices import without_duplicates
from isrht.support.sparse_structure import check_sparse
from isrht.support.threads import PAUSE, job_count, stream_in_threads
from isrht.support.validation import FLOATS, check_unmasked, checked_block, quiet_sums

# A block of so many values, which is lent, is checked by several threads, in so many parts for each of them.
WORTH_SHARING, PARTS_OF_A_BLOCK = 2**18, 2
# A fit holds all rows of a source in memory if they take no more bytes than this, where each row counts as some bytes
# more than its values: what a fit in memory keeps of a row.
HELD_BYTES, BYTES_OF_A_ROW = 2**27, 2**10


class RowSource(LocalRows):
    """Rows for ``fit``, ``transform`` and ``predict`` that are read block by block, and never all at once.

    Parameters
    ----------
    blocks : iterable, callable, array, path or list of paths
        What yields the rows, many times over: pairs ``(X_block, y_block)``, or only ``X_block`` where labels are not
        needed or are given to ``fit``. An X_block is anything that scikit-learn takes for X. Either an iterable that
        starts anew whenever it is iterated, or a function that returns an iterator; or a 2-D array, such as a
        ``numpy.memmap``, a dataset of h5py, an array of Zarr or X of AnnData in backed mode; or a table: a data frame,
        a ``LazyFrame`` of polars, a ``Dataset`` or ``Table`` of pyarrow, an AnnData; or files, by paths or URLs, which
        are read by :func:`isrht.files.open_rows` (call it yourself for its options).
    progress : callable, default=None
        It is called as ``progress(pass_number, rows_read, n_samples)`` after every block that was read. The number of
        rows is None in the first pass, which counts them.
    cache : "auto", int or None, default="auto"
        Whether the first pass keeps the rows that it has read for the passes that follow. "auto" keeps what is dear to
        read, text, packed files, Parquet and what comes over a network, in temporary files without a name, up to half
        of what the disk has left. A number keeps up to so many bytes, also of blocks of your own. Where there is no
        room rows are read again, with a warning. None never keeps any. Unless it is None, a fit holds rows of up to
        128 MB in memory, where a kilobyte for each row counts, too: it is then a fit in memory, with its speed.
    label : str, int or None, default=None
        The column of a table, or of files that are tables, that has the labels.

    Attributes
    ----------
    shape : (int, int)
        The numbers of rows and of features. This and what follows is known from the first pass, which is made when one
        of them is first asked for.
    dtype : dtype
        float32 or float64, which holds all blocks.
    sparse : bool
        Whether the rows are sparse.
    labels : array or None
        All labels, in memory: one more pass, which fitting does not make. None where the blocks have none.

    See Also
    --------
    isrht.files.open_rows : Open files with options: which field is the label, from where indices count.

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

    def __init__(
        self,
        blocks: Iterable[Any] | Callable[[], Iterator[Any]] | HasShape | Path | Sequence[Path],
        *,
        progress: Callable[[int, int, int | None], object] | None = None,
        cache: Literal["auto"] | int | None = "auto",
        label: str | int | None = None,
    ) -> None:
        self.progress = progress
        self._array = blocks if is_matrix(blocks) else None
        self._blocks = _reiterable(blocks, label)
        self._cache, self._kept = _checked_cache(cache), None
        self._is_list = isinstance(blocks, list | tuple)
        self._facts = None
        self._passes = 0

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """The numbers of rows and of features."""
        return self._survey().shape

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        """The precision that holds all blocks: float32 or float64."""
        return self._survey().dtype

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        """Whether the rows are sparse."""
        return self._survey().sparse

    @property
    def row_nnz(self) -> ArrayOrLazy:  # type: ignore[override]
        """The number of stored values of each row, where rows are sparse."""
        return self._survey().row_nnz

    @property
    def labels(self) -> Array | None:
        """All labels, in memory, by one more pass; None where the blocks have none."""
        if not self._survey().has_labels:
            return None
        return np.concatenate([np.array(column_or_1d(y)) for *_, y in self._raw(self._blocks)])

    @property
    def coded_labels(self):
        """The labels as :class:`~isrht.rows.labels.CodedLabels`, or None where the blocks have none."""
        facts = self._survey()
        if facts.fault is not None:
            raise facts.fault
        return facts.labels

    @property
    def header(self):
        """A frame or array without rows, which has the width of the rows and the names of their features."""
        return self._survey().header

    def __getstate__(self):
        """Leave out what the first pass found, which lies in files of this process."""
        return {**vars(self), "_facts": None, "_kept": None}

    def read(self, block_rows: int) -> Iterator[Any]:
        """Yield all rows in order, in one more pass.

        Parameters
        ----------
        block_rows : int
            How many rows a part has; the last one may have fewer.

        Yields
        ------
        ndarray or CSR array
        """
        parts = self.read_parts(block_rows)
        if self._has_blocks_of_its_own() or self._kept is not None:
            return parts
        return (part.copy() for part in parts if part is not PAUSE)

    def read_parts(self, block_rows: int) -> Iterator[Any]:
        """Yield all rows in order, and ``PAUSE`` before the maker of the blocks may write to their memory."""
        facts = self._survey()
        if self._kept is not None:
            return self._read_kept(block_rows)
        if self._array is not None and not facts.sparse:
            return self._read_slices(block_rows)
        return recut(self._read_again(), block_rows)

    def _read_kept(self, block_rows):
        self._passes += 1
        for start in range(0, self._facts.shape[0], block_rows):
            stop = min(start + block_rows, self._facts.shape[0])
            yield self._kept.rows(start, stop)
            self._tell(stop)

    def _read_slices(self, block_rows):
        for _, start, X, _ in self._raw(_Slices(self._array, block_rows)):
            yield self._converted(X)
            self._tell(start + X.shape[0])

    def _read_again(self):
        facts, count = self._facts, 0
        for number, start, X, _ in self._raw(self._blocks):
            with naming_block(number, start):
                given, X = X, self._converted(X)
                is_lent = not self._has_blocks_of_its_own() and _share_memory(X, given)
                del given
                if X.shape[1] != facts.shape[1]:
                    raise ValueError(f"it has {X.shape[1]} features, but had {facts.shape[1]} when it was first read")
                if sp.issparse(X) != facts.sparse:
                    kind = "sparse" if facts.sparse else "dense"
                    raise ValueError(f"it is {kind} no more, as it was when it was first read")
            count = start + X.shape[0]
            if count > facts.shape[0]:
                break
            yield X
            if is_lent:
                yield PAUSE
            del X
            self._tell(count)
        if count != facts.shape[0]:
            raise ValueError(
                f"{CHANGED}: it had {facts.shape[0]} rows, and now has {'more' if count > facts.shape[0] else count}"
            )

    @property
    def may_change(self) -> bool:  # type: ignore[override]
        """Whether other rows may come in a later pass than in the first, from which they are not kept."""
        return self._facts is not None and self._kept is None

    def refuse_changed(self) -> None:
        """Raise an error that names the block, if some rows are not finite any more; one more pass looks for them."""
        for number, start, X, _ in self._raw(self._blocks) if self.may_change else ():
            with naming_block(number, start):
                try:
                    checked_rows(X)
                except ValueError as error:
                    raise ValueError(f"{CHANGED}: all values were finite when they were first read ({error})") from None

    def _has_blocks_of_its_own(self):
        """Say whether no block has memory that another one will have."""
        return self._array is not None or self._is_list or getattr(self._blocks, "is_fresh", False)

    def _converted(self, X):
        """Return the block in the precision of all blocks, and CSR if it is sparse."""
        # The first pass has found all values finite. That is looked at again only if what comes of them is not finite
        # (refuse_changed), and arrays as they should be are not looked at at all: it would take a tenth of a
        # millisecond, in which no other thread can work.
        if _is_plain(X) and X.dtype == self._facts.dtype:
            return X
        X = checked_block(X, ensure_all_finite=False, ensure_min_samples=0)
        return without_duplicates(X).astype(self._facts.dtype, copy=False)

    def held(self) -> Any:
        """Return all rows if they are so few that a fit is to hold them in memory.

        Returns
        -------
        ndarray, CSR array or None
            None if the rows are many, or if ``cache=None`` lets none of them be kept.
        """
        facts = self._survey()
        most = {None: 0, "auto": HELD_BYTES}.get(self._cache, self._cache)
        bytes_of_value = facts.dtype.itemsize + (np.dtype(np.int32).itemsize if facts.sparse else 0)
        if self.nnz * bytes_of_value + facts.shape[0] * BYTES_OF_A_ROW > min(most, HELD_BYTES):
            return None
        (rows,) = self.read(facts.shape[0])
        if self.may_change and not is_finite(rows.data if sp.issparse(rows) else rows):
            self.refuse_changed()
            raise ValueError(f"{CHANGED}: a value was not finite in one pass, and was in the others")
        return rows

    def survey(self, n_jobs: int | None = None) -> None:
        """Make the first pass, unless it was made already; threads share the checking of the rows."""
        self._survey(n_jobs)

    def _survey(self, n_jobs=None):
        """Make the first pass, unless it was made already, and return the facts that it found."""
        if self._facts is None:
            survey, kept, workers = Survey(), self._rows_to_keep(), job_count(n_jobs)
            if isinstance(self._blocks, FileRows):
                self._blocks.threads = workers
            with kept_behind(kept, workers if self._has_blocks_of_its_own() else 1) as keep:
                for checked in stream_in_threads(_made, self._checks(workers), workers):
                    if checked is None:
                        continue
                    number, start, X, y, header = checked
                    del checked
                    with naming_block(number, start):
                        survey.add(X, y, header)
                    survey.code(y, number, start)
                    keep(X)
                    self._tell(survey.n_samples)
                    del X, y, header
            self._facts = survey.facts(getattr(self._blocks, "feature_names", None))
            self._kept = kept if kept is not None and kept.finish() else None
            if isinstance(self._blocks, FileRows):
                self._blocks.scan_cache = None  # what the scan has kept was read by this pass
        return self._facts

    def _checks(self, workers):
        """Yield for every block a call that checks it, and for one that is lent several, to be shared by threads.

        The blocks of others may have one memory, which is written to anew for each of them.
        """
        is_lent = not self._has_blocks_of_its_own() and workers > 1
        is_finite = isinstance(self._blocks, FileRows)  # the readers of files have looked
        for number, start, X, y in self._raw(self._blocks):
            is_shared = is_lent and _is_plain(X) and X.size >= WORTH_SHARING
            if is_shared:
                step = -(-len(X) // (PARTS_OF_A_BLOCK * workers))
                for first in range(0, len(X), step):
                    yield partial(_check_part, number, start, X[first : first + step])
            yield partial(_checked, number, start, X, y, is_finite or is_shared)
            del X, y
            if is_lent:
                yield PAUSE

    def _rows_to_keep(self):
        """Return where the first pass keeps the rows, or None if they are cheap to read again."""
        ours = isinstance(self._blocks, FileRows)
        dear = getattr(self._blocks, "is_dear", False)
        in_memory = self._array is not None or self._is_list
        if self._cache is None or in_memory or (self._cache == "auto" and not dear):
            return None
        limit = None if self._cache == "auto" else int(self._cache)
        if ours and self._blocks.must_be_scanned() and self._blocks.facts is None:
            self._blocks.scan_cache = BlockCache(limit)
        return KeptRows(limit)

    def _raw(self, blocks):
        """Yield number, first row, X and y of every block that has rows, not checked and not converted."""
        self._passes += 1
        number, start = 0, 0
        with naming_block(0, 0):
            iterator = iter(blocks)
        while True:
            with naming_block(number, start):
                item = next(iterator, _END)
                if item is _END:
                    return
                X, y = _rows_and_labels(item)
                n_rows = _row_count(X)
                if sp.issparse(X) and not self._has_blocks_of_its_own():
                    check_sparse(X)
                    X = X.__class__(X)  # SciPy keeps in a matrix whether it has duplicates, which may be filled anew
            if n_rows:
                yield number, start, X, y
            del X, y, item
            number, start = number + 1, start + n_rows

    def _tell(self, count):
        if self.progress is not None:
            self.progress(self._passes, count, None if self._facts is None else self._facts.shape[0])


def _made(call):
    return call()


def _checked(number, start, X, y, is_finite):
    """Return a block, checked, and the names of its columns as a frame without rows, if they have names."""
    header = X[:0] if hasattr(X, "columns") else None
    with naming_block(number, start):
        return number, start, X if is_finite and _is_plain(X) else checked_rows(X, not is_finite), y, header


def _check_part(number, start, part):
    """Check some rows of a block for values that are not finite."""
    with naming_block(number, start), quiet_sums():
        assert_all_finite(part)


class _Slices:
    """The rows of a matrix, some at a time; those of a memory map are plain arrays."""

    def __init__(self, X, block_rows=None):
        self.X = X
        self.block_rows = default_block_rows(X, READ_ELEMENTS) if block_rows is None else block_rows

    def __iter__(self):
        for start in range(0, self.X.shape[0], self.block_rows):
            part = self.X[start : start + self.block_rows]
            yield part if sp.issparse(part) else np.asarray(part)


def _checked_cache(cache):
    is_number = isinstance(cache, Integral) and not isinstance(cache, bool) and cache >= 0
    if cache is None or is_number or (isinstance(cache, str) and cache == "auto"):
        return cache
    raise ValueError(f"cache must be 'auto', a number of bytes or None, got {cache!r}")


class _Call:
    """What a function returns, whose iteration calls it anew."""

    def __init__(self, function):
        self.function = function

    def __iter__(self):
        return iter(self.function())


def _reiterable(blocks, label):
    """Return blocks of rows that can be iterated many times, from anything that :class:`RowSource` takes."""
    if _is_path(blocks) or (isinstance(blocks, list | tuple) and blocks and all(map(_is_path, blocks))):
        from isrht.files.opening import open_rows

        return open_rows(blocks, label=label)
    foreign = None if is_matrix(blocks) or isinstance(blocks, FileRows) else foreign_blocks(blocks, label)
    if foreign is not None:
        return foreign
    if label is not None:
        raise ValueError(f"label is for tables and files, not for {type(blocks).__name__}")
    if callable(blocks):
        return _Call(blocks)
    if is_matrix(blocks):
        check_sparse(blocks)
        check_unmasked(blocks)
        return _Slices(blocks.tocsr() if sp.issparse(blocks) else blocks)
    if not hasattr(blocks, "__iter__"):
        raise TypeError(
            f"RowSource needs an iterable of blocks of rows, got {type(blocks).__module__}.{type(blocks).__name__}: "
            f"{HOW_ELSE}"
        )
    if iter(blocks) is blocks:
        raise TypeError(
            f"RowSource reads its blocks many times, but a {type(blocks).__name__} can be iterated only once: "
            "give the function that makes it"
        )
    return blocks


def _is_path(value):
    return isinstance(value, str | os.PathLike)


def is_matrix(X):
    """Say whether X is a sparse matrix or a 2-D array."""
    return sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2)


# What an iterator gives after its last block; None would be a block.
_END = object()


def _rows_and_labels(item):
    """Return the rows and the labels of a block, which is a pair of both, or of rows alone (labels are None then)."""
    is_pair = len(item) == 2 if isinstance(item, tuple) else isinstance(item, list) and _is_pair(item)
    return item if is_pair else (item, None)


def _is_pair(values):
    """Say whether a list is a pair of rows and labels, as a loader of torch gives them: a row has no two dimensions."""
    return len(values) == 2 and len(getattr(values[0], "shape", ())) == 2


def _is_plain(X):
    """Say whether a block is an array with features that need not be converted, but for its precision."""
    return type(X) is np.ndarray and X.ndim == 2 and X.shape[1] > 0 and X.dtype in FLOATS and X.flags.aligned


def _row_count(X):
    if hasattr(X, "shape"):
        if len(X.shape) != 2:
            raise ValueError(f"a block must have two dimensions, got shape {X.shape}")
        return X.shape[0]
    if isinstance(X, dict) or not hasattr(X, "__len__"):
        raise TypeError(f"a block must be rows, or a pair of rows and labels, got {type(X).__name__}")
    return len(X)


def _share_memory(converted, X):
    """Say whether a converted block may have the memory of the block that was given."""
    if sp.issparse(X):
        parts = [getattr(X, name) for name in ("data", "indices", "indptr") if hasattr(X, name)]
        mine = converted.data, converted.indices, converted.indptr
        return any(np.may_share_memory(one, other) for one in mine for other in parts)
    return np.may_share_memory(converted, X) if isinstance(X, np.ndarray) else True
