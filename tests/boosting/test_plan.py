"""What is tried, for any number of components and classes."""

import pytest

from isrht.boosting._plan import C_GRID, KINDS, candidates_for, make_plan
from isrht.boosting._search import CAUTIOUS_C
from isrht.projections.diagonals import Candidate

Z, SIGNS = [Candidate("z", 0.0)], [Candidate("signs", 0.0)]


@pytest.mark.parametrize(
    ("n_components", "n_classes", "n_columns", "per_round", "most_rounds"),
    [
        (3, 2, 3, 1, 3),  # no more than were asked for
        (100, 2, 16, 1, 16),  # no more than are learned
        (100, 3, 32, 1, 32),
        (100, 5, 32, 1, 32),
        (100, 10, 60, 2, 30),  # six per class
        (3, 3, 9, 1, 9),  # three per class, to be distilled
        (2, 3, 2, 1, 2),  # fewer components than classes are not
        (10, 10, 30, 1, 30),
    ],
)
def test_how_many_columns_are_learned(n_components, n_classes, n_columns, per_round, most_rounds):
    plan = make_plan(n_components, n_classes, "auto", Z)
    assert (plan.n_columns, plan.per_round, plan.rounds[-1]) == (n_columns, per_round, most_rounds)


def test_rounds_are_tried_along_a_grid_that_ends_at_the_last():
    assert make_plan(7, 2, "auto", Z).rounds == [1, 2, 3, 4, 6, 7]
    assert make_plan(8, 2, "auto", Z).rounds == [1, 2, 3, 4, 6, 8]


def test_a_given_number_of_rounds_is_the_only_one():
    plan = make_plan(16, 2, 3, Z)
    assert (plan.rounds, plan.n_columns) == ([3], 3)
    assert make_plan(100, 10, 3, Z).n_columns == 6


def test_signs_are_not_distilled():
    assert make_plan(3, 3, "auto", SIGNS).n_columns == 3


def test_candidates_end_with_the_cautious_one():
    assert candidates_for("auto", "auto") == [("standard", 0.0), ("standard", 2.0), ("z", 0.0), ("z", 2.0)]
    assert candidates_for("z", 1) == [("z", 1.0)]
    assert candidates_for("signs", "auto") == SIGNS
    assert set(KINDS) == {"auto", "standard", "z", "signs"}


def test_the_cautious_C_is_on_the_grid():
    assert CAUTIOUS_C in C_GRID
