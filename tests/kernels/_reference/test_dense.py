"""The kernels on dense rows against their twins, to the bit, and the twins against the formula."""

import numpy as np
import pytest
from kernel_cases import FLOATS, WIDTHS, choose_columns, dense_case, tolerance
from numpy.testing import assert_allclose, assert_array_equal

from isrht import kernels
from isrht.kernels import _reference
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


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 300, 512])
@pytest.mark.parametrize("column", [0, 15, 16, 18])
def test_interleaving_columns_notices_the_one_value_that_is_not_finite(kernel, dtype, bad, place, column, rng):
    values = rng.standard_normal((19, 513)).astype(dtype)
    values[column, place] = bad
    out = np.empty((513, 19), dtype)
    assert not kernels.engine.interleave_columns(values, out)
    assert_array_equal(out, values.T)


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
