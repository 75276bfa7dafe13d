"""Views of matrices as kernels want them."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from isrht.support.matrices import (
    CACHE_LINE,
    as_float64,
    contiguous_rows,
    empty_rows,
    rows_are_apart,
    rows_of,
    without_duplicates,
)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_rows_of_a_sparse_matrix_are_a_view(container, rng):
    matrix = container(sp.random_array((50, 9), density=0.3, format="csr", random_state=rng))
    part = rows_of(matrix, slice(10, 30))
    assert type(part) is container
    assert np.shares_memory(part.data, matrix.data)
    assert np.shares_memory(part.indices, matrix.indices)
    assert_array_equal(part.toarray(), matrix.toarray()[10:30])
    assert rows_of(matrix, slice(30, 30)).shape == (0, 9)
    assert rows_of(matrix, slice(0, 50)) is matrix


def test_rows_of_an_array_are_a_view(rng):
    X = rng.standard_normal((5, 3))
    assert np.shares_memory(rows_of(X, slice(1, 3)), X)
    assert_array_equal(rows_of(X, slice(1, 3)), X[1:3])


def test_rows_are_copied_only_where_values_do_not_lie_side_by_side(rng):
    X = rng.standard_normal((6, 4))
    for as_they_are in (X, X[::2], X[::-1], X[:, :1], X[:, 1:3]):
        assert contiguous_rows(as_they_are) is as_they_are
    for scattered in (X[:, ::2], np.asfortranarray(X), X[:, ::-1]):
        copied = contiguous_rows(scattered)
        assert copied.flags.c_contiguous
        assert_array_equal(copied, scattered)


def test_float64_stays_itself():
    X = np.ones((2, 2))
    assert as_float64(X) is X
    assert as_float64(X.astype(np.float32)).dtype == np.float64


def test_duplicates_are_added_up_in_a_copy():
    X = sp.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    found = without_duplicates(X)
    assert isinstance(found, sp.csr_array)
    assert found.nnz == 2
    assert_array_equal(found.toarray(), [[0, 3], [4, 0]])
    assert_array_equal(X.data, [1, 2, 4])
    dense = np.ones((2, 2))
    assert without_duplicates(dense) is dense


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 5), (100, 1000)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_rows_begin_at_a_cache_line(shape, dtype):
    rows = [empty_rows(shape, dtype) for _ in range(5)]
    assert all(one.ctypes.data % CACHE_LINE == 0 for one in rows if one.size)
    assert all(one.shape == shape and one.dtype == dtype and one.flags.c_contiguous for one in rows)
    assert not np.shares_memory(rows[0], rows[1])


def test_windows_have_memory_in_common():
    memory = np.zeros(20)
    windows = np.lib.stride_tricks.sliding_window_view(memory, 5, writeable=True)
    assert not rows_are_apart(windows)
    assert rows_are_apart(windows[::5])
    assert rows_are_apart(windows[::-5])
    assert rows_are_apart(windows[:1])
