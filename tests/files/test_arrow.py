"""Which layouts of Arrow's columns are rows."""

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from isrht.files.arrow import ColumnsAsRows, bytes_of_row, layout_of, precision_of  # noqa: E402 -- it follows what is needed
from isrht.files.errors import FileError  # noqa: E402

LIST = pa.list_(pa.float32())


@pytest.mark.parametrize(
    ("fields", "layout"),
    [
        ({"a": pa.float32(), "b": pa.int8(), "y": pa.string()}, "columns"),
        ({"x": LIST, "y": pa.int64()}, "lists"),
        ({"values": pa.large_list(pa.float64()), "indices": pa.list_(pa.int32()), "y": pa.bool_()}, "sparse"),
        ({"x": pa.struct({"type": pa.int8(), "size": pa.int32(), "indices": LIST, "values": LIST}), "y": LIST}, None),
        ({"x": pa.struct({"indices": LIST, "values": LIST}), "y": pa.int8()}, "sparse"),
        ({"x": LIST, "z": LIST, "y": pa.int8()}, None),
        ({"x": pa.date32(), "y": pa.int8()}, None),
    ],
)
def test_layouts(fields, layout):
    schema = pa.schema(list(fields.items()))
    if layout is None:
        with pytest.raises(FileError, match="rows.parquet: column '.' is of type .*, (not of numbers|no label)"):
            layout_of("rows.parquet", schema, len(fields) - 1)
    else:
        assert layout_of("rows.parquet", schema, len(fields) - 1) == layout


def test_the_bytes_of_a_row_are_those_that_arrow_has():
    schema = pa.schema([("a", pa.int8()), ("b", pa.float64()), ("c", pa.int32()), ("d", pa.bool_())])
    assert bytes_of_row(schema, [0, 1, 2]) == 13
    assert bytes_of_row(schema, [1, 3]) == 8
    assert bytes_of_row(schema, [3]) == 1


def test_rows_have_the_precision_of_their_columns():
    schema = pa.schema([("a", pa.float32()), ("b", pa.float32()), ("c", pa.float64()), ("d", pa.int8())])
    assert precision_of(schema, [0, 1]) == np.float32
    assert precision_of(schema, [2]) == precision_of(schema, [0, 2]) == precision_of(schema, [3]) == np.float64


def test_columns_of_all_types_become_rows():
    halves = pa.array(np.array([0.5, -1.5, 2.0], dtype=np.float16))
    batch = pa.record_batch([halves, pa.array([1, None, 3]), pa.array([True, False, True])], ["a", "b", "c"])
    rows, finite = ColumnsAsRows(batch, [2, 0, 1], np.float64).rows(0, 3)
    np.testing.assert_array_equal(rows, [[1, 0.5, 1], [0, -1.5, np.nan], [1, 2, 3]])
    assert not finite
    rows, finite = ColumnsAsRows(batch, [0], np.float64).rows(1, 3)
    np.testing.assert_array_equal(rows, [[-1.5], [2]])
    assert finite
