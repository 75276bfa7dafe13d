"""Newton's method in memory: its sums are those of Newton's method elsewhere, and so are the optima that it finds."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from svm_data import HARD, hard_data, noisy, objective, zipf_rows

from isrht import LinearSVM, LinearSVMCV
from isrht.linear import _in_memory, path
from isrht.linear._conjugate import ConjugateNewton
from isrht.linear._in_memory import NewtonInMemory, larger_blocks
from isrht.linear._problems import TwoClassProblems
from isrht.linear.path import SolverOptions, fit_path, training_blocks
from isrht.rows.blocks import RowBlocks

CONTAINERS = [np.asarray, sp.csr_array]


@pytest.fixture
def tall(monkeypatch):
    """Let all data be for Newton's method by conjugate gradients."""
    monkeypatch.setattr(path, "EXACT_FEATURES", 0)
    monkeypatch.setattr(path, "SPARSE_EXACT_FEATURES", 0)
    monkeypatch.setattr(path, "TALL", 0.0)


@pytest.mark.parametrize("C", [2.0**-10, 1.0, 2.0**10])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", HARD)
def test_hard_data_have_the_optimum_of_the_exact_hessian(kind, container, C, request):
    X, y = hard_data(kind)
    exact = LinearSVM(C).fit(X, y)
    request.getfixturevalue("tall")
    model = LinearSVM(C).fit(container(X), y)
    ours, best = (objective(X, y, one.coef_, one.intercept_, C) for one in (model, exact))
    assert ours <= best * (1 + 1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_more_sparse_rows_than_features_are_solved_to_the_tolerance(dtype):
    X, y = zipf_rows(1600, 500)
    X = X.astype(dtype)
    assert type(path.solver_for(training_blocks(X, y), 1.0, SolverOptions())) is NewtonInMemory
    for C in (2.0**-10, 1.0, 2.0**10):
        model, exact = LinearSVM(C).fit(X, y), LinearSVM(C).fit(X.toarray(), y)
        np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-5 * np.abs(exact.coef_).max())


def test_a_search_on_more_rows_than_features_keeps_the_model_of_its_C():
    X, y = zipf_rows(1600, 500)
    search = LinearSVMCV([0.25, 1.0, 4.0]).fit(X, y)
    expected = LinearSVM(search.C_).fit(X, y)
    np.testing.assert_allclose(search.coef_, expected.coef_, atol=1e-5 * np.abs(expected.coef_).max())
    np.testing.assert_allclose(search.intercept_, expected.intercept_, atol=1e-5 * np.abs(expected.coef_).max())


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_number_of_threads_and_a_start_change_nothing(container, tall):
    X, y = noisy(300, 30)
    y[::5] = 2
    X = container(X)
    one, two = (LinearSVM(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    warm = LinearSVM().fit(X, y, coef_init=one.coef_, intercept_init=one.intercept_)
    np.testing.assert_allclose(warm.coef_, one.coef_, atol=1e-5 * np.abs(one.coef_).max())
    assert warm.n_iter_ <= one.n_iter_


def test_a_free_intercept_is_free(tall):
    X, y = noisy(200, 10)
    blocks = training_blocks(sp.csr_array(X + 5), y)
    options = SolverOptions(penalize_intercept=False)
    (free,) = fit_path(blocks, [1.0], options=options)
    (moved,) = fit_path(training_blocks(sp.csr_array(X), y), [1.0], options=options)
    np.testing.assert_allclose(free.coef, moved.coef, atol=1e-5)


def test_active_rows_are_those_of_the_weights_that_were_kept():
    """A step that is refused leaves the active rows of other weights behind."""
    X, y = zipf_rows(100, 500)
    problems, solver = TwoClassProblems.of(1, 2), NewtonInMemory(RowBlocks(X, y), SolverOptions())
    rng = np.random.default_rng(0)
    weights, refused = rng.standard_normal((2, 1, 501))
    state = solver.state_at(problems, weights)
    expected, _ = solver.directions(state, np.array([0]), 1.0, np.ones(1))
    other, _ = solver.directions(solver.state_at(problems, refused), np.array([0]), 1.0, np.ones(1))
    assert not np.allclose(expected, other)
    np.testing.assert_array_equal(solver.directions(state, np.array([0]), 1.0, np.ones(1))[0], expected)


def test_newton_gives_up_after_some_products(monkeypatch):
    X, y = zipf_rows(1600, 500)
    monkeypatch.setattr(_in_memory, "PRODUCTS_PER_STEP", (1, 1))
    with pytest.warns(ConvergenceWarning, match="did not reach tol"):
        early = LinearSVM(100.0, max_iter=2).fit(X, y)
    monkeypatch.undo()
    late = LinearSVM(100.0).fit(X, y)
    found, best = (objective(X, y, one.coef_, one.intercept_, 100.0) for one in (early, late))
    assert best < found


def test_newton_in_memory_sums_what_newton_elsewhere_sums():
    X, y = zipf_rows(100, 500)
    y[::3] = 2
    problems, blocks = TwoClassProblems.of(1, 3), RowBlocks(X, y, block_rows=30)
    rng = np.random.default_rng(0)
    weights, along = rng.standard_normal((2, 3, 501))
    ours, other = NewtonInMemory(blocks, SolverOptions()), ConjugateNewton(blocks, SolverOptions())
    for mine, theirs in zip(
        ours.sum(ours.evaluate, problems, weights, None),
        other.sum(other.evaluate, problems, weights, None),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)
    state, everyone = ours.state_at(problems, weights), np.arange(3)
    found, expected = (solver.directions(state, everyone, 1.0, np.ones(3))[0] for solver in (ours, other))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        ours.sum(ours.gram_product, problems, weights, along),
        other.sum(other.gram_product, problems, weights, along),
        rtol=1e-10,
        atol=1e-10,
    )


def test_blocks_weigh_more_than_the_sums_over_them():
    X, y = zipf_rows(300, 2000)
    assert larger_blocks(RowBlocks(X, y, block_rows=10)).block_rows * X.nnz / 300 >= 2 * 2000 - X.nnz / 300
    dense = RowBlocks(np.ones((5, 4)), np.ones(5))
    assert larger_blocks(dense) is dense


def test_every_product_with_the_hessian_is_counted_and_nothing_else(monkeypatch):
    X, y = noisy(60, 20)
    solver = NewtonInMemory(RowBlocks(X, y), SolverOptions())
    taken = []
    product = ConjugateNewton.sum
    monkeypatch.setattr(
        ConjugateNewton, "sum", lambda self, function, *args: taken.append(function) or product(self, function, *args)
    )
    state = solver.state_at(TwoClassProblems.of(n_folds=1, n_classes=2), np.zeros((1, solver.width)))
    assert solver.products_left == solver.most_products
    solver.minimise(state, 1.0)
    n_products = sum(function == solver.gram_product for function in taken)
    assert 0 < n_products < len(taken)
    assert solver.products_left == solver.most_products - n_products
