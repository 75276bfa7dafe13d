import numpy as np
from numpy.testing import assert_array_equal
from scipy.linalg import hadamard

from isrht.transform.williamson import _signed_permutation, williamson_written_out


def test_the_permutation_fits_sylvesters_matrix():
    P, M = _signed_permutation(), hadamard(4)
    assert_array_equal(P, P.T)
    assert_array_equal(np.abs(P).sum(axis=0), 1)
    assert_array_equal(P @ M + M @ P, 2 * np.eye(4))


def test_it_is_a_symmetric_hadamard_matrix_with_a_first_row_of_ones():
    H = williamson_written_out().astype(int)
    assert_array_equal(np.abs(H), 1)
    assert_array_equal(H, H.T)
    assert_array_equal(H @ H, 12 * np.eye(12))
    assert_array_equal(H[0], 1)


def test_all_parts_are_treated_alike():
    H = williamson_written_out().astype(int)
    first = np.ones(12, dtype=int)
    first[1:4] = -1
    blocks = (first[:, None] * H * first).reshape(3, 4, 3, 4).swapaxes(1, 2)
    for p in range(3):
        for q in range(3):
            assert_array_equal(blocks[p, q], blocks[0, 0] if p == q else hadamard(4))
