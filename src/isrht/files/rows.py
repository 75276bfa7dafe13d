"""Rows in blocks, whatever the format: to be iterated over again and again, scanned, or read whole.

A format is a subclass that yields blocks of rows and their :class:`~isrht.files.labels.Labels`. All that does not
depend on the format is here: a pipe is read once, labels get their type, facts are gathered.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht.blocks import BLOCK_ELEMENTS
from isrht.files.errors import FileError
from isrht.files.facts import Facts
from isrht.files.labels import NUMBER, TEXT, Labels, Tally
from isrht.files.streams import can_be_read_again

PIPE_TWICE = "is a pipe and can be read only once: give index_base (--index-base) and n_features"


class Rows:
    """Iterate for ``(X_block, y_block)``; y is None without labels.

    ``feature_names`` are those of a table that has names, once a block was read. ``n_unseen`` counts the values that
    the last pass left out because their feature is past ``n_features``.
    """

    def __init__(self, paths, format, *, n_features=None, label_type=None, block_rows=None):
        self.paths, self.format = paths, format
        self.n_features, self.label_type, self.block_rows = n_features, label_type, block_rows
        self.facts = None
        self.n_unseen = 0
        self.feature_names = None
        self._begun = False
        self._path, self._row = paths[0], 0  # the file that is being read, and how many of its rows were

    def __iter__(self):
        if self._must_be_scanned() and self.facts is None:
            self._refuse_pipes()
            self.scan()
        self._begin_pass()
        label_type = self.label_type or (self.facts.label_type if self.facts else None)
        for X, labels in self._numbered_blocks(label_type):
            if labels is not None and label_type is None:
                label_type = TEXT if np.isnan(labels.values[0]) else NUMBER
            yield X, self._typed(labels, label_type)

    def scan(self):
        """Make one pass, unless one was made already, and return its :class:`~isrht.files.facts.Facts`."""
        if self.facts is None:
            self._begin_pass()
            self.facts = self._scan()
        return self.facts

    def read(self):
        """``(X, y, facts)`` of all rows, in one pass; no rows are an error."""
        self._begin_pass()
        X, labels, self.facts = self._read()
        if not self.facts.n_samples:
            raise FileError(self.paths[0], "there are no rows in it")
        return X, None if labels is None else labels.of_type(self.facts.label_type), self.facts

    def _blocks(self, label_type):
        """Yield ``(X, labels)``, blocks of at least one row, of each of ``self._files()``; add to ``self.n_unseen``."""
        raise NotImplementedError

    def _files(self):
        for path in self.paths:
            self._path, self._row = path, 0
            yield path

    def _numbered_blocks(self, label_type):
        for X, labels in self._blocks(label_type):
            yield X, labels
            self._row += X.shape[0]

    def _must_be_scanned(self):
        """Must the end of the file be known before the first block can be given?"""
        return False

    def _scan(self):
        count = Count(self.label_type)
        for X, labels in self._numbered_blocks(None):
            self._typed(labels, self.label_type)
            count.add(X, labels)
        return self._facts_of(count)

    def _read(self):
        """``(X, labels, facts)``."""
        count, X, labels = Count(self.label_type), Gathered(), []
        for block, of_block in self._numbered_blocks(None):
            self._typed(of_block, self.label_type)
            count.add(block, of_block)
            X.append(block)
            labels.append(of_block)
        all_labels = None if not labels or labels[0] is None else Labels.joined(labels)
        return X.whole(), all_labels, self._facts_of(count)

    def _facts_of(self, count):
        count.nnz += self.n_unseen
        return count.facts(self.format, self._width(count.width), self.n_unseen)

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


class Count:
    """The facts of the blocks that it is shown."""

    def __init__(self, label_type):
        self.label_type, self.tally = label_type, Tally()
        self.samples = self.width = self.nnz = 0

    def add(self, X, labels):
        self.width = X.shape[1]
        self.add_rows(X.shape[0], X.nnz if sp.issparse(X) else np.count_nonzero(X), labels)

    def add_rows(self, samples, nnz, labels):
        self.samples += samples
        self.nnz += int(nnz)
        self.tally.add(labels)

    def facts(self, format, n_features, n_unseen=0, **more):
        label_type = self.tally.label_type and (self.label_type or self.tally.label_type)
        classes = self.tally.classes(label_type)
        return Facts(format, self.samples, n_features, self.nnz, label_type, classes, n_unseen, **more)


class Gathered:
    """Blocks of rows as one: dense ones in one array, which ``realloc`` lets grow without a second copy."""

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
        if self.array is not None:
            self._resize(self.count)
        return sp.vstack(self.sparse, format="csr") if self.sparse else self.array

    def _resize(self, count):
        self.array.resize((count, self.array.shape[1]), refcheck=False)  # nobody else has seen it yet


def position(path, label, names):
    """The place of the label column among ``names``, by name or by position, which may be written as text."""
    names = list(names)
    if label in names:
        return names.index(label)
    try:
        place = int(label)
    except ValueError:
        raise FileError(path, f"there is no column {label!r}; there are {listed(names)}") from None
    if not -len(names) <= place < len(names):
        raise FileError(path, f"there is no column {place}; there are {len(names)} columns")
    return place % len(names)


def listed(names):
    return ", ".join(map(repr, names[:10])) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def check_width(path, found, expected):
    """Columns of dense rows are told apart by their place only, so there must be as many as expected."""
    if expected is not None and found != expected:
        raise FileError(path, f"there are {found} features in a row, not {expected}")


HOW_TO_HAVE_MORE = "; if that is meant, allow it with max_features, on the command line --max-features"


def check_feature_count(path, found, rows):
    """A number of features that a damaged file may declare must not become a request for all memory."""
    if rows.n_features is None and found > rows.max_features:
        raise FileError(path, f"it has {found:,} features, more than {rows.max_features:,}{HOW_TO_HAVE_MORE}")


def check_finite(path, X, first_row, column_names=None):
    """Say where the first value is that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum(dtype=np.float64)) or np.isfinite(X).all():  # the sum is quick; it may only overflow
            return
    row, column = np.argwhere(~np.isfinite(X))[0].tolist()
    name = column + 1 if column_names is None else column_names[column]
    raise FileError(path, f"row {first_row + row + 1}, column {name!r}: {X[row, column]} is not finite")


def rows_per_block(width, block_rows):
    return block_rows or max(1, BLOCK_ELEMENTS // max(1, width))
