"""Random signs."""

import numpy as np
from numpy.testing import assert_array_equal

from isrht.transform.signs import random_signs


def test_signs_are_fair_and_independent():
    signs = random_signs(np.random.RandomState(0), (2, 20_000))
    assert signs.dtype == np.int8
    assert_array_equal(np.unique(signs), [-1, 1])
    assert np.abs(signs.mean(axis=1)).max() < 0.03
    assert abs((signs[0] * signs[1]).mean()) < 0.03


def test_the_same_seed_draws_the_same_signs():
    """Models in files, and the golden ones, depend on these."""
    assert_array_equal(random_signs(np.random.RandomState(0), 8), [-1, 1, 1, -1, 1, 1, 1, 1])
    assert_array_equal(random_signs(np.random.RandomState(7), 64), random_signs(np.random.RandomState(7), 64))
