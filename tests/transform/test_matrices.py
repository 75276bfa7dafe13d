import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.linalg import hadamard

import isrht
from isrht.transform.lengths import SMALL_ORDERS
from isrht.transform.matrices import hadamard_matrix, small_matrix


@pytest.mark.parametrize("n", [1, 2, 4, 64, *SMALL_ORDERS, 24, 40, 96, 704, 1536, 5120])
def test_matrices_are_symmetric_hadamard_matrices_with_a_first_row_of_ones(n):
    H = hadamard_matrix(n, np.float64)
    assert_array_equal(np.abs(H), 1)
    assert_array_equal(H, H.T)
    some = slice(None, None, max(1, n // 512))  # all columns of a large matrix would take most of a minute
    assert_array_equal(H @ H[:, some], n * np.eye(n)[:, some])
    assert_array_equal(H[0], 1)


@pytest.mark.parametrize("n", [1, 2, 8, 256])
def test_powers_of_two_are_sylvesters(n):
    assert_array_equal(hadamard_matrix(n), hadamard(n))


def test_types():
    assert hadamard_matrix(12).dtype == np.int64
    assert hadamard_matrix(12, np.int8).dtype == np.int8
    assert isrht.hadamard_matrix is hadamard_matrix
    with pytest.raises(ValueError, match="length 14"):
        hadamard_matrix(14)
    for without_minus_one in (np.uint8, bool):
        with pytest.raises(TypeError, match="dtype must be one that has -1"):
            hadamard_matrix(4, without_minus_one)


@pytest.mark.parametrize("order", [1, *SMALL_ORDERS])
def test_kernels_are_given_the_matrix_of_an_order(order):
    assert small_matrix(order).order == order
