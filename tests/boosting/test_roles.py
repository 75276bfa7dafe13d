"""The roles of rows: the same numbers for arrays and for values that are not in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isrht.boosting._roles import Roles
from isrht.rows.values import RowValuesFile, derived, gathered

CODES = np.array([0, 1, 2, 1, 0])
TRAINING = np.array([[1, 2], [0, 1], [1, 0], [1, 1], [0, 1]], dtype=np.uint8)
WEIGHTS = np.array([1.0, 2.0, 0.5, 4.0, 3.0])


def filed(values):
    writer = RowValuesFile(values.dtype)
    writer.append(values)
    return writer.finished()


@pytest.fixture(params=["in memory", "in files"])
def roles(request):
    held_out = (TRAINING == 0).astype(np.uint8)
    if request.param == "in memory":
        return Roles(CODES, 3, TRAINING, held_out, WEIGHTS)
    codes = filed(CODES)
    sides = [derived(lambda _, side: side, codes, side, width=2) for side in (TRAINING, held_out)]
    return Roles(codes, 3, *sides, filed(WEIGHTS))


def test_the_mean_label_is_that_of_the_training_rows(roles):
    for fold in range(2):
        weights = TRAINING[:, fold] * WEIGHTS
        Y = np.where(CODES[:, None] == np.arange(3), 1.0, -1.0)
        assert_allclose(roles.mean_label(fold), weights @ Y / weights.sum())


def test_totals_of_what_a_fold_holds_out(roles):
    assert_allclose(roles.held_out_totals(0), [2 + 3, 4 + 9])
    assert_allclose(roles.held_out_totals(1), [0.5, 0.25])


def test_one_fold_may_train_on_all_rows(roles):
    everything = roles.all_training()
    assert everything.n_folds == 1
    assert_array_equal(gathered(everything.training), np.ones((5, 1)))
    assert not gathered(everything.held_out).any()


def test_some_of_the_rows_in_memory():
    roles = Roles(CODES, 3, TRAINING, 1 - np.minimum(TRAINING, 1), WEIGHTS)
    some = roles[np.array([1, 3])]
    assert len(some) == 2
    assert_array_equal(some.Y, [[-1, 1, -1], [-1, 1, -1]])
    assert_array_equal(some.training_weights(1), [2, 4])
    assert_array_equal(some.training_weights(slice(None)), [[0, 2], [4, 4]])
    assert_array_equal(some.held_out_weights(0), [2, 0])
    assert Roles(CODES, 3, TRAINING, TRAINING)[:2].weights is None


def test_two_classes_are_one_problem():
    roles = Roles(np.array([0, 1, 1]), 2, np.ones((3, 1)), np.zeros((3, 1)))
    assert roles.n_problems == 1
    assert_array_equal(roles.Y, [[-1], [1], [1]])
    assert_allclose(roles.mean_label(0), [1 / 3])
    assert_array_equal(roles.training_weights(0), [1, 1, 1])
