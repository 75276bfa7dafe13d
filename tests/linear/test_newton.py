"""What both solvers share: steps that are only taken if they help, and the best step along a line."""

import pickle

import numpy as np
import pytest
from scipy.optimize import brentq
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


@pytest.mark.parametrize("best", [0.07, 0.5, 0.93])
def test_line_search_finds_where_the_slope_vanishes_wherever_that_is(solver, best):
    state, C = solver.start(ONE), 3.0
    downhill = -state.gradient

    def slope(length):
        weights = length * downhill
        at = gradient(solver.blocks.X, solver.blocks.y, weights[0, :-1], weights[0, -1], C)
        return float(at @ downhill[0])

    direction = downhill * brentq(slope, 0, 1, xtol=1e-15) / best
    assert solver.line_search(state, np.array([0]), direction, C).item() == pytest.approx(best, abs=3e-5)


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


@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_as_many_steps_are_taken_as_allowed_and_as_are_said(solver, max_iter, monkeypatch):
    taken = []
    move = solver.move
    monkeypatch.setattr(solver, "move", lambda *args: taken.append(args) or move(*args))
    solver.max_iter = max_iter
    n_iter, converged = solver.minimise(solver.start(ONE), 1.0)
    assert n_iter.tolist() == [max_iter]
    assert len(taken) == max_iter
    assert not converged.any()


@pytest.mark.parametrize(("tol", "expected"), [(1e-3, 1e-6), (1e-6, 1e-12), (0.0, _newton.SMALLEST_DECREASE)])
def test_the_decrease_that_ends_the_search_is_the_square_of_the_tolerance(tol, expected):
    X, y = noisy(20, 3)
    found = ExactNewton(RowBlocks(X, y), SolverOptions(tol=tol)).smallest_decrease
    assert found == pytest.approx(expected, rel=1e-12)
    assert found > np.finfo(float).eps


@pytest.mark.parametrize("near", [False, True])
def test_only_a_promise_as_small_as_rounding_may_be_broken(solver, near, monkeypatch):
    state = solver.start(ONE)
    if near:
        solver.smallest_decrease = 1e-10
        solver.minimise(state, 1.0)
    solver.smallest_decrease = 0.0
    monkeypatch.setattr(solver, "move", lambda _state, chosen, *_rest: np.zeros(len(chosen), dtype=bool))
    _, converged = solver.minimise(state, 1.0)
    assert converged.all() == near


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
