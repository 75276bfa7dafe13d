"""Values of rows that lie on workers: what follows from them is that of the same values in memory."""

import numpy as np
import pytest
from dask_data import N, dask, uneven
from numpy.testing import assert_array_equal

from isrht.rows.dask.rows import DaskRows
from isrht.rows.values import by_rank, class_totals, derived, gathered, rows_by_rank, total
from isrht.rows.workers.values import WorkerValues


@pytest.fixture(autouse=True)
def _threads():
    with dask.config.set(scheduler="threads"):
        yield


@pytest.fixture
def rows(rng):
    return DaskRows(uneven(rng.standard_normal((N, 60))))


@pytest.fixture
def codes(rng):
    return rng.integers(0, 3, N).astype(np.uint16)


def test_values_come_back_as_they_were(rows, codes):
    values = rows.row_values(codes)
    assert isinstance(values, WorkerValues)
    assert values.shape == (N,)
    assert not values.is_derived
    assert gathered(values).dtype == codes.dtype
    assert_array_equal(gathered(values), codes)
    some = np.array([0, 9, 10, 700, N - 1])
    assert_array_equal(values[some], codes[some])


def test_derived_values_are_computed_from_others(rows, codes, rng):
    weights = rng.random(N)
    values = derived(
        lambda codes, weights, none: np.stack([codes, weights], axis=1), rows.row_values(codes), weights, None, width=2
    )
    assert values.is_derived
    assert values.shape == (N, 2)
    assert_array_equal(gathered(values), np.stack([codes, weights], axis=1))


def test_totals_are_sums_over_all_partitions(rows, codes, rng):
    weights = rng.integers(0, 5, N).astype(float)
    assert_array_equal(class_totals(rows.row_values(codes), weights, 3), np.bincount(codes, weights))
    assert total(np.sum, rows.row_values(codes)) == codes.sum()


def test_ranks_go_on_from_partition_to_partition(rows, codes):
    def pairs(codes, ranks):
        return 10_000 * codes + ranks

    assert_array_equal(gathered(by_rank(pairs, rows.row_values(codes), 3)), by_rank(pairs, codes, 3))


def test_rows_are_found_by_class_and_rank(rows, codes):
    def some(codes, ranks):
        return ranks % 100 == 99

    assert_array_equal(rows_by_rank(some, rows.row_values(codes), 3), rows_by_rank(some, codes, 3))
