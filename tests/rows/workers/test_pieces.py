"""Blocks of a piece, one after the other."""

import weakref

import numpy as np
from numpy.testing import assert_array_equal

from isrht.rows.workers.pieces import Piece

BLOCKS = [np.arange(6.0).reshape(3, 2), np.zeros((0, 2)), np.ones((1, 2))]


def test_a_piece_is_iterated_again_and_again():
    piece = Piece.held([3, 4, 7], BLOCKS)
    for _ in range(2):
        assert [number for number, _ in piece] == [3, 4, 7]


def test_rows_are_changed_and_chosen_when_they_are_loaded():
    piece = Piece.held([0, 1, 2], BLOCKS).mapped(lambda X: X[:, :1] + 1).taken([[0, 2], [], [0]])
    first, second, third = (X for _, X in piece)
    assert_array_equal(first, [[1], [5]])
    assert second.shape == (0, 1)
    assert_array_equal(third, [[2]])


def test_a_block_is_let_go_of_before_the_next_one_is_loaded():
    alive = []

    def load():
        for _ in range(3):
            assert not any(one() is not None for one in alive)
            X = np.ones((2, 2))
            alive.append(weakref.ref(X))
            yield X
            del X

    for _, X in Piece([0, 1, 2], load).mapped(lambda X: X * 2):
        del X
    for _, X in Piece([0, 1, 2], load):
        del X
