"""Whether the indices and pointers of a sparse matrix lie where its shape says, before anybody follows them.

SciPy checks little of a matrix that is made from arrays, and nothing of one whose arrays are changed later. Its compiled
code, and that of this package, would read or write outside of an array. The check takes two passes over the indices,
which cost a few per cent of any use of them, and names the row at fault.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def check_sparse(X, name="X"):
    """Raise a ValueError if X is sparse and its arrays do not fit its shape; anything else is let pass.

    Parameters
    ----------
    X : anything
        CSR, CSC, BSR, COO, LIL, DOK and DIA matrices and arrays are looked at.
    name : str, default="X"
        How the error calls the matrix.
    """
    if sp.issparse(X) and X.ndim == 2:
        CHECKS.get(X.format, _check_nothing)(X, name)


def _check_compressed(X, name):
    """CSR and CSC: the lines of a CSR matrix are its rows, those of a CSC matrix its columns."""
    lines, entries = ("row", "column") if X.format == "csr" else ("column", "row")
    n_lines, n_entries = X.shape if X.format == "csr" else X.shape[::-1]
    _check_pointers(X, name, lines, n_lines)
    _check_indices(X, name, lines, entries, n_entries)


def _check_blocks(X, name):
    height, width = X.data.shape[1:] if np.ndim(X.data) == 3 else (0, 0)
    if not (height and width) or X.shape[0] % height or X.shape[1] % width:
        raise ValueError(f"{name} is malformed: blocks of shape {X.data.shape[1:]} do not fit its shape {X.shape}")
    _check_pointers(X, name, "row of blocks", X.shape[0] // height)
    _check_indices(X, name, "row of blocks", "column of blocks", X.shape[1] // width)


def _check_pointers(X, name, lines, n_lines):
    """Pointers begin with 0, do not decrease, and end where there still are indices and values."""
    pointers, stored = X.indptr, min(len(X.indices), len(X.data))
    if np.ndim(pointers) != 1 or pointers.dtype.kind not in "iu" or len(pointers) != n_lines + 1:
        found = f"{pointers.dtype} of shape {np.shape(pointers)}"
        raise ValueError(f"{name} is malformed: indptr must be {n_lines + 1} integers, got {found}")
    if pointers[0] != 0:
        raise ValueError(f"{name} is malformed: indptr must begin with 0, got {pointers[0]}")
    decreasing = pointers[1:] < pointers[:-1]
    if decreasing.any():
        line = int(np.argmax(decreasing))
        steps = f"from {pointers[line]} to {pointers[line + 1]}"
        raise ValueError(f"{name} is malformed: indptr decreases at {lines} {line}, {steps}")
    if pointers[-1] > stored:
        line = int(np.argmax(pointers > stored)) - 1
        raise ValueError(
            f"{name} is malformed: indptr of {lines} {line} points to {pointers[line + 1]}, "
            f"but there are only {stored} stored values"
        )


def _check_indices(X, name, lines, entries, n_entries):
    indices = X.indices[: X.indptr[-1]]
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise ValueError(f"{name} is malformed: indices must be 1-D integers, got {indices.dtype}, {indices.ndim}-D")
    if len(indices) == 0 or (indices.min() >= 0 and indices.max() < n_entries):
        return
    place = int(np.argmax((indices < 0) | (indices >= n_entries)))
    line = int(np.searchsorted(X.indptr, place, side="right")) - 1
    raise ValueError(
        f"{name} is malformed: {lines} {line} has {entries} index {indices[place]}, but there are {n_entries} {entries}s"
    )


def _check_coordinates(X, name):
    row, column = X.coords
    if not len(row) == len(column) == len(X.data):
        raise ValueError(f"{name} is malformed: {len(row)} rows, {len(column)} columns and {len(X.data)} values")
    for what, indices, size in (("row", row, X.shape[0]), ("column", column, X.shape[1])):
        if len(indices) and (indices.min() < 0 or indices.max() >= size):
            place = int(np.argmax((indices < 0) | (indices >= size)))
            raise ValueError(
                f"{name} is malformed: entry {place} lies in row {row[place]} and column {column[place]}, "
                f"but there are {size} {what}s"
            )


def _check_lists(X, name):
    if not len(X.rows) == len(X.data) == X.shape[0]:
        raise ValueError(f"{name} is malformed: it has {len(X.rows)} lists for {X.shape[0]} rows")
    for number, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            raise ValueError(f"{name} is malformed: row {number} has {len(columns)} indices, {len(values)} values")
        if columns and not (min(columns) >= 0 and max(columns) < X.shape[1]):
            worst = min(columns) if min(columns) < 0 else max(columns)
            raise ValueError(
                f"{name} is malformed: row {number} has column index {worst}, but there are {X.shape[1]} columns"
            )


def _check_keys(X, name):
    _check_coordinates(X.tocoo(), name)


def _check_diagonals(X, name):
    if np.ndim(X.offsets) != 1 or np.ndim(X.data) != 2 or len(X.offsets) != len(X.data):
        raise ValueError(f"{name} is malformed: {len(X.offsets)} offsets for {len(X.data)} diagonals")


def _check_nothing(X, name):
    pass


CHECKS = {
    "csr": _check_compressed,
    "csc": _check_compressed,
    "bsr": _check_blocks,
    "coo": _check_coordinates,
    "lil": _check_lists,
    "dok": _check_keys,
    "dia": _check_diagonals,
}
