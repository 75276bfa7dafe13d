"""Small SVMs of rows in memory, and those of rows elsewhere against them."""

import numpy as np
import pytest
from boosting_data import some_rows
from kernel_cases import svm_case
from numpy.testing import assert_allclose, assert_array_equal

from isrht.boosting import _rows, _small_svm
from isrht.boosting._small_svm import PathProblems, learned_columns, solve_elsewhere, solve_in_memory, widened
from isrht.kernels.records import SvmProblems


def test_problems_are_solved_in_parts_that_memory_holds(rng, monkeypatch):
    columns, problems, _ = svm_case(rng, 80, 5, 3, [0.01, 1.0, 50.0])
    start = rng.standard_normal((9, 3))
    whole = solve_in_memory(columns, problems, start)
    monkeypatch.setattr(_small_svm, "GRAM_ELEMENTS", 150)  # four problems
    parts = solve_in_memory(columns, problems, start)
    assert_allclose(parts.weights, whole.weights, atol=1e-9)
    assert_allclose(parts.loss, whole.loss)
    assert start.shape == (9, 3)


def test_columns_that_weights_lack_are_zero():
    assert_array_equal(widened(np.array([[1.0, 2.0]]), 4), [[1, 0, 0, 2]])
    assert_array_equal(widened(np.array([[2.0]]), 2), [[0, 2]])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_svms_of_rows_elsewhere_are_those_in_memory(rng, n_classes, monkeypatch):
    """All paths at once, some with fewer columns, over blocks of 64 rows and few problems at a time."""
    rows = some_rows(rng, n_classes=n_classes)
    rows.columns[2:, 2] = 0
    monkeypatch.setattr(_rows, "AT_ONCE", 1)
    monkeypatch.setattr(_small_svm, "GRAM_ELEMENTS", 100)
    classes = rows.roles.positive_classes
    own = SvmProblems(np.tile(classes, 2), np.repeat([0.1, 10.0], len(classes)), len(classes))
    problems = PathProblems(np.repeat([0, 1, 2], len(own.cost)), np.tile(own.positive, 3), np.tile(own.cost, 3))
    start = rng.standard_normal((len(problems.C), 5))
    got = solve_elsewhere(rows, problems, 4, start)
    for path in range(3):
        columns = learned_columns(rows, path, 4, rows.training_weights(path))
        expected = solve_in_memory(columns, own, np.zeros((len(own.cost), 1)))
        mine = problems.path == path
        assert_allclose(got.weights[mine], expected.weights, atol=1e-9)
        assert_allclose(got.loss[mine], expected.loss, rtol=1e-9)


def test_some_of_the_problems():
    some = PathProblems(np.arange(3), np.arange(3), np.array([0.1, 1.0, 10.0]))[np.array([0, 2])]
    assert_array_equal(some.path, [0, 2])
    assert_array_equal(some.C, [0.1, 10.0])
