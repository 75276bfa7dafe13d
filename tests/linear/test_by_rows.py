"""Newton's method by the products of rows: its directions are those of the Hessian, and so are the optima it finds."""

import numpy as np
import pytest
from svm_data import HARD, hard_data, noisy, objective

from isrht import LinearSVM
from isrht.linear import _by_rows, _wide, path
from isrht.linear._by_rows import NewtonByRows, RowProducts
from isrht.linear._problems import TwoClassProblems
from isrht.linear._wide import worthwhile_epochs
from isrht.linear.path import SolverOptions
from isrht.rows.blocks import RowBlocks


@pytest.fixture
def rows_decide(monkeypatch):
    """Let all data be wide, and Newton's method take over after the first epochs."""
    monkeypatch.setattr(path, "EXACT_FEATURES", 0)
    monkeypatch.setattr(path, "TALL", np.inf)
    monkeypatch.setattr(_wide, "FIRST_EPOCHS", 2)
    monkeypatch.setattr(_wide, "MAX_EPOCHS", 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_products_are_those_of_the_rows_however_they_were_added(dtype, fit_intercept, monkeypatch):
    X = np.random.default_rng(0).standard_normal((40, 7)).astype(dtype)
    expected = X.astype(np.float64) @ X.T.astype(np.float64) + fit_intercept
    monkeypatch.setattr(_by_rows, "MOST_ROWS", 20)
    monkeypatch.setattr(_by_rows, "VALUES_AT_ONCE", 30)
    products = RowProducts(X, fit_intercept)
    for rows in (np.arange(5, 12), np.array([1, 7, 9, 30]), np.arange(20, 38), np.arange(3)):
        np.testing.assert_allclose(products.among(rows), expected[np.ix_(rows, rows)], rtol=1e-12, atol=1e-12)
        assert len(products.rows) <= 20


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_direction_is_that_of_the_hessian(fit_intercept):
    X, y = noisy(60, 25)
    weights, C = np.linspace(0.5, 2, 60), 3.0
    solver = NewtonByRows(RowBlocks(X, y, weights, block_rows=17), SolverOptions(fit_intercept=fit_intercept))
    at = 0.1 * np.random.default_rng(1).standard_normal((1, 25 + fit_intercept))
    state = solver.state_at(TwoClassProblems.of(1, 2), at)
    (direction,), (decrease,) = solver.directions(state, np.arange(1), C, np.ones(1))
    Z = np.column_stack([X, np.ones(60)]) if fit_intercept else X
    active = (2 * y - 1) * (Z @ at[0]) < 1
    assert 0 < active.sum() < 60
    hessian = np.eye(Z.shape[1]) + 2 * C * (Z[active].T * weights[active]) @ Z[active]
    (gradient,) = solver.gradients(state, np.arange(1), C)
    np.testing.assert_allclose(direction, -np.linalg.solve(hessian, gradient), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(decrease, -0.5 * direction @ gradient)


@pytest.mark.parametrize("C", [2.0**-10, 1.0, 2.0**10])
@pytest.mark.parametrize("kind", HARD)
def test_hard_data_have_the_optimum_of_the_exact_hessian(kind, C, request):
    X, y = hard_data(kind)
    exact = LinearSVM(C).fit(X, y)
    request.getfixturevalue("rows_decide")
    model = LinearSVM(C).fit(X, y)
    ours, best = (objective(X, y, one.coef_, one.intercept_, C) for one in (model, exact))
    assert ours <= best * (1 + 1e-9)


@pytest.mark.parametrize("most_rows", [1, 50, 5000])
def test_room_for_rows_and_threads_change_no_optimum(most_rows, rows_decide, monkeypatch):
    X, y = noisy(200, 150)
    weights = np.random.default_rng(2).random(200)
    weights[:9] = 0
    expected = LinearSVM(16.0).fit(X, y, weights)
    monkeypatch.setattr(_by_rows, "MOST_ROWS", most_rows)
    model = LinearSVM(16.0).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5 * np.abs(expected.coef_).max())
    threads = LinearSVM(16.0, n_jobs=2).fit(X, y, weights)
    np.testing.assert_array_equal(model.coef_, threads.coef_)


def test_the_support_is_a_start_only_where_it_is_better():
    X, y = noisy(80, 60)
    solver = NewtonByRows(RowBlocks(X, y), SolverOptions(fit_intercept=False))
    problems, C = TwoClassProblems.of(1, 2), 4.0
    start = 0.01 * np.random.default_rng(3).standard_normal((1, 60))
    optimum = LinearSVM(C, fit_intercept=False).fit(X, y).coef_
    support = np.flatnonzero((2 * y - 1) * (X @ optimum[0]) < 1)
    near = solver.state_near(problems, start, [support], C)
    np.testing.assert_allclose(near.weights, optimum, atol=1e-5 * np.abs(optimum).max())
    kept = solver.state_near(problems, optimum, [support[:1]], C)
    np.testing.assert_array_equal(kept.weights, optimum)


def test_a_support_whose_system_is_singular_is_no_start():
    """Equal rows, and a C beside which the ridge is lost."""
    X, y = np.ones((2, 3)), np.array([1, 0])
    solver = NewtonByRows(RowBlocks(X, y), SolverOptions(fit_intercept=False))
    start = np.full((1, 3), 0.1)
    state = solver.state_near(TwoClassProblems.of(1, 2), start, [np.arange(2)], 1e30)
    np.testing.assert_array_equal(state.weights, start)
    assert state.solved_for == 1e30


def test_no_row_needs_to_be_active():
    X = np.diag([1.0, -1.0])
    solver = NewtonByRows(RowBlocks(X, np.array([1, 0])), SolverOptions(fit_intercept=False))
    state = solver.state_at(TwoClassProblems.of(1, 2), np.full((1, 2), 2.0))
    directions, decrease = solver.directions(state, np.arange(1), 1.0, np.ones(1))
    np.testing.assert_array_equal(directions, [[-2.0, -2.0]])
    np.testing.assert_array_equal(decrease, [4.0])


def test_epochs_are_worth_as_much_as_the_steps_that_replace_them():
    assert worthwhile_epochs(500, 5000) == _wide.FIRST_EPOCHS < worthwhile_epochs(6000, 5000) < _wide.MAX_EPOCHS
    assert worthwhile_epochs(20_000, 10_000) == _wide.MAX_EPOCHS


def test_no_products_are_kept_between_optima(rows_decide):
    X, y = noisy(200, 150)
    blocks = RowBlocks(X, y)
    solver = path.solver_for(blocks, 16.0, SolverOptions())
    assert isinstance(solver.newton, NewtonByRows)
    solver.minimise(solver.start(TwoClassProblems.of(1, 2)), 16.0)
    assert solver.newton.row_products.products.size == 0
