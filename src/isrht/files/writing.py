"""Rows and labels to a file, by its extension: LIBSVM text, CSV or TSV, NPY or Parquet; whole or not at all.

Numbers are written so that reading gives the same doubles. Tables have the columns ``label``, where there are labels,
and ``x1``, ``x2``, ...; in an NPY array the labels are column 0.
"""

from __future__ import annotations

import csv
import io
from itertools import chain

import numpy as np
import scipy.sparse as sp

from isrht import _kernels
from isrht.archive import replaced_when_whole
from isrht.files.errors import library
from isrht.files.labels import TEXT, as_written
from isrht.files.libsvm import LABEL_RULES, UNLIMITED
from isrht.files.opening import TEXTS, format_by_extension
from isrht.files.streams import packed, packing
from isrht.files.tables import SEPARATORS

LABEL = "label"
NPY_HEADER_BYTES = 128


def write_rows(path, X, y=None):
    """Write rows and, where there are any, labels; a file that is there is replaced once the new one is whole.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.npy`` or ``.parquet``; everything else is LIBSVM text, with indices from 1. Text is
        packed if ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` follows.
    X : array or sparse matrix of shape (n_samples, n_features), or an iterable of blocks ``(X, y)``
        Blocks, such as :func:`~isrht.files.open_rows` gives, are written one by one.
    y : array of shape (n_samples,) or None
        Numbers or strings.
    """
    format = format_by_extension(path)
    if format not in WRITERS:
        raise ValueError(f"{path}: {format} is read but not written; choose one of {', '.join(WRITERS)}")
    if packing(path) and format not in TEXTS:
        raise ValueError(f"{path}: only text may be packed, not {format}")
    is_whole = hasattr(X, "shape") or isinstance(X, list | tuple)
    blocks = (checked(path, *block) for block in ([(X, y)] if is_whole else X))
    with replaced_when_whole(path) as file, packed(file, path) as out:
        WRITERS[format](out, blocks, path)


def checked(path, X, y):
    """A block with rows as CSR or a dense array of finite numbers, and labels as an array or None."""
    X = X.tocsr() if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(f"{path}: X must be two-dimensional and of numbers, got shape {X.shape} of {X.dtype}")
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise ValueError(f"{path}: X holds values that are not finite")
    return X, None if y is None else checked_labels(path, np.asarray(y), X.shape[0])


def checked_labels(path, y, n_samples):
    if y.shape != (n_samples,):
        raise ValueError(f"{path}: y must have a label for each of {n_samples} rows, got shape {y.shape}")
    if y.dtype.kind == "O" and all(isinstance(label, str) for label in y):
        y = y.astype(str)
    if y.dtype.kind not in "biufU":
        raise ValueError(f"{path}: labels must be numbers or strings, got {y.dtype}")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"{path}: y holds labels that are not finite")
    return y


def write_libsvm(out, blocks, path):
    for X, y in blocks:
        X = sp.csr_matrix(X)
        if not X.has_canonical_format:
            X = X.copy()  # it shares its arrays with the caller's
            X.sum_duplicates()
        labels = None if y is None else libsvm_labels(path, y)
        for start, stop, row in zip(X.indptr, X.indptr[1:], range(X.shape[0]), strict=False):
            indices, values = (X.indices[start:stop] + 1).tolist(), X.data[start:stop].tolist()
            entries = [f"{index}:{plain(value)}" for index, value in zip(indices, values, strict=True)]
            # A line without label and entries would be blank, and no row.
            fields = [*([] if labels is None else [labels[row]]), *entries] or ["1:0"]
            out.write((" ".join(fields) + "\n").encode("utf-8"))


def libsvm_labels(path, y):
    labels = as_written(y).tolist()
    wrong = next((label for label in sorted(set(labels)) if not is_libsvm_label(label)), None)
    if wrong is not None:
        raise ValueError(f"{path}: LIBSVM text cannot have the label {wrong!r}")
    return labels


def is_libsvm_label(label):
    """Would the parser read this label as it is?"""
    text = label.encode("utf-8", "surrogatepass")
    parser = _kernels.engine.LibsvmParser(1, LABEL_RULES[TEXT], len(text))
    parser.feed(text + b"\n", UNLIMITED, UNLIMITED)
    return not parser.fault and bool(parser.labelled) and parser.take()[1].tobytes() == text


def plain(value):
    """A number as short as it may be: whole ones without a point."""
    return repr(value).removesuffix(".0")


def write_csv(out, blocks, path):
    delimiter = SEPARATORS[format_by_extension(path)]
    names = None
    for X, y in blocks:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        if names is None:
            names = column_names(X, y)
            writer.writerow(names)
        rows = dense(X).tolist()
        labels = [] if y is None else as_written(y).tolist()
        for row, values in enumerate(rows):
            writer.writerow(chain(labels[row : row + 1], map(plain, values)))
        out.write(text.getvalue().encode("utf-8"))


def write_npy(out, blocks, path):
    """The header, which tells the number of rows, is written last, into the place that was left for it."""
    out.write(bytes(NPY_HEADER_BYTES))
    rows, width, dtype = 0, 0, None
    for X, y in blocks:
        if y is not None and y.dtype.kind == "U":
            raise ValueError(f"{path}: an NPY array cannot have labels that are strings")
        table = dense(X) if y is None else np.column_stack([y, dense(X)])
        dtype = dtype or (table.dtype if table.dtype == np.float32 else np.dtype(np.float64))
        rows, width = rows + len(table), table.shape[1]
        out.write(np.ascontiguousarray(table, dtype=dtype).tobytes())
    out.seek(0)
    out.write(npy_header(dtype or np.dtype(np.float64), (rows, width)))


def npy_header(dtype, shape):
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape}, }}"
    length = NPY_HEADER_BYTES - 10
    return b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little") + text.ljust(length - 1).encode("ascii") + b"\n"


def write_parquet(out, blocks, path):
    arrow, parquet = library("pyarrow", "writing Parquet"), library("pyarrow.parquet", "writing Parquet")
    writer = None
    try:
        for X, y in blocks:
            columns = [*([] if y is None else [arrow.array(y)]), *(arrow.array(column) for column in dense(X).T)]
            table = arrow.table(columns, names=column_names(X, y))
            writer = writer or parquet.ParquetWriter(out, table.schema)
            writer.write_table(table)
        if writer is None:
            raise ValueError(f"{path}: there are no rows to write")
    finally:
        if writer:
            writer.close()


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def column_names(X, y):
    return [*([] if y is None else [LABEL]), *(f"x{number + 1}" for number in range(X.shape[1]))]


WRITERS = {"libsvm": write_libsvm, "csv": write_csv, "tsv": write_csv, "npy": write_npy, "parquet": write_parquet}
