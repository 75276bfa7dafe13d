"""Rows made of Arrow's columns by the kernels, against their twin, to the bit.

The tests have a file of their own, because those of the other kernels need no package but NumPy and SciPy.
"""

import numpy as np
import pytest
from kernel_cases import FLOATS
from numpy.testing import assert_array_equal

from isrht import kernels
from isrht.kernels import _reference
from isrht.kernels.records import arrow_columns

pa = pytest.importorskip("pyarrow")

ARROW_TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float", "double"]


def arrow_batch(rng, names, rows, missing=0.0):
    """A batch of columns of the named types, of which each but the first is a slice of a longer one."""
    columns = []
    for place, name in enumerate(names):
        values = rng.integers(0, 2 if name == "bool" else 100, rows + place)
        if name in ("float", "double", "int64"):
            values = values * 1_234_567_890_123 + (rng.random(len(values)) if name != "int64" else 0)
        absent = rng.random(len(values)) < missing
        kind = {"bool": pa.bool_(), "float": pa.float32(), "double": pa.float64()}.get(name) or pa.type_for_alias(name)
        column = pa.array(values, mask=absent).cast(kind, safe=False) if missing else pa.array(values).cast(kind, False)
        columns.append(column.slice(place))
    return pa.record_batch(columns, [str(place) for place in range(len(names))])


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("rows", [0, 1, 3, 255, 256, 259, 513])
@pytest.mark.parametrize("names", [ARROW_TYPES, ["double"] * 21, ["float"] * 37], ids=["all types", "double", "float"])
def test_interleave_arrow(kernel, names, rows, missing, rng):
    dtype = np.float32 if set(names) == {"float"} else np.float64
    batch = arrow_batch(rng, names, rows + 7, missing)
    numbers = rng.permutation(len(names))[: len(names) - 1]
    for start in (0, 5):
        out, expected = np.full((2, rows, len(numbers)), -1, dtype)
        columns = arrow_columns(batch, numbers)
        finite = kernels.engine.interleave_arrow(columns, start, out)
        assert finite == _reference.interleave_arrow(columns, start, expected) == np.isfinite(expected).all()
        assert_array_equal(out, expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 300, 512])
@pytest.mark.parametrize("column", [0, 15, 16, 18])
def test_interleaving_arrow_notices_the_one_value_that_is_not_finite(kernel, bad, place, column, rng):
    for dtype in FLOATS:
        values = rng.standard_normal((19, 513)).astype(dtype)
        values[column, place] = bad
        batch = pa.record_batch(list(values), [str(number) for number in range(19)])
        columns, out = arrow_columns(batch, np.arange(19)), np.empty((513, 19), dtype)
        assert not kernels.engine.interleave_arrow(columns, 0, out)
        assert kernels.engine.interleave_arrow(columns, 0, out[:place])
        assert_array_equal(out, values.T)


def test_interleave_arrow_refuses_what_does_not_fit(kernel, rng):
    batch = pa.record_batch([pa.array([1.0, 2.0]), pa.array(["a", "b"])], ["x", "y"])
    out = np.empty((2, 1))
    for numbers, start, rows, problem in [
        ([0, 0], 0, out, "out has the wrong shape"),
        ([2], 0, out, "a chosen column is out of range"),
        ([-1], 0, out, "a chosen column is out of range"),
        ([1], 0, out, "a column of the Arrow batch has no numbers of this type"),
        ([0], 0, out.astype(np.float32), "a column of the Arrow batch has no numbers of this type"),
        ([0], 1, out, "the Arrow batch has not so many rows"),
        ([0], -1, out, "the Arrow batch has not so many rows"),
    ]:
        with pytest.raises(ValueError, match=problem):
            kernels.engine.interleave_arrow(arrow_columns(batch, numbers), start, rows)


def test_interleave_arrow_takes_a_sliced_batch(kernel):
    batch = pa.record_batch([pa.array(np.arange(10.0)), pa.array([*range(9), None])], ["x", "y"])
    out = np.empty((3, 2))
    assert not kernels.engine.interleave_arrow(arrow_columns(batch.slice(4), [0, 1]), 3, out)
    assert_array_equal(out, [[7, 7], [8, 8], [9, np.nan]])
