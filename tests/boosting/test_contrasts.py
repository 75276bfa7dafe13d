"""The best columns of H, against all columns written out."""

import numpy as np
import pytest
import slow_boosting
from numpy.testing import assert_array_equal

from isrht.boosting._contrasts import best_contrasts


@pytest.mark.parametrize("n_features", [5, 8, 13])
@pytest.mark.parametrize("count", [1, 3, 100])
def test_contrasts_are_the_columns_along_which_the_signal_is_largest(n_features, count, rng):
    signal = rng.standard_normal(n_features)
    width = 8 if n_features <= 8 else 16
    sizes = np.abs([slow_boosting.walsh(j, n_features) @ signal for j in range(width)])
    expected = 1 + np.argsort(-sizes[1:])
    assert_array_equal(best_contrasts(signal, count), expected[:count])


def test_equal_contrasts_come_in_order():
    assert_array_equal(best_contrasts(np.array([1.0, 0, 0, 0]), 2), [1, 2])


def test_the_column_that_adds_up_all_features_is_no_contrast():
    assert 0 not in best_contrasts(np.ones(8), 7)


def test_one_feature_has_no_contrast():
    assert len(best_contrasts(np.ones(1), 3)) == 0
    assert len(best_contrasts(np.ones(4), 0)) == 0
