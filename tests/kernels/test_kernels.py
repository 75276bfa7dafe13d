"""Every kernel against its twin in _reference, to the bit; the twin against the formula; and input that must not crash.

``test_kernel_bits.py`` compares them at random shapes.
"""

import ctypes
import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from isrht import kernels
from isrht.kernels import _reference
from isrht.transform.hadamard import fwht, next_power_of_two

FLOATS = [np.float32, np.float64]
WIDTHS = [1, 3, 8, 31, 100, 257, 1000, 5000, 20000]


def dense_case(rng, dtype, width, rows=11):
    x = rng.standard_normal((rows, width)).astype(dtype)
    diagonal = rng.standard_normal(width).astype(dtype)
    return x, diagonal, next_power_of_two(width)


def choose_columns(rng, length, count, dtype):
    columns = rng.integers(0, length, count)
    return columns, rng.standard_normal(count).astype(dtype)


def tolerance(dtype, width):
    return 4 * np.finfo(dtype).eps * np.sqrt(width) * np.log2(width + 1)


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
@pytest.mark.parametrize("width", [2048, 2049, 3000, 4096, 4097, 4104, 5000, 8191, 8192, 9001, 16384, 20000])
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


def sparse_case(rng, dtype, index_type, width, rows=40, density=0.1):
    per_row = rng.integers(0, max(2, int(width * density)), rows)
    per_row[3:4] = 0
    indptr = np.concatenate([[0], np.cumsum(per_row)]).astype(index_type)
    indices = rng.integers(0, width, indptr[-1]).astype(index_type)  # unsorted, with repetitions
    return rng.standard_normal(indptr[-1]).astype(dtype), indices, indptr


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("width", [1, 7, 300, 5000, 70000])
@pytest.mark.parametrize("count", [1, 64, 257])
def test_project_csr(kernel, dtype, index_type, width, count, rng):
    data, indices, indptr = sparse_case(rng, dtype, index_type, width, density=min(0.1, 300 / width))
    diagonal = rng.standard_normal(width).astype(dtype)
    columns, scales = choose_columns(rng, next_power_of_two(width), count, dtype)
    out, expected = np.full((2, len(indptr) - 1, count), np.nan, dtype)
    arguments = data, indices, indptr, diagonal, next_power_of_two(width), columns, scales
    kernels.engine.project_csr(*arguments, out)
    _reference.project_csr(*arguments, expected)
    assert_array_equal(out, expected)
    signs = 1 - 2 * (np.bitwise_count(np.arange(width)[:, None] & columns) % 2).astype(dtype)
    matrix = sp.csr_array((data * diagonal[indices], indices, indptr), (len(out), width))
    assert_allclose(out, (matrix @ signs) * scales, rtol=0, atol=20 * tolerance(dtype, 300))


@pytest.mark.parametrize("count", [20, 300])
def test_project_csr_of_long_rows_and_the_largest_length(kernel, count, rng):
    width, length = 2**24 + 5, 2**31
    indices = rng.integers(0, width, 5000)
    data, diagonal = rng.standard_normal(5000), np.ones(width)
    columns = rng.integers(0, length, count)
    out = np.empty((1, count))
    kernels.engine.project_csr(data, indices, np.array([0, 5000]), diagonal, length, columns, np.ones(count), out)
    signs = 1.0 - 2.0 * (np.bitwise_count(indices[:, None] & columns) % 2)
    assert_allclose(out[0], data @ signs, atol=1e-10)


@pytest.mark.parametrize("count", [63, 64, 65, 255, 256, 257, 515])
def test_project_csr_of_rows_of_any_length(kernel, count, rng):
    """Around the groups of eight entries, the eighty that are tabled at once, and the blocks of 256 columns."""
    sizes = np.array([0, 1, 7, 8, 9, 16, 79, 80, 81, 0, 160, 163])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    indices, data = rng.integers(0, 1000, indptr[-1]), rng.standard_normal(indptr[-1])
    diagonal, columns = rng.standard_normal(1000), rng.integers(0, 1024, count)
    out = np.full((len(sizes), count), np.nan)
    kernels.engine.project_csr(data, indices, indptr, diagonal, 1024, columns, np.full(count, 0.5), out)
    signs = 1.0 - 2.0 * (np.bitwise_count(np.arange(1000)[:, None] & columns) % 2)
    dense = sp.csr_array((data, indices, indptr), shape=(len(sizes), 1000)).toarray()
    assert_allclose(out, (dense * diagonal) @ signs / 2, atol=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("width", [1, 7, 300, 70000, 200000])
def test_add_csr_rows_and_autocorrelation(kernel, dtype, index_type, width, rng):
    data, indices, indptr = sparse_case(rng, dtype, index_type, width, density=min(0.1, 100 / width))
    chosen = rng.integers(0, len(indptr) - 1, 25)
    diagonal = rng.standard_normal(width).astype(dtype)
    sums, expected_sums = np.ones((2, width))
    kernels.engine.add_csr_rows(data, indices, indptr, chosen, sums)
    _reference.add_csr_rows(data, indices, indptr, chosen, expected_sums)
    assert_array_equal(sums, expected_sums)
    matrix = sp.csr_array((data.astype(np.float64), indices, indptr), (len(indptr) - 1, width))
    assert_allclose(sums, 1 + matrix[chosen].sum(axis=0), rtol=1e-12, atol=1e-12)
    totals, expected = np.ones((2, next_power_of_two(width)))
    kernels.engine.add_csr_autocorrelation(data, indices, indptr, chosen, diagonal, totals)
    _reference.add_csr_autocorrelation(data, indices, indptr, chosen, diagonal, expected)
    assert_array_equal(totals, expected)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("width", [1, 300, 70000])
@pytest.mark.parametrize("problems", [1, 2, 3, 4, 9])
def test_add_csr_moments(kernel, dtype, index_type, width, problems, rng):
    data, indices, indptr = sparse_case(rng, dtype, index_type, width, density=min(0.1, 100 / width))
    first, second = rng.standard_normal((2, len(indptr) - 1, problems))
    first[::3] = second[::3] = 0
    totals, expected = np.ones((2, width, 3, problems))
    kernels.engine.add_csr_moments(data, indices, indptr, first, second, totals)
    _reference.add_csr_moments(data, indices, indptr, first, second, expected)
    assert_array_equal(totals, expected)
    matrix = sp.csr_array((data.astype(np.float64), indices, indptr), (len(indptr) - 1, width))
    squares = sp.csr_array((matrix.data**2, indices, indptr), matrix.shape)
    sums = np.stack([matrix.T @ first, matrix.T @ second, squares.T @ second], axis=1)
    assert_allclose(totals, 1 + sums, rtol=1e-12, atol=1e-12)
    for wrong in (first[1:], first[:, 1:]):
        with pytest.raises(ValueError, match="a row of factors for each row"):
            kernels.engine.add_csr_moments(data, indices, indptr, first, np.ascontiguousarray(wrong), totals)
    with pytest.raises(ValueError, match="column index|totals has the wrong shape"):
        kernels.engine.add_csr_moments(data, indices, indptr, first, second, np.zeros((width, 2, problems)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("problems", [1, 3, 4, 9])
def test_moments_of_features(kernel, dtype, index_type, problems, rng):
    """CSR rows are features here, and columns the rows of the data."""
    data, indices, indptr = sparse_case(rng, dtype, index_type, 70, density=0.1)
    factors, n_features = rng.standard_normal((70, 2, problems)), len(indptr) - 1
    totals, expected = np.full((2, n_features, 3, problems), np.nan)
    kernels.engine.moments_of_features(data, indices, indptr, factors, totals)
    _reference.moments_of_features(data, indices, indptr, factors, expected)
    assert_array_equal(totals, expected)
    matrix = sp.csr_array((data.astype(np.float64), indices, indptr), (n_features, 70))
    squares = sp.csr_array((matrix.data**2, indices, indptr), matrix.shape)
    sums = np.stack([matrix @ factors[:, 0], matrix @ factors[:, 1], squares @ factors[:, 1]], axis=1)
    assert_allclose(totals, sums, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="factors must be two"):
        kernels.engine.moments_of_features(data, indices, indptr, np.ascontiguousarray(factors[:, :1]), totals)
    with pytest.raises(ValueError, match="totals has the wrong shape"):
        kernels.engine.moments_of_features(data, indices, indptr, factors, totals[1:])


def diagonal_case(rng, width, problems, folds=3):
    rows = rng.standard_normal((40, width)) * (rng.random((40, width)) < 0.3)
    first, second = rng.standard_normal((2, 40, problems))
    second = second**2
    moments = np.stack([rows.T @ first, rows.T @ second, (rows**2).T @ second], axis=1)
    mean, deviation = rng.standard_normal((width, folds)), rng.random((width, folds)) + 0.1
    varies = rng.random((width, folds)) < 0.9
    fold, kind = rng.integers(0, folds, problems), rng.integers(0, 3, problems)
    threshold = rng.choice([0.0, 1.0], problems)
    return [moments, mean, deviation, varies, fold, first.sum(0), second.sum(0), kind, threshold]


def diagonal_outputs(width, problems, n_rows=None, signals=True):
    """Where diagonals go, which are the last of three paths' rows; signals, offsets, grams, and the last array.

    That is for the diagonals themselves, or for their products with ``n_rows`` rows.
    """
    start, owner = 2, np.sort(np.arange(problems) % 3)
    z = [np.random.default_rng(i).standard_normal((4 + problems, width + 5)).astype(np.float32) for i in range(3)]
    row = 4 + np.concatenate([np.arange(np.count_nonzero(owner == path)) for path in range(3)])
    rows = 4 + np.bincount(owner, minlength=3)[owner]
    last = np.full((width, problems), np.nan) if n_rows is None else np.ones((n_rows, problems))
    signals = np.full((width if signals else 0, problems), np.nan)
    return [z, owner, row, rows, 1e-10, start, signals, np.ones(problems), np.ones((problems, rows.max())), last]


@pytest.mark.parametrize("width", [0, 1, 300, 1100])
@pytest.mark.parametrize("problems", [1, 2, 7])
@pytest.mark.parametrize("signals", [False, True])
def test_make_diagonals(kernel, width, problems, signals, rng):
    case = diagonal_case(rng, width, problems)
    results, expected = [diagonal_outputs(width, problems, signals=signals) for _ in range(2)]
    kernels.engine.make_diagonals(*case, *results)
    _reference.make_diagonals(*case, *expected)
    for mine, wanted in zip(results[0], expected[0], strict=True):
        assert_array_equal(mine, wanted)
    for place in (6, 7, 8, 9):
        assert_array_equal(results[place], expected[place])
    mean, deviation, fold, kind = case[1], case[2], case[4], case[7]
    z, path, row, rows, _, start, _, offsets, grams, diagonals = results
    assert_allclose(offsets, 1 + (diagonals * mean[:, fold]).sum(axis=0), rtol=1e-12, atol=1e-12)
    for p, mine in enumerate(path):
        features = z[mine][: rows[p], start : start + width].astype(np.float64)
        metric = 1 if kind[p] == 0 else deviation[:, fold[p]]
        assert_allclose(grams[p, : rows[p]], 1 + features @ (features[row[p]] * metric), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("n_features", [1, 1100])
@pytest.mark.parametrize("problems", [1, 2, 7])
def test_diagonals_of_features(kernel, dtype, index_type, n_features, problems, rng):
    """What the three steps make one after the other."""
    arrays = sparse_case(rng, dtype, index_type, 40, rows=n_features)
    _, *case = diagonal_case(rng, n_features, problems)
    factors = rng.standard_normal((40, 2, problems))
    results, expected, steps = [diagonal_outputs(n_features, problems, n_rows=40) for _ in range(3)]
    kernels.engine.diagonals_of_features(*arrays, factors, *case, *results)
    _reference.diagonals_of_features(*arrays, factors, *case, *expected)
    for result, wanted in zip([*results[0], *results[6:]], [*expected[0], *expected[6:]], strict=True):
        assert_array_equal(result, wanted)
    moments, diagonals = np.empty((n_features, 3, problems)), np.empty((n_features, problems))
    kernels.engine.moments_of_features(*arrays, factors, moments)
    kernels.engine.make_diagonals(moments, *case, *steps[:-1], diagonals)
    for result, wanted in zip([*results[0], *results[6:9]], [*steps[0], *steps[6:9]], strict=True):
        assert_array_equal(result, wanted)
    matrix = sp.csr_array((arrays[0].astype(np.float64), *arrays[1:]), (n_features, 40))
    assert_allclose(results[-1], 1 + matrix.T @ diagonals, rtol=1e-10, atol=1e-10)
    with pytest.raises(ValueError, match="factors must be two"):
        kernels.engine.diagonals_of_features(*arrays, np.zeros((40, 1, problems)), *case, *results)
    with pytest.raises(ValueError, match="products has the wrong shape"):
        kernels.engine.diagonals_of_features(*arrays, factors, *case, *results[:-1], np.zeros((39, problems)))


def test_diagonals_of_what_never_varies_are_zero(kernel, rng):
    case = diagonal_case(rng, 20, 2)
    case[3] = np.zeros_like(case[3])
    results = diagonal_outputs(20, 2)
    kernels.engine.make_diagonals(*case, *results)
    assert not any(result.any() for result in (results[6], results[7] - 1, results[8] - 1, results[9]))
    assert not results[0][0][4, 2:-3].any()


def test_make_diagonals_refuses_what_is_not_there(rng):
    if kernels.engine is _reference:
        pytest.skip("NumPy checks its own indices")
    for place, message in ((4, "fold"), (7, "kind")):
        case = diagonal_case(rng, 20, 2)
        case[place] = case[place] + 3
        with pytest.raises(ValueError, match=message):
            kernels.engine.make_diagonals(*case, *diagonal_outputs(20, 2))
    for place, more, message in ((1, 3, "a path"), (2, 4, "a row of z"), (3, 4, "a row of z"), (5, 4, "z has the")):
        results = diagonal_outputs(20, 2)
        results[place] = results[place] + more
        with pytest.raises(ValueError, match=message):
            kernels.engine.make_diagonals(*diagonal_case(rng, 20, 2), *results)


def test_the_transformed_autocorrelation_is_the_sum_of_squares(kernel, rng):
    width, length = 300, 512
    data, indices, indptr = sparse_case(rng, np.float64, np.int32, width)
    dense = sp.csr_array((data, indices, indptr), (len(indptr) - 1, width)).toarray()
    everything, diagonal = np.arange(len(dense)), rng.choice([-1.0, 1.0], width)
    squares, correlation = np.zeros((2, length))
    kernels.engine.add_squares(dense, everything, diagonal, squares)
    kernels.engine.add_csr_autocorrelation(data, indices, indptr, everything, diagonal, correlation)
    kernels.engine.transform(correlation.reshape(1, length, 1), 1.0)
    assert_allclose(correlation, squares, rtol=1e-10)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", [1, 7, 8, 100, 2048, 5003])
@pytest.mark.parametrize("problems", [1, 2, 5])
def test_score_rows(kernel, dtype, width, problems, rng):
    x = rng.standard_normal((11, width)).astype(dtype)
    weights, intercept = rng.standard_normal((problems, width)), rng.standard_normal(problems)
    out, expected = np.full((2, len(x), problems), np.nan)
    assert kernels.engine.score_rows(x, weights, intercept, out)
    assert _reference.score_rows(x, weights, intercept, expected)
    assert_array_equal(out, expected)
    assert_allclose(out, x @ weights.T + intercept, rtol=0, atol=1e-12 * width)
    kernels.engine.score_rows(x[4:5], weights, intercept, out[:1])
    assert_array_equal(out[0], expected[4])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("width", [1, 7, 300, 70000])
@pytest.mark.parametrize("problems", [1, 2, 5])
def test_score_csr(kernel, dtype, index_type, width, problems, rng):
    data, indices, indptr = sparse_case(rng, dtype, index_type, width, density=min(0.1, 300 / width))
    weights, intercept = rng.standard_normal((problems, width)), rng.standard_normal(problems)
    expected = np.empty((len(indptr) - 1, problems))
    assert _reference.score_csr(data, indices, indptr, weights, intercept, expected)
    for order in "CF":
        out = np.full_like(expected, np.nan)
        assert kernels.engine.score_csr(data, indices, indptr, np.asarray(weights, order=order), intercept, out)
        assert_array_equal(out, expected)
    matrix = sp.csr_array((data.astype(np.float64), indices, indptr), (len(out), width))
    assert_allclose(out, matrix @ weights.T + intercept, rtol=0, atol=1e-10)
    part = np.empty((7, problems))
    kernels.engine.score_csr(data, indices, indptr[3:11], weights, intercept, part)
    assert_array_equal(part, expected[3:10])


def test_enough_rows_to_release_the_gil_for_have_the_same_scores(kernel, rng):
    x, weights, intercept = rng.standard_normal((210, 500)), rng.standard_normal((1, 500)), np.ones(1)
    matrix = sp.csr_array(x)
    out, expected = np.empty((2, 210, 1))
    kernels.engine.score_rows(x, weights, intercept, out)
    _reference.score_rows(x, weights, intercept, expected)
    assert_array_equal(out, expected)
    arguments = matrix.data, matrix.indices, matrix.indptr, weights, intercept
    kernels.engine.score_csr(*arguments, out)
    _reference.score_csr(*arguments, expected)
    assert_array_equal(out, expected)
    broken = matrix.indices.copy()
    broken[-1] = 500
    with pytest.raises(ValueError, match="column index"):
        kernels.engine.score_csr(matrix.data, broken, *arguments[2:], out)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_shows_in_every_score(kernel, bad, rng):
    """Weights of zero, too: a finite score is the proof that the row was finite."""
    for place in range(20):
        x, weights, out = rng.standard_normal((1, 20)), rng.standard_normal((2, 20)), np.empty((1, 2))
        x[0, place], weights[:, place] = bad, [0, 1]
        assert not kernels.engine.score_rows(x, weights, np.zeros(2), out)
        assert not np.isfinite(out).any()
        matrix = sp.csr_array(x)
        assert not kernels.engine.score_csr(matrix.data, matrix.indices, matrix.indptr, weights, np.zeros(2), out)
        assert not np.isfinite(out).any()


def test_scores_of_shapes_that_do_not_fit_are_errors(kernel):
    engine, x, indptr = kernels.engine, np.ones((2, 3)), np.array([0, 1, 3], np.int32)
    weights, intercept, out = np.ones((2, 3)), np.ones(2), np.empty((2, 2))
    data, indices = np.ones(3), np.arange(3, dtype=np.int32)
    for bad, message in [
        ((weights[:, :2].copy(), intercept, out), "differ in width|column index"),
        ((weights, np.ones(3), out), "weights and intercept differ"),
        ((weights, intercept, np.empty((2, 1))), "out has the wrong shape"),
        ((weights, intercept, np.empty((1, 2))), "out has the wrong shape"),
    ]:
        with pytest.raises(ValueError, match=message):
            engine.score_rows(x, *bad)
        with pytest.raises(ValueError, match=message):
            engine.score_csr(data, indices, indptr, *bad)


def test_bad_indices_are_errors_not_crashes(kernel, rng):
    engine, one = kernels.engine, np.ones(1)
    data, indptr, diagonal = np.ones(2), np.array([0, 2], np.int32), np.ones(10)
    out = np.empty((1, 1))
    column = np.array([0])
    for bad in ([0, 10], [-1, 0], [2**31 - 1, 0]):
        indices = np.array(bad, np.int32)
        with pytest.raises(ValueError, match="column index"):
            engine.project_csr(data, indices, indptr, diagonal, 16, column, one, out)
        with pytest.raises(ValueError, match="column index"):
            engine.add_csr_rows(data, indices, indptr, np.array([0]), np.zeros(10))
        with pytest.raises(ValueError, match="column index"):
            engine.add_csr_autocorrelation(data, indices, indptr, np.array([0]), diagonal, np.zeros(16))
        with pytest.raises(ValueError, match="column index"):
            engine.add_csr_moments(data, indices, indptr, np.ones((1, 1)), np.ones((1, 1)), np.zeros((10, 3, 1)))
        with pytest.raises(ValueError, match="column index"):
            engine.moments_of_features(data, indices, indptr, np.ones((10, 2, 1)), np.zeros((1, 3, 1)))
        case, results = diagonal_case(rng, 1, 1)[1:], diagonal_outputs(1, 1, n_rows=10)
        with pytest.raises(ValueError, match="column index"):
            engine.diagonals_of_features(data, indices, indptr, np.ones((10, 2, 1)), *case, *results)
        with pytest.raises(ValueError, match="column index"):
            engine.score_csr(data, indices, indptr, np.ones((1, 10)), one, out)
    good = np.array([0, 1], np.int32)
    for broken in ([0, 3], [-1, 2], [2, 0]):
        with pytest.raises(ValueError, match="indptr"):
            engine.project_csr(data, good, np.array(broken, np.int32), diagonal, 16, column, one, out)
        with pytest.raises(ValueError, match="indptr"):
            engine.score_csr(data, good, np.array(broken, np.int32), np.ones((1, 10)), one, out)
    for chosen in ([1], [-1]):
        with pytest.raises(ValueError, match="chosen row"):
            engine.add_csr_rows(data, good, indptr, np.array(chosen), np.zeros(10))
        with pytest.raises(ValueError, match="chosen row"):
            engine.add_squares(np.ones((1, 10)), np.array(chosen), diagonal, np.zeros(16))
    for wrong in (16, -1):
        with pytest.raises(ValueError, match="chosen column"):
            engine.project_csr(data, good, indptr, diagonal, 16, np.array([wrong]), one, out)
        with pytest.raises(ValueError, match="chosen column"):
            engine.project_rows(np.ones((1, 10)), diagonal, 16, np.array([wrong]), one, out)


def test_read_only_input(kernel, rng):
    x, diagonal, length = dense_case(rng, np.float64, 10)
    columns, scales = choose_columns(rng, length, 3, np.float64)
    for array in (x, diagonal, columns, scales):
        array.flags.writeable = False
    out = np.empty((len(x), 3))
    kernels.engine.project_rows(x, diagonal, length, columns, scales, out)
    assert np.isfinite(out).all()


CORE = Path(__file__).parents[2] / "core"
GXX = shutil.which("g++")
needs_gxx = pytest.mark.skipif(
    not (GXX and shutil.which("nm") and "x86_64" in subprocess.getoutput("g++ -dumpmachine")),
    reason="needs g++ and nm on x86-64",
)
COMPILE = [GXX, "-std=c++17", "-O1", "-Wno-psabi", "-ffp-contract=off", "-I", CORE]


@needs_gxx
@pytest.mark.parametrize("variant", ["avx2", "avx512"])
def test_no_shared_function_is_compiled_for_a_newer_processor(variant, tmp_path):
    """A weak symbol outside of the variant's namespace could replace the baseline's at link time."""
    flags = {"avx2": ["-mavx2", "-mfma"], "avx512": ["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mfma"]}
    target = tmp_path / "kernels.o"
    subprocess.run([*COMPILE, *flags[variant], "-c", CORE / f"kernels_{variant}.cpp", "-o", target], check=True)
    symbols = subprocess.run(
        ["nm", "-C", "--extern-only", "--defined-only", target], capture_output=True, text=True, check=True
    ).stdout
    foreign = [line for line in symbols.splitlines() if f"isrht::{variant}::" not in line]
    assert [line for line in foreign if "__gxx_personality" not in line] == []


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """The kernels at the width of AVX-512, compiled for this processor."""
    library = tmp_path_factory.mktemp("wide") / "wide.so"
    sources = Path(__file__).with_name("wide_kernels.cpp"), CORE / "diagonals.cpp"
    subprocess.run([*COMPILE, "-mavx2", "-shared", "-fPIC", *sources, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def call(function, *arguments):
    function.restype = None
    function(*(_as_c(a) for a in arguments))


def _as_c(argument):
    if isinstance(argument, np.ndarray):
        return argument.ctypes.data_as(ctypes.c_void_p)
    return ctypes.c_double(argument) if isinstance(argument, float) else ctypes.c_size_t(argument)


def at_offset(x, offset):
    """A copy that begins ``offset`` bytes into a cache line."""
    memory = np.empty(x.nbytes + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    copy = memory[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    copy[...] = x
    return copy


@needs_gxx
@pytest.mark.parametrize("dtype", FLOATS)
def test_kernels_of_the_width_of_avx512(wide, dtype, rng):
    name = np.dtype(dtype).name
    lengths = [1, 4, 64, 128, 4096, 2**13, 2**14, 2**15, 2**17]
    shapes = [*((length, 1) for length in lengths), (64, 5), (256, 40)]
    for (length, inner), scale, offset in itertools.product(shapes, [1.0, 0.5], [0, 16, 32]):
        x = at_offset(rng.standard_normal((3, length, inner)).astype(dtype), offset)
        expected = x.copy()
        _reference.transform(expected, scale)
        call(wide[f"transform_{name}"], x, 3, length, inner, scale)
        assert_array_equal(x, expected)
    for width in WIDTHS:
        x, diagonal, length = dense_case(rng, dtype, width)
        for factors, count in itertools.product([diagonal, np.sign(diagonal)], [1, 300]):
            columns, scales = choose_columns(rng, length, count, dtype)
            out, expected = np.empty((2, len(x), count), dtype)
            call(wide[f"project_rows_{name}"], x, len(x), width, factors, length, columns, scales, count, out)
            _reference.project_rows(x, factors, length, columns, scales, expected)
            assert_array_equal(out, expected)
        squares, expected = np.zeros((2, length))
        chosen = np.arange(len(x))
        call(wide[f"add_squares_{name}"], x, len(x), width, chosen, len(chosen), diagonal, length, squares)
        _reference.add_squares(x, chosen, diagonal, expected)
        assert_array_equal(squares, expected)
        weights, scores, expected = rng.standard_normal((2, width)), *np.empty((2, len(x), 2))
        call(wide[f"score_rows_{name}"], x, len(x), width, weights, np.ones(2), 2, scores)
        _reference.score_rows(x, weights, np.ones(2), expected)
        assert_array_equal(scores, expected)
    data, indices, indptr = sparse_case(rng, dtype, np.int32, 5000)
    diagonal = rng.standard_normal(5000).astype(dtype)
    columns, scales = choose_columns(rng, 8192, 300, dtype)
    out, expected = np.empty((2, len(indptr) - 1, 300), dtype)
    call(wide[f"project_csr_{name}"], data, indices, indptr, len(out), 5000, diagonal, 8192, columns, scales, 300, out)
    _reference.project_csr(data, indices, indptr, diagonal, 8192, columns, scales, expected)
    assert_array_equal(out, expected)
