"""The first pass over a source: check every block, and learn what can only be known from all of them.

A model must know some things before it starts: how many rows there are and how wide, which labels, whether all values
are finite. :class:`Survey` gathers them block by block, and :class:`SourceFacts` are what it found.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from isrht.files.errors import FileError
from isrht.rows.labels import CodedLabels, Coder, one_dimensional
from isrht.rows.values import FiledRowValues, RowValuesFile
from isrht.support.matrices import without_duplicates
from isrht.support.validation import checked_block


@dataclass(frozen=True)
class SourceFacts:
    """What is known of a source after its first pass.

    Parameters
    ----------
    shape : (int, int)
    dtype : dtype
        The precision that holds all blocks.
    sparse : bool
    row_nnz : FiledRowValues or None
        The number of stored values of each row, where rows are sparse.
    header : data frame or ndarray of no rows
        It has the width of the rows, and the names of their features if they have names.
    has_labels : bool
    labels : CodedLabels or None
        None where there are no labels, or no classes.
    fault : Exception or None
        Why the labels are no classes. Only those who need classes raise it: labels may be numbers to predict.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    sparse: bool
    row_nnz: FiledRowValues | None
    header: Any
    has_labels: bool
    labels: CodedLabels | None
    fault: Exception | None


class Survey:
    """What the first pass has gathered so far."""

    def __init__(self):
        self.n_samples, self.n_features, self.sparse, self.dtype = 0, None, None, np.dtype(np.float32)
        self.header = None
        self.labels, self.row_nnz, self.has_labels, self.fault = Coder(), RowValuesFile(np.int32), False, None

    def add(self, X, y, header=None):
        """Compare a block of rows, and its labels, with those before, and count what is in it.

        Parameters
        ----------
        X : array or CSR array
            As :func:`checked_rows` returns it.
        y : array-like or None
        header : data frame of no rows, default=None
            It has the names of the columns, if they have names.
        """
        if self.n_features is None:
            self.n_features, self.sparse, self.header = X.shape[1], sp.issparse(X), header
        elif X.shape[1] != self.n_features:
            raise ValueError(f"it has {X.shape[1]} features, but the blocks before have {self.n_features}")
        elif sp.issparse(X) != self.sparse:
            raise ValueError(f"it is {'sparse' if sp.issparse(X) else 'dense'}, but the blocks before are not")
        elif self.header is not None and header is None:
            raise ValueError("its columns have no names, unlike those of the first block")
        elif self.header is not None and list(header.columns) != list(self.header.columns):
            raise ValueError("its columns have other names, or another order, than those of the first block")
        self._check_labels(X.shape[0], y)
        self.n_samples += X.shape[0]
        self.dtype = np.result_type(self.dtype, X.dtype)
        if self.sparse:
            self.row_nnz.append(np.diff(X.indptr))

    def _check_labels(self, n_rows, y):
        if self.n_samples and (y is not None) != self.has_labels:
            raise ValueError(f"it has {'no ' if y is None else ''}labels, unlike the blocks before")
        if y is None:
            return
        self.has_labels = True
        y = one_dimensional(y, warn=True)
        if len(y) != n_rows:
            raise ValueError(f"it has {n_rows} rows, but {len(y)} labels")

    def code(self, y, number, start):
        """Take up the labels of a block. If they are no classes the error is kept, for those who need classes."""
        if y is None or self.fault is not None:
            return
        try:
            with naming_block(number, start):
                self.labels.add(one_dimensional(y))
        except ValueError as fault:
            self.fault = fault

    def facts(self, names=None):
        """Return what was found, after the last block. ``names`` are those of the features of files."""
        if self.n_samples == 0:
            raise ValueError("the source has no rows")
        header = without_rows(names, self.n_features) if self.header is None else self.header
        shape = self.n_samples, self.n_features
        labels = self.labels.result() if self.has_labels and self.fault is None else None
        row_nnz = self.row_nnz.finished() if self.sparse else None
        return SourceFacts(shape, self.dtype, self.sparse, row_nnz, header, self.has_labels, labels, self.fault)


def without_rows(names, n_features):
    """Return an array without rows, or, if the features have names, a frame of these columns."""
    rows = np.empty((0, n_features))
    if names is None:
        return rows
    try:
        import pandas
    except ImportError:  # Whoever has tables of Arrow alone has a frame of Arrow.
        import pyarrow

        return pyarrow.Table.from_arrays([pyarrow.array(column) for column in rows.T], names=names)
    return pandas.DataFrame(rows, columns=names)


def checked_rows(X, ensure_all_finite=True):
    """Return a block of rows as an array or as a CSR array without duplicates, all of whose values are finite."""
    return without_duplicates(checked_block(X, ensure_all_finite=ensure_all_finite))


@contextmanager
def naming_block(number, start):
    """Let errors say from which block they come: its number, and the number of its first row."""
    try:
        yield
    except FileError:  # it names the file and the line
        raise
    except OSError as error:
        raise OSError(f"block {number} (from row {start}): {error}") from error
    except MemoryError:
        raise
    except Exception as error:  # a damaged file may raise anything
        raise ValueError(f"block {number} (from row {start}): {error}") from error
