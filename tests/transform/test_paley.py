import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.linalg import hadamard

import isrht
from isrht.transform.lengths import PALEY_ORDERS
from isrht.transform.paley import FIELDS, _squares, hadamard_matrix, paley_matrix


@pytest.mark.parametrize("n", [1, 2, 4, 64, *PALEY_ORDERS, 24, 40, 96, 704, 1536, 5120])
def test_matrices_are_symmetric_hadamard_matrices_with_a_first_row_of_ones(n):
    H = hadamard_matrix(n, np.float64)
    assert_array_equal(np.abs(H), 1)
    assert_array_equal(H, H.T)
    assert_array_equal(H @ H, n * np.eye(n))
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


@pytest.mark.parametrize(("p", "power"), sorted(set(FIELDS.values())))
def test_half_of_the_elements_are_squares_and_products_keep_it(p, power):
    squares = _squares(p, power)
    q = p**power
    assert len(squares) == (q - 1) // 2
    assert 0 not in squares
    assert 1 in squares
    # -1 is a square just where q - 1 is a multiple of 4, on which the constructions rest.
    assert (p - 1 in squares) == (q % 4 == 1)


@pytest.mark.parametrize("order", PALEY_ORDERS)
def test_the_list_for_kernels_has_half_of_the_distances(order):
    matrix = paley_matrix(order)
    assert len(set(matrix.added.tolist())) == len(matrix.added) == (matrix.field - 1) // 2
    assert matrix.added.min() >= 1
    assert matrix.order in (matrix.field + 1, 2 * (matrix.field + 1))
