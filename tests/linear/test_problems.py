"""Which labels and weights each of the problems that share the rows has."""

import numpy as np
from numpy.testing import assert_array_equal

from isrht.linear._problems import TwoClassProblems, weights_by_fold
from isrht.rows.blocks import Block


def test_two_classes_are_one_problem_per_fold():
    problems = TwoClassProblems.of(n_folds=3, n_classes=2)
    assert_array_equal(problems.fold, [0, 1, 2])
    assert_array_equal(problems.positive, [1, 1, 1])


def test_several_classes_are_one_problem_each_in_every_fold():
    problems = TwoClassProblems.of(n_folds=2, n_classes=3)
    assert_array_equal(problems.fold, [0, 0, 0, 1, 1, 1])
    assert_array_equal(problems.positive, [0, 1, 2, 0, 1, 2])


def test_some_of_the_problems_have_their_own_labels_and_weights():
    weights = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    block = Block(0, np.zeros((3, 2)), np.array([0, 1, 2]), weights)
    some = TwoClassProblems.of(n_folds=2, n_classes=3)[np.array([1, 5])]
    assert len(some) == 2
    assert_array_equal(some.signs(block), [[-1, 1, -1], [-1, -1, 1]])
    assert_array_equal(some.row_weights(block), [[1, 2, 3], [10, 20, 30]])


def test_one_weight_per_row_is_one_fold():
    block = Block(0, np.zeros((3, 2)), sample_weight=np.array([1.0, 2.0, 3.0], dtype=np.float32))
    assert_array_equal(weights_by_fold(block), [[1, 2, 3]])
    assert weights_by_fold(block).dtype == np.float64


def test_a_block_without_weights_counts_every_row_once():
    assert_array_equal(weights_by_fold(Block(0, np.zeros((3, 2)))), np.ones((1, 3)))
