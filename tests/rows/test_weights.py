"""What one row weighs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isrht.rows.values import RowValuesFile
from isrht.rows.weights import effective_count, in_units, typical_weight


def filed(weights):
    file = RowValuesFile(np.float64)
    file.append(weights)
    return file.finished()


@pytest.mark.parametrize("where", [np.asarray, filed], ids=["array", "file"])
@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([1.0, 1.0, 1.0, 2.0, 3.0, 0.0], 1.0),
        ([0.25], 0.25),
        ([0.0, 1e-6, 2e-6, 3e-6], 2e-6),
        ([1e-12] * 90 + [1.0] * 10, 1.0),
        ([0.0] * 90 + [5.0] * 10, 5.0),
        ([1e99, 1e99], 1e99),
    ],
)
def test_the_typical_weight_is_the_median_of_those_that_count(where, weights, expected):
    assert typical_weight(where(np.array(weights))) == expected


def test_digit_by_digit_is_as_in_memory(rng):
    for size in (1, 2, 7, 1000):
        weights = rng.lognormal(size=size) * (rng.random(size) < 0.8)
        weights[0] = 0.3
        assert typical_weight(filed(weights)) == typical_weight(weights)


@pytest.mark.parametrize("factor", [1e-6, 0.3, 1e6])
def test_a_factor_on_all_weights_is_one_on_the_unit(rng, factor):
    weights = rng.random(101)
    unit = typical_weight(factor * weights)
    assert unit == pytest.approx(factor * typical_weight(weights), rel=1e-12)
    assert_allclose(in_units(factor * weights, unit), in_units(weights, typical_weight(weights)), rtol=1e-12)


def test_no_weights_are_in_units_of_one():
    assert typical_weight(None) == 1
    assert in_units(None, 2.0) is None


def test_effective_count_is_the_count_of_equal_weights():
    assert effective_count(10 * 0.3, 10 * 0.09) == pytest.approx(10)
    assert effective_count(1000.0, 1e6) == pytest.approx(1)
