"""Columns of Arrow as rows of numbers: many columns as an array, columns of lists as an array or a CSR matrix.

Three layouts are understood, whatever file or library the columns come from. Every column is a feature. Or one column
has lists, of as many numbers in every row. Or the rows are sparse: a list of indices and one of values for each row, in
two columns of these names or in one of structures that have such fields (and perhaps a ``size``, which is the width).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht import kernels
from isrht.files.errors import FileError, library
from isrht.files.labels import WRITTEN_NUMBER
from isrht.kernels.records import arrow_columns

INDICES, VALUES, SIZE = "indices", "values", "size"


def layout_of(path, schema, place):
    """Return "columns", "lists" or "sparse": how the features lie in columns of which one may be the label.

    Columns that hold anything but numbers are a :class:`FileError` that names the column.
    """
    types = library("pyarrow", "reading Parquet").types
    features = [field for number, field in enumerate(schema) if number != place]
    if place is not None and not _is_label(types, schema.field(place).type):
        raise FileError(path, f"column {schema.field(place).name!r} is of type {schema.field(place).type}, no label")
    if _is_sparse(types, features):
        return "sparse"
    if len(features) == 1 and _is_list(types, features[0].type):
        return "lists"
    for field in features:
        if not _is_number(types, field.type):
            raise FileError(path, f"column {field.name!r} is of type {field.type}, not of numbers")
    return "columns"


def _is_number(types, of):
    return types.is_integer(of) or types.is_floating(of) or types.is_boolean(of)


def _is_label(types, of):
    return _is_number(types, of) or types.is_string(of) or types.is_large_string(of) or types.is_dictionary(of)


def _is_list(types, of):
    is_list = types.is_list(of) or types.is_large_list(of) or types.is_fixed_size_list(of)
    return is_list and _is_number(types, of.value_type)


def _is_sparse(types, features):
    if len(features) == 1 and types.is_struct(features[0].type):
        of = features[0].type
        features = [of.field(number) for number in range(of.num_fields)]
        features = [field for field in features if field.name in (INDICES, VALUES)]
    names = {field.name for field in features}
    return len(features) == 2 and names == {INDICES, VALUES} and all(_is_list(types, field.type) for field in features)


def column_of(name, value, count):
    """Return a field and a column of one value, which is a number if it is written as one."""
    arrow = library("pyarrow", "reading Parquet")
    is_number = WRITTEN_NUMBER.fullmatch(value) is not None
    kind = arrow.float64() if is_number else arrow.string()
    return arrow.field(name, kind), arrow.array([float(value) if is_number else value] * count, kind)


def precision_of(schema, numbers):
    """Return the type of the rows that these columns make: float32 if all of them have it, and else float64."""
    types, kinds = library("pyarrow", "reading Parquet").types, schema.types
    different = {kinds[number].id: kinds[number] for number in numbers}
    return np.float32 if different and all(map(types.is_float32, different.values())) else np.float64


def bytes_of_row(schema, numbers):
    """Return how many bytes a row of these columns of numbers takes as Arrow has them, which is less than as floats."""
    kinds = schema.types
    return max(1, sum(kinds[number].bit_width for number in numbers) // 8)


class ColumnsAsRows:
    """Columns of numbers of a batch, of which any consecutive rows become an array.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
    numbers : list of int
        The columns.
    dtype : dtype
        What :func:`precision_of` tells of these columns.
    """

    def __init__(self, batch, numbers, dtype):
        self.dtype = dtype
        self._columns = arrow_columns(batch if dtype == np.float32 else _without_halves(batch), numbers)

    def rows(self, start, stop):
        """Return these rows, with NaN where values are missing, and whether all values are finite."""
        rows = np.empty((stop - start, len(self._columns.numbers)), dtype=self.dtype)
        return rows, kernels.engine.interleave_arrow(self._columns, start, rows)


def _without_halves(batch):
    """Return a batch with float32 in place of float16, which the kernel does not know."""
    types, kinds = library("pyarrow", "reading Parquet").types, batch.schema.types
    if not any(map(types.is_float16, {kind.id: kind for kind in kinds}.values())):
        return batch
    for number, kind in enumerate(kinds):
        if types.is_float16(kind):
            batch = batch.set_column(number, batch.schema.names[number], batch.column(number).cast("float"))
    return batch


def interleaved(columns):
    """Return an array of columns (width, rows) as one of rows (rows, width), and whether all values are finite."""
    rows = np.empty(columns.shape[::-1], dtype=columns.dtype)
    return rows, kernels.engine.interleave_columns(columns, rows)


def rows_of_lists(path, first_row, column):
    """Return a column of lists as an array with a row for each list; all must have the same length."""
    lengths = _lengths(path, first_row, column)
    if len(lengths) and (lengths != lengths[0]).any():
        row = int(np.argmax(lengths != lengths[0]))
        problem = f"its list has {lengths[row]} numbers, the one of the first row {lengths[0]}"
        raise FileError(path, f"row {first_row + row + 1}: {problem} (sparse rows have lists of indices and of values)")
    return as_floats(_flat(column)).reshape(len(lengths), -1)


def sparse_rows(path, first_row, batch, numbers):
    """Return lists of indices and of values as ``(data, indices, indptr, size)``; the size is None if none is given."""
    columns = {batch.schema.field(number).name: batch.column(number) for number in numbers}
    if len(columns) == 1:
        (struct,) = columns.values()
        columns = {struct.type.field(i).name: struct.field(i) for i in range(struct.type.num_fields)}
    lengths = _lengths(path, first_row, columns[INDICES])
    wrong = lengths != _lengths(path, first_row, columns[VALUES])
    if wrong.any():
        raise FileError(path, f"row {first_row + int(np.argmax(wrong)) + 1}: it has not as many indices as values")
    indices, data = _flat(columns[INDICES]), as_floats(_flat(columns[VALUES]))
    if indices.dtype.kind not in "iu" or (len(indices) and int(indices.min()) < 0):
        raise FileError(path, "the indices of its sparse rows are no whole numbers from 0 on")
    sizes = columns[SIZE].drop_null() if SIZE in columns else ()
    size = int(max(value.as_py() for value in sizes)) if len(sizes) else None
    return data, indices, np.concatenate([[0], np.cumsum(lengths)]), size


def rows_of_batch(name, first_row, batch, layout, place, width):
    """Return the features of a batch as an array or CSR matrix; sparse rows without a width are as wide as need be."""
    features = [number for number in range(batch.num_columns) if number != place]
    if layout == "lists":
        return rows_of_lists(name, first_row, batch.column(features[0]))
    if layout == "columns":
        return ColumnsAsRows(batch, features, precision_of(batch.schema, features)).rows(0, batch.num_rows)[0]
    *parts, size = sparse_rows(name, first_row, batch, features)
    needed = max(int(parts[1].max()) + 1 if len(parts[1]) else 0, size or 0)
    return csr(parts, needed if width is None else width)


def rows_and_labels(batch, label, n_features=None):
    """Return the rows and the labels of an Arrow batch, of whose columns ``label`` names one.

    ``n_features`` is the width of sparse rows; without it they are as wide as their largest index asks for.
    """
    place = batch.schema.names.index(label)
    layout = layout_of("the Arrow batch", batch.schema, place)
    X = rows_of_batch("the Arrow batch", 0, batch, layout, place, n_features)
    return X, column_of_labels(batch, place)


def column_of_labels(batch, place):
    """Return the labels of a batch as an array."""
    return batch.column(place).to_numpy(zero_copy_only=False)


def csr(parts, width):
    """Return a CSR matrix of the parts of sparse rows, whose indices need not ascend."""
    data, indices, indptr = parts
    X = sp.csr_matrix((data, indices, indptr), (len(indptr) - 1, width))
    if not X.has_canonical_format:
        X = X.copy()  # Arrow's arrays cannot be written to
        X.sum_duplicates()
    return X


def _lengths(path, first_row, column):
    compute = library("pyarrow.compute", "reading Parquet")
    lengths = compute.list_value_length(column)
    if lengths.null_count:
        row = int(np.argmax(np.asarray(lengths.is_null().to_numpy(zero_copy_only=False))))
        raise FileError(path, f"row {first_row + row + 1}: there is no list")
    return lengths.to_numpy(zero_copy_only=False).astype(np.int64)


def _flat(column):
    values = column.flatten()
    return values.to_numpy(zero_copy_only=False)


def as_floats(array):
    """Return numbers as floats: float32 stays as it is, and everything else becomes float64."""
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
