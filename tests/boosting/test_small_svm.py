"""Small SVMs against LinearSVM, and those of rows elsewhere against those in memory."""

import numpy as np
import pytest
from boosting_data import some_rows
from numpy.testing import assert_allclose, assert_array_equal

from isrht import LinearSVM
from isrht.boosting import _rows, _small_svm
from isrht.boosting._small_svm import PathProblems, SmallSVMs, solve_elsewhere


def test_a_small_svm_is_the_linear_svm(rng, monkeypatch):
    Z, Y, weights = rng.standard_normal((80, 5)), rng.integers(0, 2, (80, 3)), rng.integers(1, 3, 80)
    label, C = np.repeat(np.arange(3), 3), np.tile([0.01, 1.0, 50.0], 3)
    expected = [LinearSVM(c, tol=1e-9).fit(Z, Y[:, k], weights) for k, c in zip(label, C, strict=True)]
    for grams_at_once, scores_at_once in [(10**6, 10**6), (0, 160)]:
        monkeypatch.setattr(_small_svm, "GRAMS_AT_ONCE", grams_at_once)
        monkeypatch.setattr(_small_svm, "SCORES_AT_ONCE", scores_at_once)
        got, _ = SmallSVMs(Z, 2.0 * Y - 1, weights).solve(label, C, rng.standard_normal((9, 3)))
        assert_allclose(got[:, :-1], [svm.coef_[0] for svm in expected], atol=1e-6)
        assert_allclose(got[:, -1], [svm.intercept_[0] for svm in expected], atol=1e-6)


def test_the_loss_is_the_weighted_squared_hinge(rng):
    Z, y, weights = rng.standard_normal((50, 3)), rng.choice([-1.0, 1.0], 50), rng.random(50)
    solution, loss = SmallSVMs(Z, y[:, None], weights).solve(np.zeros(1, int), np.ones(1), np.zeros((1, 1)))
    hinge = np.maximum(0, 1 - y * (Z @ solution[0, :-1] + solution[0, -1]))
    assert_allclose(loss, [weights @ hinge**2])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_svms_of_rows_elsewhere_are_those_in_memory(rng, n_classes, monkeypatch):
    """All paths at once, some with fewer columns, over blocks of 64 rows and few problems at a time."""
    rows = some_rows(rng, n_classes=n_classes)
    rows.columns[2:, 2] = 0
    monkeypatch.setattr(_rows, "AT_ONCE", 1)
    monkeypatch.setattr(_small_svm, "GRAM_ELEMENTS", 100)
    label = np.tile(np.arange(rows.Y.shape[1]), 2)
    C = np.repeat([0.1, 10.0], rows.Y.shape[1])
    problems = PathProblems(np.repeat([0, 1, 2], len(C)), np.tile(label, 3), np.tile(C, 3))
    start = rng.standard_normal((len(problems.C), 5))
    got = solve_elsewhere(rows, problems, 4, start)
    for path in range(3):
        weights = rows.training_weights(path)
        svms = SmallSVMs(rows.columns_of(path, 4), rows.Y, weights)
        expected, mine = svms.solve(label, C, np.zeros((len(C), 1))), problems.path == path
        assert_allclose(got.weights[mine], expected.weights, atol=1e-9)
        assert_allclose(got.loss[mine], expected.loss, rtol=1e-9)


def test_some_of_the_problems():
    some = PathProblems(np.arange(3), np.arange(3), np.array([0.1, 1.0, 10.0]))[np.array([0, 2])]
    assert_array_equal(some.path, [0, 2])
    assert_array_equal(some.C, [0.1, 10.0])
