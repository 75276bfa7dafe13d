"""The kernels on dense rows against their twins, to the bit, and the twins against the formula."""

import numpy as np
import pyarrow as pa
import pytest
from kernel_cases import FLOATS, WIDTHS, choose_columns, dense_case, tolerance
from numpy.testing import assert_allclose, assert_array_equal

from isrht import kernels
from isrht.kernels import _reference
from isrht.kernels.records import arrow_columns
from isrht.transform.hadamard import fwht
from isrht.transform.lengths import next_power_of_two


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [1, 7, 300])
def test_project_rows(kernel, dtype, width, count, rng):
    x, diagonal, length = dense_case(rng, dtype, width)
    columns, scales = choose_columns(rng, length, count, dtype)
    out, expected = np.full((2, len(x), count), np.nan, dtype)
    kernels.engine.project_rows(x, diagonal, length, columns, scales, out)
    _reference.project_rows(x, diagonal, length, columns, scales, expected)
    assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", [1, 7, 8, 100])
@pytest.mark.parametrize("rows", [1, 16, 37])
@pytest.mark.parametrize("problems", [1, 2, 4, 7])
def test_add_moments(kernel, dtype, width, rows, problems, rng):
    x = rng.standard_normal((rows, width)).astype(dtype)
    first, second = rng.standard_normal((2, rows, problems))
    totals, expected = np.ones((2, width, 3, problems))
    kernels.engine.add_moments(x, first, second, totals)
    _reference.add_moments(x, first, second, expected)
    assert_array_equal(totals, expected)
    x = x.astype(np.float64)
    assert_allclose(totals, 1 + np.stack([x.T @ first, x.T @ second, (x * x).T @ second], axis=1), atol=1e-12)
    with pytest.raises(ValueError, match="a row of factors for each row"):
        kernels.engine.add_moments(x, first, np.zeros((rows + 1, problems)), totals)
    with pytest.raises(ValueError, match="totals has the wrong shape"):
        kernels.engine.add_moments(x, first, second, np.zeros((width, 2, problems)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", [0, 1, 7, 8, 9, 64, 83])
@pytest.mark.parametrize("rows", [0, 1, 3, 255, 256, 259, 513])
def test_interleave_columns(kernel, dtype, width, rows, rng):
    columns = rng.standard_normal((width, rows)).astype(dtype)
    columns[columns > 1.5] = np.nan
    out = np.full((rows, width), -1, dtype)
    assert kernels.engine.interleave_columns(columns, out) == np.isfinite(columns).all()
    assert_array_equal(out, columns.T)
    with pytest.raises(ValueError, match="out has the wrong shape"):
        kernels.engine.interleave_columns(columns, np.zeros((rows + 1, width), dtype))


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
def test_interleaving_notices_the_one_value_that_is_not_finite(kernel, bad, place, column, rng):
    for dtype in FLOATS:
        values = rng.standard_normal((19, 513)).astype(dtype)
        values[column, place] = bad
        batch = pa.record_batch(list(values), [str(number) for number in range(19)])
        columns, out = arrow_columns(batch, np.arange(19)), np.empty((513, 19), dtype)
        assert not kernels.engine.interleave_arrow(columns, 0, out)
        assert not kernels.engine.interleave_columns(values, out)
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


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", [2048, 2049, 4096, 4097, 4104, 5000, 8191, 8192, 9001, 12293, 16384, 20000, 24581])
@pytest.mark.parametrize("count", [0, 1, 100, 2000])
@pytest.mark.parametrize("padding", [1, 4])
def test_project_rows_in_two(kernel, dtype, width, count, padding, rng):
    """Rows so long that head and tail are rotated apart, with a diagonal of signs alone and with another."""
    x, diagonal, length = dense_case(rng, dtype, width, rows=9)
    signs = rng.choice([-1, 1], width).astype(dtype)
    columns, scales = choose_columns(rng, padding * length, count, dtype)
    for factors in (signs, diagonal):
        out, expected = np.full((2, len(x), count), np.nan, dtype)
        kernels.engine.project_rows(x, factors, padding * length, columns, scales, out)
        _reference.project_rows(x, factors, padding * length, columns, scales, expected)
        assert_array_equal(out, expected)


@pytest.mark.parametrize("width", [2049, 5000, 8192])
def test_rows_in_two_are_the_transform_of_the_padded_rows(width, rng):
    x, diagonal, length = dense_case(rng, np.float64, width)
    columns, scales = choose_columns(rng, length, 300, np.float64)
    padded = np.zeros((len(x), length))
    padded[:, :width] = x * diagonal
    out = np.empty((len(x), 300))
    _reference.project_rows(x, diagonal, length, columns, scales, out)
    assert_allclose(out, fwht(padded)[:, columns] * scales, rtol=0, atol=50 * tolerance(np.float64, width))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", [700, 5000])
@pytest.mark.parametrize("count", [7, 8, 40])
@pytest.mark.parametrize("rows", [7, 9])
def test_project_rows_to_few_columns(kernel, dtype, width, count, rows, rng):
    """One output after another for few rows, else as many at once as a vector has lanes, wherever they go."""
    x, _, length = dense_case(rng, dtype, width, rows=rows)
    signs = rng.choice([-1, 1], width).astype(dtype)
    scattered, scales = choose_columns(rng, length, count, dtype)
    for columns in (scattered, np.sort(scattered), np.arange(count) + 3):
        out, expected = np.full((2, rows, count), np.nan, dtype)
        kernels.engine.project_rows(x, signs, length, columns, scales, out)
        _reference.project_rows(x, signs, length, columns, scales, expected)
        assert_array_equal(out, expected)


@pytest.mark.parametrize("width", [1, 5, 64, 100])
def test_project_rows_with_more_padding_than_data(kernel, width, rng):
    x, diagonal, _ = dense_case(rng, np.float64, width)
    for length in (128, 1024, 8192, 65536):
        columns, scales = choose_columns(rng, length, 50, np.float64)
        out, expected = np.empty((2, len(x), 50))
        kernels.engine.project_rows(x, diagonal, length, columns, scales, out)
        _reference.project_rows(x, diagonal, length, columns, scales, expected)
        assert_array_equal(out, expected)


@pytest.mark.parametrize("width", [50, 3000])
@pytest.mark.parametrize("rows", [1, 5, 9])
def test_rows_may_lie_apart(kernel, width, rows, rng):
    wide = rng.standard_normal((2 * rows, width + 20))
    x, signs, length = wide[::2, 3 : width + 3], rng.choice([-1.0, 1.0], width), next_power_of_two(width)
    columns, scales = choose_columns(rng, length, 5, np.float64)
    out, expected = np.empty((2, rows, 5))
    kernels.engine.project_rows(x, signs, length, columns, scales, out)
    _reference.project_rows(x, signs, length, columns, scales, expected)
    assert_array_equal(out, expected)


def test_read_only_input(kernel, rng):
    x, diagonal, length = dense_case(rng, np.float64, 10)
    columns, scales = choose_columns(rng, length, 3, np.float64)
    for array in (x, diagonal, columns, scales):
        array.flags.writeable = False
    out = np.empty((len(x), 3))
    kernels.engine.project_rows(x, diagonal, length, columns, scales, out)
    assert np.isfinite(out).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", WIDTHS)
def test_add_rows_and_squares(kernel, dtype, width, rng):
    x, diagonal, length = dense_case(rng, dtype, width, rows=30)
    chosen = rng.integers(0, len(x), 21)
    sums, expected_sums = np.ones((2, width))
    squares, expected_squares = np.ones((2, length))
    kernels.engine.add_rows(x, chosen, sums)
    kernels.engine.add_squares(x, chosen, diagonal, squares)
    _reference.add_rows(x, chosen, expected_sums)
    _reference.add_squares(x, chosen, diagonal, expected_squares)
    assert_array_equal(sums, expected_sums)
    assert_array_equal(squares, expected_squares)
    assert_allclose(sums, 1 + x[chosen].sum(axis=0, dtype=np.float64), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", [2048, 2049, 4097, 5000, 8192])
@pytest.mark.parametrize("padding", [1, 4])
@pytest.mark.parametrize("rows", [3, 21])
def test_add_squares_with_signs(kernel, dtype, width, padding, rows, rng):
    x, _, length = dense_case(rng, dtype, width, rows=rows)
    signs = rng.choice([-1, 1], width).astype(dtype)
    squares, expected = np.ones((2, padding * length))
    kernels.engine.add_squares(x, np.arange(rows), signs, squares)
    _reference.add_squares(x, np.arange(rows), signs, expected)
    assert_array_equal(squares, expected)
