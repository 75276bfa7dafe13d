"""Columns can be scored on a sample of the rows: equally many of each class, of those that count."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from isrht import ISRHT
from isrht.projections._scored_rows import sampled_rows
from isrht.rows.labels import in_memory


def test_rows_keep_their_order_labels_and_weights(rng):
    X, y, weights = np.arange(60.0)[:, None], rng.integers(0, 3, 60), rng.random(60) + 0.5
    some, labels, kept = sampled_rows(X, in_memory(y), weights, 12, np.random.RandomState(0))
    rows = some[:, 0].astype(int)
    assert_array_equal(rows, np.unique(rows))
    assert_array_equal(labels.values(), y[rows])
    assert_array_equal(kept, weights[rows])
    assert_array_equal(labels.counts, [4, 4, 4])


def test_score_rows_are_balanced_and_seeded(rng):
    X = rng.standard_normal((90, 37))
    y = (np.arange(90) < 10).astype(int)
    isrht = ISRHT(6, n_score_samples=16, random_state=0).fit(X, y)
    assert_array_equal(isrht.statistics_.counts, [8, 8])
    assert_array_equal(clone(isrht).fit(X, y).selected_columns_, isrht.selected_columns_)
    assert ISRHT(6, selection="top", n_score_samples=16).fit(X).statistics_.n_samples == 16


@pytest.mark.parametrize("selection", ["top", "supervised"])
def test_samples_are_drawn_among_rows_that_count(rng, selection):
    X, y = rng.standard_normal((300, 8)), np.arange(300) % 2
    weights = np.zeros(300)
    weights[rng.choice(300, 20, replace=False)] = 1
    for size in (4, 10):
        isrht = ISRHT(4, selection=selection, n_score_samples=size, random_state=0).fit(X, y, sample_weight=weights)
        assert isrht.statistics_.counts.sum() == size
        assert (isrht.statistics_.counts > 0).all()


def test_a_sample_of_few_rows_that_count_is_all_of_them(rng):
    X, y = rng.standard_normal((300, 8)), np.arange(300) % 2
    weights = np.zeros(300)
    weights[:20] = 0.5
    isrht = ISRHT(4, n_score_samples=30, random_state=0).fit(X, y, sample_weight=weights)
    assert_array_equal(isrht.statistics_.counts, [5, 5])
