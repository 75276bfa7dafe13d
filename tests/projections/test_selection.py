from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isrht.projections.selection import (
    Selection,
    columns_for_share,
    rank,
    score_histogram,
    select_by_importance,
    select_top,
    select_uniform,
)


def test_rank_breaks_ties_by_index_and_ignores_rounding(rng):
    scores = np.array([1.0, 3.0, 1.0, 3.0, 2.0])
    assert_array_equal(rank(scores), [1, 3, 4, 0, 2])
    assert_array_equal(rank(scores * (1 + 1e-14 * rng.standard_normal(5))), [1, 3, 4, 0, 2])
    assert_array_equal(rank(np.zeros(3)), [0, 1, 2])
    assert_array_equal(rank(np.array([-1.0, -3.0, 0.0])), [2, 0, 1])


def test_uniform_draws_distinct_columns_of_equal_scale():
    chosen = select_uniform(64, 16, np.random.RandomState(0))
    assert len(np.unique(chosen.columns)) == 16
    assert_allclose(chosen.scales, 2.0)
    assert_allclose(chosen.probabilities.sum(), 1)


def test_importance_follows_its_probabilities():
    scores = np.array([0.0, 1.0, 2.0, 5.0])
    chosen = select_by_importance(scores, 8000, np.random.RandomState(0))
    assert_allclose(np.bincount(chosen.columns, minlength=4) / 8000, scores / 8, atol=0.02)
    assert_allclose(chosen.scales, np.sqrt(8 / (8000 * scores[chosen.columns])))


@pytest.mark.parametrize("r", [2, 3, 4])
def test_importance_without_replacement_is_distinct_and_unscaled(r):
    chosen = select_by_importance(np.array([0.0, 1.0, 2.0, 5.0]), r, np.random.RandomState(0), replace=False)
    assert len(np.unique(chosen.columns)) == r
    assert_array_equal(chosen.scales, np.ones(r))


def test_importance_of_no_energy_is_uniform():
    assert_allclose(select_by_importance(np.zeros(4), 2, np.random.RandomState(0)).probabilities, 0.25)


def test_top_keeps_the_largest():
    chosen = select_top(np.array([1.0, 4.0, 2.0, 3.0]), 2)
    assert_array_equal(chosen.columns, [1, 3])
    assert_array_equal(chosen.scales, [1, 1])


@pytest.mark.parametrize(("share", "count"), [(0.1, 1), (0.5, 1), (0.6, 2), (0.8, 2), (0.81, 3), (0.999, 4)])
def test_columns_for_share_counts_from_the_best(share, count):
    assert columns_for_share(np.array([1.0, 5.0, 3.0, 1.0]), share) == count


def test_columns_for_share_without_any_mass():
    assert columns_for_share(np.array([-1.0, -2.0, -3.0, -4.0]), 0.5) == 2
    assert columns_for_share(np.zeros(4), 0.1) == 1


def test_the_histogram_counts_every_column_once(rng):
    selection = select_top(rng.exponential(size=512), 40)
    histogram = score_histogram(selection)
    assert histogram.counts.sum() == 512
    assert histogram.kept.sum() == 40
    assert (histogram.kept <= histogram.counts).all()
    assert histogram.kept[-1] == histogram.counts[-1]
    assert histogram.edges[[0, -1]].tolist() == [selection.scores.min(), selection.scores.max()]


def test_scores_without_spread_have_no_histogram(rng):
    assert score_histogram(select_uniform(64, 4, rng)) is None
    assert score_histogram(select_top(np.array([1.0, np.nextafter(1, 2)]), 1)) is None
    assert score_histogram(select_top(np.array([-1.5e308, 1.5e308]), 1)) is None


def test_scores_differ_from_the_tenth_decimal_of_the_largest_on():
    assert rank(np.array([1 - 2e-11, 1.0])).tolist() == [0, 1]
    assert rank(np.array([1 - 2e-10, 1.0])).tolist() == [1, 0]


def test_a_histogram_that_was_kept_stands_for_scores_that_were_not(rng):
    scores = rng.random(100)
    whole = select_top(scores, 5)
    histogram = score_histogram(whole)
    assert len(histogram.counts) == 24
    assert score_histogram(Selection(whole.columns, whole.scales, None, histogram=histogram)) is histogram


def test_what_was_selected_cannot_be_changed(rng):
    selection = select_top(rng.random(100), 5)
    for record, field in ((selection, "columns"), (score_histogram(selection), "kept")):
        with pytest.raises(FrozenInstanceError):
            setattr(record, field, None)


def test_tiny_scores_are_told_apart_as_large_ones_are():
    scores = np.array([1.0, 3.0, 2.0])
    assert_array_equal(rank(1e-30 * scores), rank(scores))


def test_one_column_that_has_all_the_mass_is_drawn():
    found = select_by_importance(np.array([0.0, 5.0, 0.0]), 2, np.random.RandomState(0))
    assert_array_equal(found.columns, [1, 1])
