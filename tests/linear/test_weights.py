"""Weights of rows in training, whatever folds and classes they belong to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.class_weight import compute_class_weight

from isrht.linear.weights import class_factors, counted_weights, training_weights, weighted_rows
from isrht.rows.labels import in_memory

Y = np.array(["a", "a", "a", "b", "c", "c"])
TRAINING = np.array([[1, 1, 0, 1, 2, 0], [0, 1, 1, 1, 0, 1]]).T


def test_balanced_factors_are_those_of_scikit_learn():
    labels = in_memory(Y)
    expected = compute_class_weight("balanced", classes=labels.classes, y=Y)
    assert_allclose(class_factors("balanced", labels.classes, labels.counts), expected)


def test_a_class_without_rows_keeps_a_balanced_factor_of_one():
    assert_allclose(class_factors("balanced", np.arange(3), np.array([6.0, 0.0, 2.0])), [8 / 12, 1, 8 / 4])


def test_classes_that_a_dict_does_not_name_have_a_factor_of_one():
    assert_array_equal(class_factors({"b": 5.0}, np.array(["a", "b", "c"]), None), [1, 5, 1])


def test_rows_have_no_weights_where_neither_samples_nor_classes_have_any():
    assert weighted_rows(None, in_memory(Y)) is None


@pytest.mark.parametrize("sample_weight", [None, np.arange(1.0, 7.0)])
def test_weighted_rows_are_sample_weights_times_class_factors(sample_weight):
    ones = np.ones(6) if sample_weight is None else sample_weight
    assert_array_equal(weighted_rows({"c": 3.0}, in_memory(Y), sample_weight), ones * [1, 1, 1, 1, 3, 3])
    totals = [ones[label == Y].sum() for label in "abc"]
    balanced = weighted_rows("balanced", in_memory(Y), sample_weight)
    assert_allclose([balanced[label == Y].sum() for label in "abc"], np.full(3, sum(totals) / 3))


def test_counts_of_rows_are_multiplied_by_their_weights():
    weights = np.arange(6.0)
    assert_array_equal(counted_weights(TRAINING, weights), TRAINING * weights[:, None])
    assert_array_equal(counted_weights(TRAINING, None), TRAINING)
    assert counted_weights(TRAINING, None).T.flags.c_contiguous


def test_balanced_weights_are_those_of_the_rows_that_a_fold_trains_on():
    """The first fold trains on two rows of a, one of b and twice on one of c; the second on a, a, b and c."""
    found = training_weights(TRAINING, "balanced", in_memory(Y))
    assert_allclose(found[:, 0], 5 / 3 * np.array([1 / 2, 1 / 2, 0, 1, 1, 0]))
    assert_allclose(found[:, 1], 4 / 3 * np.array([0, 1 / 2, 1 / 2, 1, 0, 1]))


def test_training_weights_without_class_weights_are_counts_times_sample_weights():
    weights = np.arange(6.0)
    assert_array_equal(training_weights(TRAINING, None, in_memory(Y), weights), TRAINING * weights[:, None])
