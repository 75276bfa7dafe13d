"""The kernels on sparse rows against their twins, to the bit, and the twins against the formula."""

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_cases import FLOATS, INDICES, choose_columns, sparse_case, tolerance
from numpy.testing import assert_allclose, assert_array_equal

from isrht import kernels
from isrht.kernels import _reference
from isrht.kernels.records import CsrRows
from isrht.transform.lengths import next_power_of_two


def as_matrix(x, width):
    """Return CSR rows as a matrix of float64."""
    return sp.csr_array((x.data.astype(np.float64), x.indices, x.indptr), (len(x.indptr) - 1, width))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", INDICES)
@pytest.mark.parametrize("width", [1, 7, 300, 5000, 70000])
@pytest.mark.parametrize("count", [1, 64, 257])
def test_project_csr(kernel, dtype, index_type, width, count, rng):
    x = sparse_case(rng, dtype, index_type, width, density=min(0.1, 300 / width))
    diagonal = rng.standard_normal(width).astype(dtype)
    columns, scales = choose_columns(rng, next_power_of_two(width), count, dtype)
    out, expected = np.full((2, len(x.indptr) - 1, count), np.nan, dtype)
    arguments = x, diagonal, next_power_of_two(width), columns, scales
    kernels.engine.project_csr(*arguments, out)
    _reference.project_csr(*arguments, expected)
    assert_array_equal(out, expected)
    signs = 1 - 2 * (np.bitwise_count(np.arange(width)[:, None] & columns) % 2).astype(dtype)
    matrix = sp.csr_array((x.data * diagonal[x.indices], x.indices, x.indptr), (len(out), width))
    assert_allclose(out, (matrix @ signs) * scales, rtol=0, atol=20 * tolerance(dtype, 300))


@pytest.mark.parametrize("dtype", FLOATS)
def test_project_csr_to_no_columns(kernel, dtype, rng):
    x, columns = sparse_case(rng, dtype, np.int32, 300), np.empty(0, np.int64)
    out = np.empty((len(x.indptr) - 1, 0), dtype)
    kernels.engine.project_csr(x, np.ones(300, dtype), 512, columns, np.empty(0, dtype), out)


@pytest.mark.parametrize("count", [20, 300])
def test_project_csr_of_long_rows_and_the_largest_length(kernel, count, rng):
    width, length = 2**24 + 5, 2**31
    x = CsrRows(rng.standard_normal(5000), rng.integers(0, width, 5000), np.array([0, 5000]))
    columns = rng.integers(0, length, count)
    out = np.empty((1, count))
    kernels.engine.project_csr(x, np.ones(width), length, columns, np.ones(count), out)
    signs = 1.0 - 2.0 * (np.bitwise_count(x.indices[:, None] & columns) % 2)
    assert_allclose(out[0], x.data @ signs, atol=1e-10)


@pytest.mark.parametrize("count", [63, 64, 65, 255, 256, 257, 515])
def test_project_csr_of_rows_of_any_length(kernel, count, rng):
    """Around the groups of eight entries, the eighty that are tabled at once, and the blocks of 256 columns."""
    sizes = np.array([0, 1, 7, 8, 9, 16, 79, 80, 81, 0, 160, 163])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    x = CsrRows(rng.standard_normal(indptr[-1]), rng.integers(0, 1000, indptr[-1]), indptr)
    diagonal, columns = rng.standard_normal(1000), rng.integers(0, 1024, count)
    out = np.full((len(sizes), count), np.nan)
    kernels.engine.project_csr(x, diagonal, 1024, columns, np.full(count, 0.5), out)
    signs = 1.0 - 2.0 * (np.bitwise_count(np.arange(1000)[:, None] & columns) % 2)
    assert_allclose(out, (as_matrix(x, 1000).toarray() * diagonal) @ signs / 2, atol=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", INDICES)
@pytest.mark.parametrize("width", [1, 7, 300, 70000, 200000])
def test_add_csr_rows_and_autocorrelation(kernel, dtype, index_type, width, rng):
    x = sparse_case(rng, dtype, index_type, width, density=min(0.1, 100 / width))
    chosen = rng.integers(0, len(x.indptr) - 1, 25)
    diagonal = rng.standard_normal(width).astype(dtype)
    sums, expected_sums = np.ones((2, width))
    kernels.engine.add_csr_rows(x, chosen, sums)
    _reference.add_csr_rows(x, chosen, expected_sums)
    assert_array_equal(sums, expected_sums)
    assert_allclose(sums, 1 + as_matrix(x, width)[chosen].sum(axis=0), rtol=1e-12, atol=1e-12)
    totals, expected = np.ones((2, next_power_of_two(width)))
    kernels.engine.add_csr_autocorrelation(x, chosen, diagonal, totals)
    _reference.add_csr_autocorrelation(x, chosen, diagonal, expected)
    assert_array_equal(totals, expected)


def test_the_transformed_autocorrelation_is_the_sum_of_squares(kernel, rng):
    width, length = 300, 512
    x = sparse_case(rng, np.float64, np.int32, width)
    dense = as_matrix(x, width).toarray()
    everything, diagonal = np.arange(len(dense)), rng.choice([-1.0, 1.0], width)
    squares, correlation = np.zeros((2, length))
    kernels.engine.add_squares(dense, everything, diagonal, squares)
    kernels.engine.add_csr_autocorrelation(x, everything, diagonal, correlation)
    kernels.engine.transform(correlation.reshape(1, length, 1), 1.0)
    assert_allclose(correlation, squares, rtol=1e-10)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", INDICES)
@pytest.mark.parametrize("width", [1, 300, 70000])
@pytest.mark.parametrize("problems", [1, 2, 3, 4, 9])
def test_add_csr_moments(kernel, dtype, index_type, width, problems, rng):
    x = sparse_case(rng, dtype, index_type, width, density=min(0.1, 100 / width))
    first, second = rng.standard_normal((2, len(x.indptr) - 1, problems))
    first[::3] = second[::3] = 0
    totals, expected = np.ones((2, width, 3, problems))
    kernels.engine.add_csr_moments(x, first, second, totals)
    _reference.add_csr_moments(x, first, second, expected)
    assert_array_equal(totals, expected)
    matrix = as_matrix(x, width)
    squares = sp.csr_array((matrix.data**2, x.indices, x.indptr), matrix.shape)
    sums = np.stack([matrix.T @ first, matrix.T @ second, squares.T @ second], axis=1)
    assert_allclose(totals, 1 + sums, rtol=1e-12, atol=1e-12)
    for wrong in (first[1:], first[:, 1:]):
        with pytest.raises(ValueError, match="a row of factors for each row"):
            kernels.engine.add_csr_moments(x, first, np.ascontiguousarray(wrong), totals)
    with pytest.raises(ValueError, match="column index|totals has the wrong shape"):
        kernels.engine.add_csr_moments(x, first, second, np.zeros((width, 2, problems)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", INDICES)
@pytest.mark.parametrize("problems", [1, 3, 4, 9])
def test_moments_of_features(kernel, dtype, index_type, problems, rng):
    """CSR rows are features here, and columns the rows of the data."""
    x = sparse_case(rng, dtype, index_type, 70, density=0.1)
    factors, n_features = rng.standard_normal((70, 2, problems)), len(x.indptr) - 1
    totals, expected = np.full((2, n_features, 3, problems), np.nan)
    kernels.engine.moments_of_features(x, factors, totals)
    _reference.moments_of_features(x, factors, expected)
    assert_array_equal(totals, expected)
    matrix = as_matrix(x, 70)
    squares = sp.csr_array((matrix.data**2, x.indices, x.indptr), matrix.shape)
    sums = np.stack([matrix @ factors[:, 0], matrix @ factors[:, 1], squares @ factors[:, 1]], axis=1)
    assert_allclose(totals, sums, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="factors must be two"):
        kernels.engine.moments_of_features(x, np.ascontiguousarray(factors[:, :1]), totals)
    with pytest.raises(ValueError, match="totals has the wrong shape"):
        kernels.engine.moments_of_features(x, factors, totals[1:])
