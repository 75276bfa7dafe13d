"""Conjugate gradients against the exact Hessian."""

import numpy as np
import pytest
import scipy.sparse as sp
from svm_data import noisy

from isrht.linear import path
from isrht.linear._conjugate import ConjugateNewton, squared
from isrht.linear._exact import ExactNewton
from isrht.linear._problems import TwoClassProblems
from isrht.linear.costs import DEFAULT_CS
from isrht.linear.path import SolverOptions, fit_path, training_blocks
from isrht.rows.blocks import RowBlocks

PROBLEMS = TwoClassProblems.of(n_folds=1, n_classes=3)


@pytest.fixture
def both():
    """Two solvers of the same three problems, and the state of each."""
    X, y = noisy(200, 6)
    y[::5] = 2
    solvers = [kind(RowBlocks(X, y, block_rows=70), SolverOptions()) for kind in (ConjugateNewton, ExactNewton)]
    return [(solver, solver.start(PROBLEMS)) for solver in solvers]


def test_the_curvature_is_the_diagonal_of_the_gram_matrix(both):
    (_, ours), (_, exact) = both
    np.testing.assert_allclose(ours.curvature, np.diagonal(exact.curvature, axis1=1, axis2=2))


def test_a_product_with_the_gram_matrix_needs_no_gram_matrix(both):
    (solver, state), (_, exact) = both
    along = np.random.default_rng(0).standard_normal((3, 7))
    product = solver.sum(solver.gram_product, PROBLEMS, state.weights, along)
    np.testing.assert_allclose(product, np.einsum("pij,pj->pi", exact.curvature, along))


def test_the_direction_is_that_of_the_exact_hessian(both):
    everyone, rate = np.arange(3), np.zeros(3)
    (found, decrease), (expected, promise) = (solver.directions(state, everyone, 2.0, rate) for solver, state in both)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-2 * np.abs(expected).max())
    np.testing.assert_allclose(decrease, promise, rtol=1e-3)


@pytest.mark.parametrize(("rate", "accuracy"), [(0.0, 1e-2), (1e-3, 10**-1.5), (1.0, 1e-1)])
def test_a_direction_is_the_more_exact_the_nearer_the_optimum(rate, accuracy):
    X, y = noisy(200, 30)
    solver = ConjugateNewton(RowBlocks(X @ np.random.default_rng(1).standard_normal((30, 30)), y), SolverOptions())
    problem = TwoClassProblems.of(n_folds=1, n_classes=2)
    state, C = solver.start(problem), 100.0
    (direction,), _ = solver.directions(state, np.array([0]), C, np.array([rate]))
    precondition = 1 / (1 + 2 * C * state.curvature[0])
    product = solver.sum(solver.gram_product, problem, state.weights, direction[None])[0]
    gradient = C * state.gradient[0]
    residual = gradient + direction + 2 * C * product
    assert precondition @ residual**2 <= accuracy**2 * (precondition @ gradient**2)


def test_features_of_very_different_sizes_take_no_more_products():
    X, y = noisy(200, 6)
    sizes = 10.0 ** np.arange(-3, 3)
    products = []
    for rows in (X, X * sizes):
        solver = ConjugateNewton(RowBlocks(rows, y), SolverOptions(fit_intercept=False))
        state = solver.start(TwoClassProblems.of(n_folds=1, n_classes=2))
        taken = []
        gram_product = solver.gram_product
        solver.gram_product = lambda *args, of=gram_product, taken=taken: taken.append(1) or of(*args)
        solver.directions(state, np.array([0]), 1e9, np.zeros(1))
        products.append(len(taken))
    assert products[0] == products[1] <= 8


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_conjugate_gradients_reach_the_optimum_of_the_exact_hessian(container, monkeypatch):
    X, y = noisy(300, 12, noise=0.2)
    exact = list(fit_path(training_blocks(X, y), DEFAULT_CS))
    monkeypatch.setattr(path, "EXACT_FEATURES", 0)
    monkeypatch.setattr(path, "SPARSE_EXACT_FEATURES", 0)
    for ours, expected in zip(fit_path(training_blocks(container(X), y), DEFAULT_CS), exact, strict=True):
        np.testing.assert_allclose(ours.coef, expected.coef, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_squared(container):
    X = np.array([[1.0, -2.0], [0.0, 3.0]])
    found = squared(container(X))
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, X**2)
