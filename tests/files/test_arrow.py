"""Which layouts of Arrow's columns are rows."""

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from isrht.files.arrow import layout_of, same_floats  # noqa: E402 -- it follows what is needed
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


def test_columns_of_one_floating_type():
    schema = pa.schema([("a", pa.float32()), ("b", pa.float32()), ("c", pa.float64()), ("d", pa.int8())])
    assert same_floats(schema, [0, 1]) == np.float32
    assert same_floats(schema, [2]) == np.float64
    assert same_floats(schema, [0, 2]) is None
    assert same_floats(schema, [3]) is None
