"""Rows on workers: what is derived from them is what the same rows in memory give."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from workers_here import rows_of

from isrht.rows.blocks import RowBlocks


@pytest.fixture
def both(rng):
    X = rng.integers(-9, 9, (30, 4)).astype(float)
    return X, rows_of(X, [4, 4, 19], [[3, 1], [0, 2]])


def total(rows, *values):
    return RowBlocks(rows, *values).sum(lambda block: (block.X.sum(axis=0), np.float64(block.start * 0 + len(block.X))))


def test_facts_are_those_of_all_blocks(both):
    X, rows = both
    assert rows.shape == X.shape
    assert (rows.dtype, rows.sparse, rows.nnz) == (X.dtype, False, X.size)
    assert rows.header.shape == (0, 4)


def test_sums_are_taken_of_all_rows_and_what_belongs_to_them(both):
    X, rows = both
    weights = np.arange(30.0)
    sums = RowBlocks(rows, np.arange(30), weights).sum(lambda b: np.array([b.y.sum(), b.sample_weight @ b.X[:, 0]]))
    assert_array_equal(sums, [435, weights @ X[:, 0]])


def test_rows_are_taken_changed_and_stored(both):
    X, rows = both
    chosen = np.array([0, 3, 4, 18, 19, 29])
    assert_array_equal(total(rows.take(chosen))[0], X[chosen].sum(axis=0))
    doubled = rows.map(lambda X: 2 * X[:, :2], 2)
    assert doubled.shape == (30, 2)
    assert_array_equal(total(doubled)[0], 2 * X[:, :2].sum(axis=0))
    one, other = rows.store([(lambda X: X + 1, 4), (lambda X: X[:, :1], 1)])
    assert_array_equal(one.collect(lambda X: X), X + 1)
    assert_array_equal(other.take(chosen).collect(lambda X: X), X[chosen, :1])
    (alone,) = rows.store([(lambda X: -X, 4)])
    assert_array_equal(alone.collect(lambda X: X), -X)
    alone.close()
    assert alone.kept is None


def test_labels_that_workers_have_are_coded_there(both):
    _, rows = both
    y = np.array(["b", "a", "c"])[np.arange(30) % 3]
    labels = rows.coded_there(rows.spread([[(number, y[part])] for number, part in enumerate(rows.row_slices())]))
    assert_array_equal(labels.classes, ["a", "b", "c"])
    assert_array_equal(labels.values(), y)
    assert_array_equal(labels.appearance, [1, 0, 2])


def test_rows_and_values_stay_with_the_client(both):
    """A function that holds on to them is sent without them."""
    _, rows = both
    codes = rows.row_values(np.arange(30))
    here = [rows, rows.map(np.negative), codes]
    assert [type(one).__name__ for one in pickle.loads(pickle.dumps(here))] == ["LeftBehind"] * 3
