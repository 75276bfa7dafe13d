"""The search against its slow twin, and what it prefers among equals."""

import numpy as np
import pytest
import slow_boosting
from boosting_data import fifths, three_classes, two_classes
from numpy.testing import assert_allclose, assert_array_equal

from isrht.boosting import _search
from isrht.boosting._plan import C_GRID, Plan, candidates_for, make_plan
from isrht.boosting._roles import Roles
from isrht.boosting._search import CAUTIOUS_C, Search, best_scores, smoothed
from isrht.projections.diagonals import Candidate


def roles_of(y, splits):
    """Return the roles of rows in folds that are given as (train, test)."""
    training, held_out = np.zeros((2, len(y), len(splits)), dtype=np.uint8)
    for k, (train, test) in enumerate(splits):
        training[train, k], held_out[test, k] = 1, 1
    return Roles(y, len(np.unique(y)), training, held_out)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_cell_has_the_scores_of_the_slow_twin(n_classes):
    X, y = two_classes() if n_classes == 2 else three_classes(90)
    splits, candidates = fifths(y, 0)[:2], candidates_for("auto", "auto")
    search = Search(X, roles_of(y, splits), make_plan(5 if n_classes == 2 else 2, n_classes, "auto", candidates))
    search.run()
    accuracy, score, evidence, _ = slow_boosting.held_out(
        X, y, n_classes, splits, candidates, 5 if n_classes == 2 else 2
    )
    assert_allclose(search.hits.sum(axis=3) / search.held_out.sum(), accuracy)
    assert_allclose(search.scores(), score, atol=1e-9)
    seen = ~np.isnan(accuracy)
    assert_allclose(search.evidence[seen], evidence[seen], rtol=1e-6, atol=1e-9)


def test_a_candidate_that_no_longer_improves_is_left(monkeypatch):
    X, y = two_classes()
    X = np.hstack([X, np.random.default_rng(0).standard_normal((len(y), 40))])
    plan = make_plan(16, 2, "auto", [Candidate("z", 0.0)])
    monkeypatch.setattr(_search, "LEAST_POINTS", 2)
    search = Search(X, roles_of(y, fifths(y, 0)[:1]), plan)
    search.run()
    assert not search.paths
    best = best_scores(search.scores())[0]
    visited = best > -np.inf
    assert 2 <= visited.sum() < len(plan.rounds)
    assert best[visited][-1] <= best[visited][:-1].max()


def test_a_candidate_that_is_far_behind_is_left(finished):
    finished.n_effective = 100.0
    score = np.array([[0.5, 0.7, 0.8], [0.5, 0.6, 0.68]])
    assert not finished._is_far_behind(score, 0)
    assert not finished._is_far_behind(score, 1)  # it lacks 0.12, but has just gained 0.08
    score[1, 1] = 0.67
    assert finished._is_far_behind(score, 1)  # twice the standard error of 0.045 and the gain of 0.01 are less
    finished.n_effective = 10.0
    assert not finished._is_far_behind(score, 1)


def test_Cs_are_tried_around_the_best_one_and_further_while_they_are_better(finished):
    finished.hits[:, 1:] = np.nan
    finished.hits[0, 0, 4] = 9
    assert_array_equal(finished._first_Cs(0, 0), np.arange(len(C_GRID)))
    assert_array_equal(finished._first_Cs(0, 1), [2, 3, 4, 5, 6])
    finished.hits[0, 1, 2:7, 0] = [5, 6, 7, 6, 5]
    assert not len(finished._further_Cs(0, 1))
    finished.hits[0, 1, 2:7, 0] = [5, 6, 7, 8, 9]
    assert_array_equal(finished._further_Cs(0, 1), [7])
    finished.hits[0, 1, 2:7, 0] = [9, 8, 7, 6, 5]
    assert_array_equal(finished._further_Cs(0, 1), [1])
    finished.hits[0, 1, :, 0] = np.arange(len(C_GRID))
    assert not len(finished._further_Cs(0, 1))


@pytest.fixture
def finished():
    """A search with two candidates, three numbers of rounds and one fold, in which all cells are equal."""
    search = Search.__new__(Search)
    search.plan = Plan([Candidate("z", 0.0), Candidate("z", 2.0)], [1, 2, 3], 3, 1)
    search.held_out, search.measure = np.array([10.0]), None
    search.hits = np.full((2, 3, len(C_GRID), 1), 7.0)
    search.hinge = np.zeros_like(search.hits)
    search.evidence = np.full(search.hits.shape[:3], 5.0)
    return search


def test_among_equals_fewer_rounds_then_a_smaller_C_then_the_later_candidate_is_chosen(finished):
    choice = finished.choice(may_be_noise=True)
    assert (choice.candidate, choice.rounds, choice.C) == (("z", 2.0), 1, C_GRID[0])
    assert choice.has_signal
    assert choice.accuracy == 0.7
    assert_array_equal(choice.fold_scores, [0.7])


def test_the_best_cell_is_chosen(finished):
    finished.hits[0, 2, 5:8] = 9
    choice = finished.choice(may_be_noise=True)
    assert (choice.candidate, choice.rounds, choice.C) == (("z", 0.0), 3, C_GRID[6])
    assert choice.accuracy == 0.9


def test_a_smaller_hinge_decides_among_equal_accuracies(finished):
    finished.hinge[:] = 5
    finished.hinge[1, 1] = 4
    choice = finished.choice(may_be_noise=True)
    assert (choice.candidate, choice.rounds) == (("z", 2.0), 2)


def test_labels_that_look_like_noise_get_one_cautious_round(finished):
    finished.hits[0, 2, 5:8] = 9
    finished.evidence[:] = 2.9
    choice = finished.choice(may_be_noise=True)
    assert (choice.candidate, choice.rounds, choice.C) == (("z", 2.0), 1, CAUTIOUS_C)
    assert not choice.has_signal
    assert choice.accuracy == 0.7  # its own, not the best of many
    assert finished.choice(may_be_noise=False).rounds == 3


def test_smoothed_scores_are_weighted_with_their_neighbours():
    assert_allclose(smoothed(np.array([[0.0, 4.0, 8.0, 0.0]])), [[1, 4, 5, 2]])
