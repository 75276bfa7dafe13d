"""Gram matrices, summed and updated, against products written out."""

import numpy as np
import pytest
import scipy.sparse as sp
from svm_data import noisy

from isrht.linear import _exact
from isrht.linear._exact import ExactNewton, solve_hessian
from isrht.linear._problems import TwoClassProblems
from isrht.linear.path import SolverOptions, fit_path, training_blocks
from isrht.rows.blocks import RowBlocks

ONE = TwoClassProblems.of(n_folds=1, n_classes=2)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_gram_matrix_of_weighted_rows(container, fit_intercept):
    X, y = noisy(20, 3)
    weights = np.where(np.arange(20) % 3, 0.0, 2.0)
    solver = ExactNewton(RowBlocks(container(X), y), SolverOptions(fit_intercept))
    wide = np.column_stack([X, np.ones(20)]) if fit_intercept else X
    np.testing.assert_allclose(solver.gram(container(X), weights), wide.T @ (weights[:, None] * wide))
    assert solver.gram(container(X), 0 * weights) == 0.0


def test_grams_of_folds_are_those_of_their_own_rows():
    X, y = noisy(90, 4)
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.5], (90, 3))
    solver = ExactNewton(RowBlocks(X, y, weights, block_rows=40), SolverOptions())
    wide = np.column_stack([X, np.ones(90)])
    for fold, gram in zip(weights.T, solver.sum(solver.grams_of_folds, np.arange(3)), strict=True):
        np.testing.assert_allclose(gram, wide.T @ (fold[:, None] * wide), atol=1e-10)


def test_what_changed_is_the_difference_of_two_gram_matrices():
    X, y = noisy(300, 12)
    solver = ExactNewton(RowBlocks(X, y, block_rows=50), SolverOptions())
    before, after = np.random.default_rng(0).standard_normal((2, 1, 13))
    *_, (change,) = solver.sum(solver.evaluate, ONE, after, before)
    (old,), (new,) = (solver.sum(solver.grams, ONE, weights) for weights in (before, after))
    assert np.abs(change).max() > 1
    np.testing.assert_allclose(change, new - old, atol=1e-9)


def test_a_gram_matrix_of_which_little_is_left_is_summed_anew():
    X, y = noisy(100, 3)
    solver = ExactNewton(RowBlocks(X, y), SolverOptions())
    state = solver.start(ONE)
    right = state.curvature.copy()
    state.curvature += 1.0
    solver.refresh(state, 1.0)
    np.testing.assert_allclose(state.curvature, right + 1)
    state.peak *= 1000
    solver.refresh(state, 1.0)
    np.testing.assert_allclose(state.curvature, right)
    np.testing.assert_allclose(state.peak[0], right[0].diagonal())


@pytest.mark.parametrize("C", [1.0, 4.0])
@pytest.mark.parametrize(("excess", "summed"), [(0.998, False), (1.002, True)])
def test_how_little_may_be_left_depends_on_the_ridge_beside_it(C, excess, summed):
    X, y = noisy(100, 3)
    solver = ExactNewton(RowBlocks(X, y), SolverOptions())
    state = solver.start(ONE)
    right = state.curvature.copy()
    state.curvature[:] = 0.0
    state.peak[:] = excess * _exact.CANCELLATION * 0.5 / C
    solver.refresh(state, C)
    np.testing.assert_allclose(state.curvature, right if summed else 0 * right)


def test_what_a_step_promises_is_half_of_what_the_gradient_falls_along_it():
    X, y = noisy(50, 3)
    solver = ExactNewton(RowBlocks(X, y), SolverOptions())
    state, C = solver.start(ONE), 2.0
    gradient, hessian = C * state.gradient[0], np.eye(4) + 2 * C * state.curvature[0]
    direction, promise = solver.directions(state, np.array([0]), C, np.ones(1))
    np.testing.assert_allclose(direction[0], -np.linalg.solve(hessian, gradient))
    assert promise[0] == pytest.approx(0.5 * gradient @ np.linalg.solve(hessian, gradient))


def test_rows_far_larger_than_what_remains_of_the_gram_matrix_are_no_obstacle():
    X, y = noisy(200, 5, noise=0.3)
    X[::20] *= 1e7
    X[::20, 0] += 1e7 * (2 * y[::20] - 1)
    (solution,) = fit_path(training_blocks(X, y), [10.0])
    assert solution.converged.all()


def test_memory_for_gram_matrices_limits_how_many_problems_are_solved_together(monkeypatch):
    X, y = noisy(20, 3)
    solver = ExactNewton(RowBlocks(X, y), SolverOptions())
    for elements in (2 * 4**2, 3 * 4**2 - 1):
        monkeypatch.setattr(_exact, "GRAM_ELEMENTS", elements)
        assert solver.groups(4) == [slice(0, 2), slice(2, 4)]
    monkeypatch.setattr(_exact, "GRAM_ELEMENTS", 1)
    assert solver.problems_in_memory() == 1


def test_solve_hessian():
    X = np.random.default_rng(0).standard_normal((9, 4))
    gram, gradient = X.T @ X, np.arange(4.0)
    np.testing.assert_allclose(solve_hessian(gram, 3.0, gradient), np.linalg.solve(np.eye(4) + 6 * gram, gradient))


def test_a_hessian_that_rounding_made_singular_still_gives_a_direction_of_descent():
    gram, gradient = np.full((3, 3), 1e17), np.array([1.0, -2.0, 3.0])
    direction = -solve_hessian(gram, 1.0, gradient)
    assert np.isfinite(direction).all()
    assert gradient @ direction < 0


def test_a_hessian_that_no_diagonal_helps_is_taken_for_its_diagonal():
    gram, gradient = np.array([[2.0, 5.0], [5.0, 2.0]]), np.array([3.0, -1.0])
    np.testing.assert_allclose(solve_hessian(gram, 4.0, gradient, ridge=3.0), gradient / (3 + 2 * 4 * 2))
