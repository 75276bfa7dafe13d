"""Where there are more rows than a search needs it looks at a sample of them, wherever they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from source_data import Blocks

from isrht import BoostedISRHT, RowSource
from isrht.boosting import _sample
from isrht.boosting._sample import searched_rows
from isrht.rows.labels import in_memory


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(_sample, "MOST_ROWS", 400)
    monkeypatch.setattr(_sample, "FEWEST_OF_A_CLASS", 20)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((1000, 12))
    signal = X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(1000)
    return X, (signal > np.median(signal)).astype(int)


def test_rows_that_are_not_too_many_are_as_they_were(rows):
    X, y = rows
    labels, weights = in_memory(y), np.ones(1000)
    some = searched_rows(X, labels, weights, 0)
    assert some.X is X
    assert some.labels is labels
    assert some.weights is weights


def test_a_sample_has_rows_of_each_class_in_proportion_or_a_few(few, rows):
    X, y = rows[0], np.repeat([0, 1, 2], [790, 195, 15])
    some = searched_rows(X, in_memory(y), np.arange(1000.0), 0)
    assert_array_equal(some.labels.counts, [316, 78, 15])
    numbers = some.weights.astype(int)
    assert_array_equal(np.unique(numbers), numbers)  # ascending, none twice
    assert_array_equal(some.X, X[numbers])
    assert_array_equal(some.labels.codes, y[numbers])
    again, other = (searched_rows(X, in_memory(y), np.arange(1000.0), seed).weights for seed in (0, 1))
    assert_array_equal(again, some.weights)
    assert np.any(other != some.weights)


def test_only_a_sample_is_held_out_but_all_rows_are_learned_from(few, rows):
    X, y = rows
    model = BoostedISRHT(4, random_state=0).fit(X, y)
    assert_allclose(model.mean_, X.mean(axis=0))
    assert model.has_signal_
    assert_allclose(model.fold_scores_ * 80, np.round(model.fold_scores_ * 80))  # of the 80 rows of a fifth
    given = BoostedISRHT(4, cv=2, random_state=0).fit(X, y)
    assert_allclose(given.fold_scores_ * 500, np.round(given.fold_scores_ * 500))


def test_the_sample_is_the_same_wherever_the_rows_are(few, rows):
    X, y = rows
    weights = np.random.default_rng(0).integers(1, 3, 1000).astype(float)
    expected = BoostedISRHT(4, random_state=0).fit(X, y, weights)
    got = BoostedISRHT(4, random_state=0).fit(RowSource(Blocks(X, y)), sample_weight=weights)
    assert (got.C_, got.rounds_, got.diagonal_) == (expected.C_, expected.rounds_, expected.diagonal_)
    assert_allclose(got.fold_scores_, expected.fold_scores_)
    assert_allclose(got.diagonals_, expected.diagonals_, atol=1e-5)


def test_a_search_on_a_sample_reads_the_rows_once(few, rows):
    """One pass to survey, one for the sample, one to measure, two for each round, one that finds no more."""
    told = []
    source = RowSource(Blocks(*rows), progress=lambda number, *_: told.append(number))
    model = BoostedISRHT(4, random_state=0).fit(source)
    assert 0 <= max(told) - (3 + 2 * model.rounds_) <= 1


def test_the_sample_is_the_same_on_dask(few, rows):
    pytest.importorskip("distributed")
    da = pytest.importorskip("dask.array")
    X, y = rows
    expected = BoostedISRHT(4, random_state=0).fit(X, y)
    got = BoostedISRHT(4, random_state=0).fit(da.from_array(X, chunks=(300, 12)), da.from_array(y, chunks=300))
    assert (got.C_, got.rounds_, got.diagonal_) == (expected.C_, expected.rounds_, expected.diagonal_)
    assert_allclose(got.fold_scores_, expected.fold_scores_)
    assert_allclose(got.diagonals_, expected.diagonals_, atol=1e-5)
