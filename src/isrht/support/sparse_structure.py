"""Checks that the indices and pointers of a sparse matrix lie where its shape says, before anybody follows them.

SciPy checks little of a matrix that is made from arrays, and nothing of one whose arrays are changed later. Its
compiled code, and that of this package, would read or write outside of an array. The check takes two passes over the
indices, which cost a few per cent of any use of them, and names the row at fault.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
import scipy.sparse as sp

INTEGERS, NUMBERS = "iu", "biufc"
# What errors call the lines of a matrix and what is in them: one, and several.
ROWS, COLUMNS = ("row", "rows"), ("column", "columns")
ROWS_OF_BLOCKS, COLUMNS_OF_BLOCKS = ("row of blocks", "rows of blocks"), ("column of blocks", "columns of blocks")
# SciPy takes int32 for the offsets of diagonals of any matrix that is not larger.
LARGEST_OFFSET = 2**31 - 1


def check_sparse(X, name="X"):
    """Raise a ValueError if X is sparse and its arrays do not fit its shape; anything else is let pass.

    Parameters
    ----------
    X : anything
        CSR, CSC, BSR, COO, LIL, DOK and DIA matrices and arrays are looked at.
    name : str, default="X"
        How the error calls the matrix.
    """
    if not sp.issparse(X):
        return
    if X.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, got a sparse array of shape {X.shape}")
    CHECKS[X.format](X, name)


def _check_compressed(X, name):
    """Check a CSR matrix, whose lines are its rows, or a CSC matrix, whose lines are its columns."""
    lines, entries = (ROWS, COLUMNS) if X.format == "csr" else (COLUMNS, ROWS)
    n_lines, n_entries = X.shape if X.format == "csr" else X.shape[::-1]
    _check_array(X.data, name, "data", NUMBERS)
    _check_pointers(X, name, lines, n_lines)
    _check_indices(X, name, lines, entries, n_entries)


def _check_array(array, name, part, kinds, ndim=1):
    """Check that a part of a sparse matrix is an array at all, with the right dimensions and kind of numbers."""
    if isinstance(array, np.ndarray) and array.ndim == ndim and array.dtype.kind in kinds:
        return
    found = f"{array.dtype}, {array.ndim}-D" if isinstance(array, np.ndarray) else type(array).__name__
    what = "integers" if kinds == INTEGERS else "numbers"
    raise ValueError(f"{name} is malformed: {part} must be {ndim}-D {what}, got {found}")


def _check_blocks(X, name):
    _check_array(X.data, name, "data", NUMBERS, ndim=3)
    height, width = X.data.shape[1:]
    if not (height and width) or X.shape[0] % height or X.shape[1] % width:
        raise ValueError(f"{name} is malformed: blocks of shape {X.data.shape[1:]} do not fit its shape {X.shape}")
    _check_pointers(X, name, ROWS_OF_BLOCKS, X.shape[0] // height)
    _check_indices(X, name, ROWS_OF_BLOCKS, COLUMNS_OF_BLOCKS, X.shape[1] // width)


def _check_pointers(X, name, lines, n_lines):
    """Check that pointers begin with 0, do not decrease, and end where there still are indices and values."""
    _check_array(X.indptr, name, "indptr", INTEGERS)
    _check_array(X.indices, name, "indices", INTEGERS)
    pointers, stored = X.indptr, min(len(X.indices), len(X.data))
    if len(pointers) != n_lines + 1:
        raise ValueError(f"{name} is malformed: indptr must be {n_lines + 1} integers, got {len(pointers)}")
    if pointers[0] != 0:
        raise ValueError(f"{name} is malformed: indptr must begin with 0, got {pointers[0]}")
    decreasing = pointers[1:] < pointers[:-1]
    if decreasing.any():
        line = int(np.argmax(decreasing))
        steps = f"from {pointers[line]} to {pointers[line + 1]}"
        raise ValueError(f"{name} is malformed: indptr decreases at {lines[0]} {line}, {steps}")
    if pointers[-1] > stored:
        line = int(np.argmax(pointers > stored)) - 1
        raise ValueError(
            f"{name} is malformed: indptr of {lines[0]} {line} points to {pointers[line + 1]}, "
            f"but there are only {stored} stored values"
        )


def _check_indices(X, name, lines, entries, n_entries):
    indices = X.indices[: X.indptr[-1]]
    if len(indices) == 0 or (indices.min() >= 0 and indices.max() < n_entries):
        return
    place = int(np.argmax((indices < 0) | (indices >= n_entries)))
    line = int(np.searchsorted(X.indptr, place, side="right")) - 1
    raise ValueError(
        f"{name} is malformed: {lines[0]} {line} has {entries[0]} index {indices[place]}, "
        f"but there are {n_entries} {entries[1]}"
    )


def _check_coordinates(X, name):
    if len(X.coords) != 2:
        raise ValueError(f"{name} is malformed: it has {len(X.coords)} arrays of coordinates for two dimensions")
    for part, array in zip(("row", "col"), X.coords, strict=True):
        _check_array(array, name, part, INTEGERS)
    _check_array(X.data, name, "data", NUMBERS)
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
        if not (isinstance(columns, list) and isinstance(values, list) and all(map(_is_integer, columns))):
            raise ValueError(f"{name} is malformed: row {number} must be a list of integers and one of values")
        if len(columns) != len(values):
            raise ValueError(f"{name} is malformed: row {number} has {len(columns)} indices, {len(values)} values")
        if columns and not (min(columns) >= 0 and max(columns) < X.shape[1]):
            worst = min(columns) if min(columns) < 0 else max(columns)
            raise ValueError(
                f"{name} is malformed: row {number} has column index {worst}, but there are {X.shape[1]} columns"
            )


def _is_integer(value):
    return isinstance(value, Integral)


def _check_keys(X, name):
    def is_place(key):
        is_pair = isinstance(key, tuple) and len(key) == 2 and all(map(_is_integer, key))
        return is_pair and all(0 <= index < size for index, size in zip(key, X.shape, strict=True))

    wrong = next((key for key in X.keys() if not is_place(key)), None)  # noqa: SIM118 (a matrix is not its keys)
    if wrong is not None:
        raise ValueError(f"{name} is malformed: it has the key {wrong!r}, but its shape is {X.shape}")


def _check_diagonals(X, name):
    _check_array(X.offsets, name, "offsets", INTEGERS)
    _check_array(X.data, name, "data", NUMBERS, ndim=2)
    if len(X.offsets) != len(X.data):
        raise ValueError(f"{name} is malformed: {len(X.offsets)} offsets for {len(X.data)} diagonals")
    if len(np.unique(X.offsets)) != len(X.offsets):
        raise ValueError(f"{name} is malformed: some of its offsets are equal")
    furthest = max(map(abs, X.offsets.tolist()), default=0)
    if furthest > max(LARGEST_OFFSET, *X.shape):
        raise ValueError(f"{name} is malformed: it has the offset {furthest}, but its shape is {X.shape}")


CHECKS = {
    "csr": _check_compressed,
    "csc": _check_compressed,
    "bsr": _check_blocks,
    "coo": _check_coordinates,
    "lil": _check_lists,
    "dok": _check_keys,
    "dia": _check_diagonals,
}
