"""What both solvers share: steps that are only taken if they help, and the best step along a line."""

import pickle

import numpy as np
import pytest
from svm_data import gradient, noisy, objective

from isrht.linear import _newton
from isrht.linear._conjugate import ConjugateNewton
from isrht.linear._exact import ExactNewton
from isrht.linear._problems import TwoClassProblems
from isrht.linear.path import SolverOptions
from isrht.rows.blocks import RowBlocks

ONE = TwoClassProblems.of(n_folds=1, n_classes=2)


@pytest.fixture(params=[ExactNewton, ConjugateNewton])
def solver(request):
    X, y = noisy(300, 12, noise=0.1)
    return request.param(RowBlocks(X, y), SolverOptions(max_iter=50))


def objective_of(solver, weights, C):
    X, y = solver.blocks.X, solver.blocks.y
    return objective(X, y, weights[0, :-1], weights[0, -1], C)


def test_the_start_is_at_zero_with_all_rows_active(solver):
    state = solver.start(ONE)
    assert not state.weights.any()
    assert state.loss[0] == pytest.approx(300)
    expected = gradient(solver.blocks.X, solver.blocks.y, np.zeros(12), 0.0, 1.0)
    np.testing.assert_allclose(state.gradient[0], expected)


def test_features_too_large_to_be_squared_are_an_error():
    X, y = noisy(20, 3)
    with pytest.raises(ValueError, match="scale X"):
        ExactNewton(RowBlocks(X * 1e200, y), SolverOptions()).start(ONE)


def test_line_search_finds_the_minimum_along_the_line(solver):
    state, C = solver.start(ONE), 3.0
    direction = -0.1 * state.gradient
    best = solver.line_search(state, np.array([0]), direction, C).item()
    lowest, *others = (objective_of(solver, length * direction, C) for length in (best, 0.99 * best, 1.01 * best, 0))
    assert lowest <= min(others)


def test_a_step_that_does_not_lower_the_objective_is_not_taken(solver):
    state, C = solver.start(ONE), 1.0
    uphill = 1e-3 * state.gradient
    assert not solver.move(state, np.array([0]), uphill, 0.0, C).any()
    assert not state.weights.any()
    assert solver.move(state, np.array([0]), -uphill, 0.0, C).all()
    np.testing.assert_array_equal(state.weights, -uphill)
    assert state.loss[0] == pytest.approx(objective_of(solver, -uphill, 1.0) - 0.5 * (uphill**2).sum())


def test_minimise_ends_where_the_gradient_vanishes(solver):
    state, C = solver.start(ONE), 1.0
    n_iter, converged = solver.minimise(state, C)
    assert converged.all()
    assert n_iter[0] > 1
    assert state.solved_for == C
    X, y = solver.blocks.X, solver.blocks.y
    assert np.abs(gradient(X, y, state.weights[0, :-1], state.weights[0, -1], C)).max() < 1e-4


def test_a_state_that_gave_back_its_memory_goes_on_as_before(solver):
    kept, released = solver.start(ONE), solver.start(ONE)
    for state in (kept, released):
        solver.minimise(state, 0.1)
    released.release()
    assert released.curvature is None
    for state in (kept, released):
        solver.minimise(state, 1.0)
    np.testing.assert_allclose(released.weights, kept.weights, rtol=1e-8, atol=1e-10)


def test_problems_are_solved_in_groups_of_limited_size(solver, monkeypatch):
    assert solver.groups(3) == [slice(0, 64)]
    monkeypatch.setattr(_newton, "PROBLEMS_PER_PASS", 2)
    assert solver.groups(5) == [slice(0, 2), slice(2, 4), slice(4, 6)]


def test_a_solver_that_travels_to_a_worker_leaves_the_rows_behind(solver):
    assert pickle.loads(pickle.dumps(solver)).blocks is None
