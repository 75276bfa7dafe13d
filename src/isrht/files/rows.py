"""Rows of files in blocks, whatever the format: to be iterated over again and again, scanned, or read whole.

A format is a subclass of :class:`FileRows` that yields blocks of rows and their :class:`~isrht.files.labels.Labels`.
Everything that does not depend on the format is here: a pipe is read only once, labels get their type, and facts are
gathered.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from isrht.files.errors import FileError
from isrht.files.facts import Facts, FactsCounter
from isrht.files.labels import NUMBER, TEXT, Labels
from isrht.files.limits import Limits, check_whole_number
from isrht.files.streams import can_be_read_again
from isrht.support.hints import Array
from isrht.support.matrices import BLOCK_ELEMENTS

PIPE_TWICE = "is a pipe and can be read only once: give index_base (--index-base) and n_features"


class FileRows:
    """Rows of files, as :func:`~isrht.files.open_rows` gives them; iterate over them for ``(X_block, y_block)``.

    Attributes
    ----------
    feature_names : list of str or None
        The names of the features, if the file is a table with names and a block of it has been read.
    n_unseen : int
        How many values the last pass has left out because their feature is past ``n_features``.
    facts : :class:`~isrht.files.Facts` or None
        What a pass over all rows has found out; None before the first such pass.
    scan_cache : BlockCache or None
        Where a scan keeps what it parses for the pass after it; :class:`~isrht.RowSource` sets it for its first pass.
    threads : int
        How many threads a pass may use; :class:`~isrht.RowSource` sets it for its passes.
    """

    def __init__(
        self,
        paths: list[Any],
        format: str,
        *,
        n_features: int | None = None,
        label_type: Literal["number", "text"] | None = None,
        limits: Limits = Limits(),
    ) -> None:
        self.paths, self.format = paths, format
        self.n_features, self.label_type, self.limits = n_features, label_type, limits
        self.block_rows: int | None = None
        self.facts: Facts | None = None
        self.n_unseen = 0
        self.feature_names = None
        self._begun = False
        self.scan_cache = None
        self.threads = 1
        self._path, self._row = paths[0], 0  # the file that is being read, and how many of its rows have been

    def __iter__(self) -> Iterator[tuple[Any, Array | None]]:
        """Yield ``(X, y)`` for every block; y is None where there are no labels."""
        if self.must_be_scanned() and self.facts is None:
            self._refuse_pipes()
            self.scan()
        self._begin_pass()
        label_type = self.label_type or (self.facts.label_type if self.facts else None)
        for X, labels in self._numbered_blocks(label_type):
            if labels is not None and label_type is None:
                label_type = TEXT if np.isnan(labels.values[0]) else NUMBER
            yield X, self._typed(labels, label_type)

    def in_blocks(self, n_rows: int | None) -> FileRows:
        """Return the same rows, to be iterated over in blocks of a given number of rows.

        Parameters
        ----------
        n_rows : int or None
            How many rows each block but the last has; None makes blocks of a few megabytes.

        Returns
        -------
        rows : :class:`~isrht.files.FileRows`
        """
        if n_rows is not None:
            check_whole_number("n_rows", n_rows, "or None")
        rows = copy.copy(self)
        rows.block_rows = n_rows
        return rows

    def scan(self) -> Facts:
        """Make one pass over all rows, unless one was made already.

        Returns
        -------
        facts : :class:`~isrht.files.Facts`
        """
        if self.facts is None:
            self._begin_pass()
            self.facts = self._scan()
        return self.facts

    def read(self) -> tuple[Any, Array | None, Facts]:
        """Read all rows in one pass; a file without rows is an error.

        Returns
        -------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,) or None
        facts : :class:`~isrht.files.Facts`
        """
        self._begin_pass()
        X, labels, self.facts = self._read()
        if not self.facts.n_samples:
            raise FileError(self.paths[0], "there are no rows in it")
        return X, None if labels is None else labels.of_type(self.facts.label_type), self.facts

    is_fresh = True  # no block has memory that is written to again

    @property
    def is_dear(self) -> bool:
        """Whether the files are so dear to read that their rows are worth keeping: all but mapped arrays are."""
        return True

    def __getstate__(self):
        """Leave out the cache, which lies in a file of this process."""
        return {**vars(self), "scan_cache": None}

    def _blocks(self, label_type):
        """Yield ``(X, labels)`` for blocks of at least one row of each of ``self._files()``.

        Values that are left out are added to ``self.n_unseen``.
        """
        raise NotImplementedError

    def _files(self):
        for path in self.paths:
            self._path, self._row = path, 0
            yield path

    def _numbered_blocks(self, label_type):
        labelled = None
        for X, labels in self._blocks(label_type):
            labelled = labels is not None if labelled is None else labelled
            if (labels is not None) != labelled:
                raise FileError(self._path, f"it has {'no ' if labelled else ''}labels, unlike {self.paths[0]}")
            yield X, labels
            self._row += X.shape[0]

    def must_be_scanned(self) -> bool:
        """Say whether the end of the file must be known before the first block can be given."""
        return False

    def _scan(self):
        counter = FactsCounter(self.label_type)
        for X, labels in self._numbered_blocks(None):
            self._typed(labels, self.label_type)
            counter.add(X, labels)
        return self._facts_of(counter)

    def _read(self):
        """Return ``(X, labels, facts)`` of all rows."""
        counter, X, labels = FactsCounter(self.label_type), GatheredRows(), []
        for block, block_labels in self._numbered_blocks(None):
            self._typed(block_labels, self.label_type)
            counter.add(block, block_labels)
            X.append(block)
            labels.append(block_labels)
        all_labels = None if not labels or labels[0] is None else Labels.joined(labels)
        return X.whole(), all_labels, self._facts_of(counter)

    def _facts_of(self, counter):
        counter.nnz += self.n_unseen
        return counter.facts(self.format, self._width(counter.width), self.n_unseen)

    def _width(self, found):
        return found if self.n_features is None else self.n_features

    def _typed(self, labels, label_type):
        if labels is None or label_type is None:
            return None
        if label_type == NUMBER and not labels.numbers_only:
            first = int(np.isnan(labels.values).argmax())
            problem = f"the label of row {self._row + first + 1}, {str(labels.texts()[first])!r}, is no number"
            raise FileError(self._path, problem + ("" if self.label_type else ", as the first is"))
        return labels.of_type(label_type)

    def _begin_pass(self):
        if self._begun:
            self._refuse_pipes("has been read already: a pipe can be read only once")
        self._begun, self.n_unseen = True, 0

    def _refuse_pipes(self, problem=PIPE_TWICE):
        for path in self.paths:
            if not can_be_read_again(path):
                raise FileError(path, problem)


class GatheredRows:
    """Blocks of rows put together. Dense ones go into one array, which ``realloc`` lets grow without a second copy."""

    def __init__(self):
        self.array, self.count, self.sparse = None, 0, []

    def append(self, block):
        if sp.issparse(block):
            self.sparse.append(block)
            return
        if self.array is None:
            self.array = np.empty((0, block.shape[1]), dtype=block.dtype)
        need = self.count + len(block)
        if need > len(self.array):
            self._resize(max(need, len(self.array) * 3 // 2))
        self.array[self.count : need] = block
        self.count = need

    def whole(self):
        """Return all rows, or None if there are none."""
        if self.array is not None:
            self._resize(self.count)
        return sp.vstack(self.sparse, format="csr") if self.sparse else self.array

    def _resize(self, count):
        self.array.resize((count, self.array.shape[1]), refcheck=False)  # no other code has seen the array yet


def rows_per_block(width, block_rows):
    """Return ``block_rows`` if it is given, and else how many rows of this width make a block of a few megabytes."""
    return block_rows or max(1, BLOCK_ELEMENTS // max(1, width))
