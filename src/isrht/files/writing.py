"""Write rows and labels to a file of the format that its extension tells, whole or not at all.

Numbers are written so that reading gives the same doubles; what would be read as something else is refused. A table has
the field ``label``, if there are labels, and ``x1``, ``x2``, ...; in an NPY array the labels are the first field.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from isrht import kernels
from isrht.files._libsvm import LABEL_RULES, LARGEST_INDEX, UNLIMITED
from isrht.files._tables import SEPARATORS, is_label
from isrht.files.errors import library
from isrht.files.labels import TEXT, as_written
from isrht.files.opening import TEXTS, format_by_extension
from isrht.files.streams import packed, packing
from isrht.support.atomic_writes import replaced_when_whole
from isrht.support.hints import Labels, Rows
from isrht.support.npy_header import npy_header
from isrht.support.sparse_structure import check_sparse

LABEL = "label"
NPY_HEADER_BYTES = 128
# Doubles hold every whole number up to this one.
EXACT = 2**53


def write_rows(path: str | os.PathLike[str], X: Rows | Iterable[Any], y: Labels = None) -> None:
    """Write rows, and labels if there are any, to a file; an existing file is replaced once the new one is whole.

    Parameters
    ----------
    path : path
        The extension tells the format: ``.csv``, ``.tsv``, ``.npy`` or ``.parquet``; everything else is LIBSVM text,
        with indices from 1. Text is packed if ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` follows.
    X : array, data frame or sparse matrix of shape (n_samples, n_features), or an iterable of blocks ``(X, y)``
        Blocks, such as :func:`~isrht.files.open_rows` gives, are written one by one. Truth values are written as 1
        and 0; whole numbers past 2**53 are read as the nearest doubles.
    y : array of shape (n_samples,) or None, default=None
        The labels, as numbers or strings. Numbers that no double holds are refused. Blocks bring their own labels.

    Returns
    -------
    None

    See Also
    --------
    open_rows, read_rows : Read what was written.
    """
    format = format_by_extension(path)
    if format not in WRITERS:
        raise ValueError(f"{path}: {format} is read but not written; choose one of {', '.join(WRITERS)}")
    if packing(path) and format not in TEXTS:
        raise ValueError(f"{path}: only text may be packed, not {format}")
    blocks = X if are_blocks(X) else [(X, y)]
    if blocks is X and y is not None:
        raise ValueError(f"{path}: blocks bring their labels with them, so y must be None")
    with replaced_when_whole(path) as file, packed(file, path) as out:
        WRITERS[format](out, checked(path, blocks), path)


def are_blocks(X):
    """Say whether X is a sequence of blocks, and not rows, which may also be given as a list."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], tuple) and len(getattr(X[0][0], "shape", ())) == 2
    return not hasattr(X, "shape")


def checked(path, blocks):
    """Yield the blocks, checked: all must be as wide as the first, and have labels if the first has."""
    first = None
    for number, block in enumerate(blocks, start=1):
        if not (isinstance(block, tuple | list) and len(block) == 2):
            raise ValueError(f"{path}: blocks must be pairs (X, y), got a {type(block).__name__}")
        X = checked_rows(path, block[0])
        y = None if block[1] is None else checked_labels(path, block[1], X.shape[0])
        form = f"{X.shape[1]} columns {'without' if y is None else 'with'} labels"
        first = first or form
        if form != first:
            raise ValueError(f"{path}: block {number} has {form}, but the first has {first}")
        if y is None and not X.shape[1]:
            raise ValueError(f"{path}: X has no columns: there is nothing to write")
        yield X, y


def checked_rows(path, X):
    """Return rows as CSR or as a dense array of finite numbers, in a type that every format knows."""
    X = sparse_or_dense(path, X)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(f"{path}: X must be two-dimensional and of numbers, got shape {X.shape} of {X.dtype}")
    check_length(path, "X", X.dtype)
    if not np.isfinite(X.data[: X.nnz] if sp.issparse(X) else X).all():
        raise ValueError(f"{path}: X holds values that are not finite")
    return X.astype(common_type(X.dtype), copy=False)


def sparse_or_dense(path, X):
    """Return X as CSR or as an array; X may also be a data frame, of sparse fields or of fields of different types."""
    if np.ma.is_masked(X):
        raise ValueError(f"{path}: X holds masked values")
    if hasattr(X, "sparse"):  # data frames of pandas have it only if all fields are sparse
        with suppress(ValueError):  # raised if what is left out are not zeros
            X = X.sparse.to_coo()
    if sp.issparse(X):
        check_sparse(X, f"{path}: X")
        return X.tocsr()
    try:
        X = np.asarray(X)
        return np.array(X.tolist()) if X.dtype.kind == "O" else X
    except ValueError as error:
        raise ValueError(f"{path}: X is no table of numbers ({error})") from error


def check_length(path, name, dtype):
    if dtype.kind == "f" and dtype.itemsize > 8:
        raise ValueError(f"{path}: {name} is of {dtype}, and no format holds more than doubles: make it float64")


def common_type(dtype):
    """Return a type for the same numbers that most programs know: in the machine's byte order, no bits, no halves."""
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    return np.dtype(np.float32) if dtype == np.float16 else dtype.newbyteorder("=")


def checked_labels(path, y, n_samples):
    y = np.asarray(y)
    if y.shape != (n_samples,):
        raise ValueError(f"{path}: y must have a label for each of {n_samples} rows, got shape {y.shape}")
    if y.dtype.kind == "T" or (y.dtype.kind == "O" and all(isinstance(label, str) for label in y)):
        if any("\0" in label for label in y):  # NumPy would drop it from the end of a string
            raise ValueError(f"{path}: no format has labels with a NUL in them")
        y = np.array(y.tolist(), dtype=str)
    elif y.dtype.kind == "O" and all(isinstance(label, Real | np.bool_) for label in y):
        y = np.array(y.tolist())
    if y.dtype.kind not in "biufU":
        raise ValueError(f"{path}: labels must be numbers or strings, got {y.dtype}")
    check_length(path, "y", y.dtype)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"{path}: y holds labels that are not finite")
    check_exact(path, y)
    return y if y.dtype.kind == "U" else y.astype(common_type(y.dtype), copy=False)


def check_exact(path, y):
    """Refuse labels that no double holds: they are read as doubles, so several of them would become one class."""
    if y.dtype.kind not in "iu":
        return
    large = y[(y > EXACT) | (y < -EXACT)]
    wrong = next((label for label in large.tolist() if int(float(label)) != label), None)
    if wrong is not None:
        hint = "make labels strings, and read them with label_type='text'"
        raise ValueError(f"{path}: the label {wrong} would be read as {int(float(wrong))}, the nearest double; {hint}")


def write_libsvm(out, blocks, path):
    for X, y in blocks:
        X = sp.csr_matrix(X)
        if not X.has_canonical_format:
            X = X.copy()  # it shares its arrays with the caller's
            X.sum_duplicates()
        if X.nnz and X.indices.max() >= LARGEST_INDEX:
            raise ValueError(f"{path}: LIBSVM text cannot have the index {int(X.indices.max()) + 1}")
        labels = None if y is None else written_labels(path, y, is_libsvm_label)
        for start, stop, row in zip(X.indptr, X.indptr[1:], range(X.shape[0]), strict=False):
            indices, values = (X.indices[start:stop] + 1).tolist(), X.data[start:stop].tolist()
            entries = [f"{index}:{plain(value)}" for index, value in zip(indices, values, strict=True)]
            # A line without a label and entries would be blank, and would not be read as a row.
            fields = [*([] if labels is None else [labels[row]]), *entries] or ["1:0"]
            out.write((" ".join(fields) + "\n").encode("utf-8"))


def written_labels(path, y, is_label):
    """Return labels as they are written; one that would not be read as it is, is refused."""
    labels = as_written(y).tolist()
    wrong = next((label for label in sorted(set(labels)) if not is_label(label)), None)
    if wrong is not None:
        raise ValueError(f"{path}: {FORMAT_NAMES[format_by_extension(path)]} cannot have the label {wrong!r}")
    return labels


def is_libsvm_label(label):
    """Say whether the parser would read this label as it is."""
    text = label.encode("utf-8", "surrogatepass")
    parser = kernels.engine.LibsvmParser(1, LABEL_RULES[TEXT], len(text))
    parser.feed(text + b"\n", UNLIMITED, UNLIMITED)
    return not parser.fault and bool(parser.labelled) and parser.take()[1].tobytes() == text


def plain(value):
    """Return a number in as few digits as may be, and a whole number without a point."""
    return repr(value).removesuffix(".0")


def write_csv(out, blocks, path):
    delimiter = SEPARATORS[format_by_extension(path)]
    names = None
    for X, y in blocks:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        if names is None:
            names = field_names(X, y)
            writer.writerow(names)
        rows = dense(X).tolist()
        labels = [] if y is None else written_labels(path, y, is_label)
        for row, values in enumerate(rows):
            writer.writerow(chain(labels[row : row + 1], map(plain, values)))
        out.write(text.getvalue().encode("utf-8"))


def write_npy(out, blocks, path):
    """Write an array. Its header tells the number of rows, so it is written last, into a place that was left for it."""
    if not out.seekable():
        raise ValueError(f"{path}: NPY cannot be written to a pipe: its beginning tells the number of rows")
    out.write(bytes(NPY_HEADER_BYTES))
    rows, width, dtype = 0, 0, None
    for X, y in blocks:
        if y is not None and y.dtype.kind == "U":
            raise ValueError(f"{path}: an NPY array cannot have labels that are strings")
        table = dense(X) if y is None else np.column_stack([y, dense(X)])
        dtype = dtype or (table.dtype if table.dtype == np.float32 else np.dtype(np.float64))
        if dtype == np.float32 != table.dtype:
            raise ValueError(f"{path}: a block is of {table.dtype}, but the first is of float32")
        rows, width = rows + len(table), table.shape[1]
        out.write(np.ascontiguousarray(table, dtype=dtype).tobytes())
    out.seek(0)
    out.write(npy_header((dtype or np.dtype(np.float64)).str, (rows, width), at_least=NPY_HEADER_BYTES))


def write_parquet(out, blocks, path):
    arrow, parquet = library("pyarrow", "writing Parquet"), library("pyarrow.parquet", "writing Parquet")
    writer = None
    try:
        for X, y in blocks:
            if y is not None and y.dtype.kind == "U":
                written_labels(path, y, is_label)
            fields = [*([] if y is None else [arrow.array(y)]), *(arrow.array(field) for field in dense(X).T)]
            table = arrow.table(fields, names=field_names(X, y))
            writer = writer or parquet.ParquetWriter(out, table.schema)
            if table.schema != writer.schema:
                raise ValueError(f"{path}: a block has columns of other types than the first")
            writer.write_table(table)
        if writer is None:
            raise ValueError(f"{path}: there are no rows to write")
    finally:
        if writer:
            writer.close()


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def field_names(X, y):
    return [*([] if y is None else [LABEL]), *(f"x{number + 1}" for number in range(X.shape[1]))]


FORMAT_NAMES = {"libsvm": "LIBSVM text", "csv": "CSV", "tsv": "TSV", "parquet": "Parquet"}
WRITERS = {"libsvm": write_libsvm, "csv": write_csv, "tsv": write_csv, "npy": write_npy, "parquet": write_parquet}
