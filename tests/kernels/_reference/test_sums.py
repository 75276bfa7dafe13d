"""The order in which the twins add, on numbers that tell one order from another."""

import numpy as np
from numpy.testing import assert_array_equal

from isrht.kernels._reference import sums

LARGE = 2.0**54  # Adding 1 or 2 to it, or to its negative, changes nothing, so the order of additions shows.


def test_in_turn_every_value_is_added_to_the_sum_so_far():
    assert sums.sum_in_turn(np.array([LARGE, 2.0, 2.0])) == LARGE
    assert sums.sum_in_turn(np.array([2.0, 2.0, LARGE])) == LARGE + 4
    assert_array_equal(sums.sum_in_turn(np.empty((0, 3))), np.zeros(3))
    assert not np.signbit(sums.sum_in_turn(np.array([-0.0])))


def test_by_halves_the_second_half_is_added_to_the_first():
    assert sums.sum_by_halves(np.array([LARGE, 1.0, -LARGE, 1.0])) == 2
    assert sums.sum_by_halves(np.array([LARGE, -LARGE, 1.0, 1.0])) == 0


def test_in_eighths_the_last_few_are_added_to_the_first_partial_sum():
    assert sums.sum_in_eighths(np.array([LARGE, *[0.0] * 7, 1.0, -LARGE])) == 0
    assert sums.sum_in_eighths(np.array([LARGE, 1.0, *[0.0] * 6, -LARGE])) == 1


def test_rows_are_added_to_totals_one_after_another():
    totals = np.array([LARGE, 0.0])
    sums.add_in_turn(totals, np.array([[1.0, 1.0], [1.0, LARGE]]))
    assert_array_equal(totals, [LARGE, LARGE])


def test_values_are_added_at_their_places_one_after_another():
    totals = np.array([[LARGE], [0.0]])
    sums.add_at(totals, np.array([0, 1, 0, 1]), np.array([[1.0], [1.0], [1.0], [2.0]]))
    assert_array_equal(totals, [[LARGE], [3.0]])


def test_entries_know_their_rows_and_their_places():
    assert_array_equal(sums.rows_of_entries(np.array([0, 2, 2, 5])), [0, 0, 2, 2, 2])
    assert_array_equal(sums.count_up(np.array([2, 0, 3])), [0, 1, 0, 1, 2])


def test_pieces_are_all_rows_in_their_order():
    pieces = list(sums.pieces(10, sums.PIECE // 4))
    assert [(piece.start, piece.stop) for piece in pieces] == [(0, 4), (4, 8), (8, 10)]
