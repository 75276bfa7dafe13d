"""Views of matrices as kernels want them: some rows, one precision; copies only where they must be."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

# Elements of one dense block: 4 MB of float64, which stays in the outer cache while it is worked on.
BLOCK_ELEMENTS = 2**19
# Bytes.
CACHE_LINE = 64


def rows_of(X, rows):
    """Return consecutive rows as a view, also of a CSR matrix, whose rows SciPy would copy.

    Parameters
    ----------
    X : ndarray, CSR matrix, or anything else whose rows can be sliced
    rows : slice
        Start and stop are given, and lie within the rows there are.
    """
    if not sp.issparse(X):
        return X[rows]
    if rows.stop - rows.start == X.shape[0]:
        return X
    first, last = X.indptr[rows.start], X.indptr[rows.stop]
    indptr = X.indptr[rows.start : rows.stop + 1] - first
    view = X.__class__((rows.stop - rows.start, X.shape[1]), dtype=X.dtype)
    view.data, view.indices, view.indptr = X.data[first:last], X.indices[first:last], indptr
    return view


def contiguous_rows(X):
    """Return X itself where the values of a row lie side by side, as the dense kernels need them; else a copy."""
    return X if X.shape[1] <= 1 or X.strides[1] == X.itemsize else np.ascontiguousarray(X)


def rows_are_apart(X):
    """Return whether no two rows have memory in common, as the windows of a view may have."""
    return len(X) <= 1 or abs(X.strides[0]) >= X.shape[1] * X.itemsize


def empty_rows(shape, dtype):
    """Return a new array that begins at a cache line.

    Those of NumPy begin 16 bytes later, from where every vector of a kernel that is as long as a line lies across two.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.empty(size + CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + size].view(dtype).reshape(shape)


def as_float64(X):
    """Return X in float64, which is X itself where it has that precision already."""
    return X.astype(np.float64, copy=False)


def without_duplicates(X):
    """Return sparse rows as a CSR array in which no place has two entries, and dense rows as they are."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return sp.csr_array(X) if sp.issparse(X) else X
