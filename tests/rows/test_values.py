import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht.rows import values as per_row
from isrht.rows.values import (
    RowValues,
    RowValuesFile,
    by_rank,
    class_totals,
    derived,
    gathered,
    ranks,
    rows_by_rank,
    total,
)


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch):
    monkeypatch.setattr(per_row, "AT_ONCE", 7)


def filed(values):
    writer = RowValuesFile(values.dtype)
    for start in range(0, len(values), 11):
        writer.append(values[start : start + 11])
    return writer.finished()


@pytest.fixture
def codes(rng):
    return rng.integers(0, 3, 40).astype(np.uint16)


def slow_ranks(codes):
    return np.array([np.count_nonzero(codes[:i] == code) for i, code in enumerate(codes)])


def test_a_filed_column_is_read_by_slices_and_by_numbers(codes):
    column = filed(codes)
    assert column.shape == (40,)
    assert column.ndim == 1
    assert_array_equal(column[5:17], codes[5:17])
    assert_array_equal(column[np.array([3, 8, 39])], codes[[3, 8, 39]])
    assert_array_equal(gathered(column), codes)
    assert gathered(codes) is codes


def test_a_derived_column_is_computed_when_it_is_read(codes, rng):
    weights = rng.random(40)
    column = derived(
        lambda codes, weights, none: (codes * weights)[:, None] * [1, 2], filed(codes), weights, None, width=2
    )
    assert isinstance(column, RowValues)
    assert column.shape == (40, 2)
    assert_array_equal(column[9:12], (codes * weights)[9:12, None] * [1, 2])
    twice = derived(lambda values: values[:, 1], column)
    assert_array_equal(gathered(twice), 2 * codes * weights)


def test_arrays_are_worked_on_at_once(codes):
    assert_array_equal(derived(np.negative, codes), -codes)
    assert total(np.sum, codes) == codes.sum()


def test_totals_are_sums_over_all_rows(codes, rng):
    weights = rng.random(40)
    expected = np.bincount(codes, weights)
    np.testing.assert_allclose(class_totals(filed(codes), weights, 3), expected)
    np.testing.assert_allclose(class_totals(codes, weights, 3), expected)
    assert_array_equal(class_totals(filed(codes), None, 2), np.bincount(codes)[:2])


def test_ranks_count_the_rows_of_a_class_before(codes):
    expected = slow_ranks(codes)
    assert_array_equal(ranks(codes, np.zeros(4, dtype=int)), expected)
    before = np.array([5, 0, 7, 0])
    assert_array_equal(ranks(codes, before), expected + before[codes])


def test_ranks_go_on_from_part_to_part(codes):
    def pairs(codes, ranks):
        return 100 * ranks + codes

    expected = 100 * slow_ranks(codes) + codes
    assert_array_equal(by_rank(pairs, codes, 3), expected)
    assert_array_equal(gathered(by_rank(pairs, filed(codes), 3)), expected)


def test_rows_are_found_by_class_and_rank(codes):
    def fourth(codes, ranks):
        return ranks == 4

    expected = np.flatnonzero(slow_ranks(codes) == 4)
    assert_array_equal(rows_by_rank(fourth, codes, 3), expected)
    assert_array_equal(rows_by_rank(fourth, filed(codes), 3), expected)
