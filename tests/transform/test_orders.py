import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht.transform.orders import KEPT, input_permutation


@pytest.mark.parametrize("order", ["sequency", "dyadic"])
@pytest.mark.parametrize("length", [1, 2, 8, 1024, 2 * KEPT])
def test_every_input_is_taken_once(length, order):
    assert_array_equal(np.sort(input_permutation(length, order)), np.arange(length))


def test_dyadic_reverses_bits():
    assert_array_equal(input_permutation(8, "dyadic"), [0, 4, 2, 6, 1, 5, 3, 7])


def test_short_permutations_are_kept():
    assert input_permutation(64, "sequency") is input_permutation(64, "sequency")
    assert not input_permutation(64, "sequency").flags.writeable
