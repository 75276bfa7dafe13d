"""The solver against slow, obvious twins: the objective written out, its gradient, and its Hessian."""

import numpy as np
import pytest
import scipy.sparse as sp

from isrht import LinearSVM, newton
from isrht.blocks import Block, RowBlocks
from isrht.newton import fit_path, one_blas_thread, training_blocks

CS = 2.0 ** np.arange(-5, 6)


def noisy(n_samples=300, n_features=12, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    y = X @ rng.standard_normal(n_features) + noise * rng.standard_normal(n_samples) > 0
    return X, y.astype(int)


def gradient(X, signs, weights, w, b, C):
    hinge = np.maximum(0, 1 - signs * (X @ w + b))
    pull = 2 * C * weights * signs * hinge
    return np.append(w - X.T @ pull, b - pull.sum())


@pytest.fixture
def conjugate(monkeypatch):
    """Solve everything by conjugate gradients, however small."""
    monkeypatch.setattr(newton, "EXACT_FEATURES", 0)
    monkeypatch.setattr(newton, "SPARSE_EXACT_FEATURES", 0)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_the_gradient_vanishes_all_along_the_path(container):
    X, y = noisy()
    for solution in fit_path(training_blocks(container(X), y), CS, tol=1e-8):
        w, b = solution.coef[0, 0], solution.intercept[0, 0]
        scale = np.abs(gradient(X, 2.0 * y - 1, 1.0, 0 * w, 0.0, solution.C)).max()
        assert np.abs(gradient(X, 2.0 * y - 1, 1.0, w, b, solution.C)).max() < 1e-6 * scale
        assert solution.converged.all()


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_conjugate_gradients_reach_the_optimum_of_the_exact_hessian(container, conjugate, monkeypatch):
    X, y = noisy(noise=0.2)
    by_products = list(fit_path(training_blocks(container(X), y), CS))
    monkeypatch.undo()
    for ours, exact in zip(by_products, fit_path(training_blocks(X, y), CS), strict=True):
        np.testing.assert_allclose(ours.coef, exact.coef, rtol=1e-4, atol=1e-6)


def test_folds_that_share_passes_are_the_folds_one_by_one():
    X, y = noisy()
    y[::7] = 2
    weights = np.random.default_rng(1).choice([0.0, 1.0, 2.5], (len(y), 3))
    together = list(fit_path(training_blocks(X, y, weights), CS, n_classes=3))
    for fold in range(3):
        alone = fit_path(training_blocks(X, y, weights[:, fold]), CS, n_classes=3)
        for shared, single in zip(together, alone, strict=True):
            np.testing.assert_allclose(shared.coef[fold], single.coef[0], rtol=1e-6, atol=1e-9)


def test_problems_that_take_turns_for_memory_end_where_they_would_together(monkeypatch):
    X, y = noisy()
    y[::5] = 2
    together = list(fit_path(training_blocks(X, y), CS, n_classes=3))
    monkeypatch.setattr(newton, "GRAM_ELEMENTS", 1)
    for one, other in zip(together, fit_path(training_blocks(X, y), CS, n_classes=3), strict=True):
        np.testing.assert_allclose(one.coef, other.coef, rtol=1e-7, atol=1e-10)


def test_a_warm_start_ends_where_a_cold_one_does_in_fewer_steps():
    X, y = noisy(2000, 20)
    warm = list(fit_path(training_blocks(X, y), CS))[-1]
    (cold,) = fit_path(training_blocks(X, y), CS[-1:])
    np.testing.assert_allclose(warm.coef, cold.coef, rtol=1e-6, atol=1e-9)
    assert warm.n_iter.max() < cold.n_iter.max()


@pytest.mark.parametrize("block_rows", [1, 7, 64, 1000])
def test_the_result_does_not_depend_on_the_blocks(block_rows):
    X, y = noisy()
    for one, other in zip(
        fit_path(RowBlocks(X, y, block_rows=block_rows), CS), fit_path(RowBlocks(X, y), CS), strict=True
    ):
        np.testing.assert_allclose(one.coef, other.coef, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("block_rows", [7, 50, 1000])
@pytest.mark.parametrize("n_folds", [1, 2])
def test_classes_and_folds_do_not_mix_over_blocks(block_rows, n_folds):
    X, y = noisy()
    y[::3] = 2
    weights = np.random.default_rng(1).choice([1.0, 2.5], (len(y), n_folds))
    (split,) = fit_path(RowBlocks(X, y, weights, block_rows=block_rows), [1.0], n_classes=3)
    for fold in range(n_folds):
        for label in range(3):
            alone = RowBlocks(X, (y == label).astype(int), weights[:, fold], block_rows=1000)
            (single,) = fit_path(alone, [1.0])
            np.testing.assert_allclose(split.coef[fold, label], single.coef[0, 0], rtol=1e-6)
    assert split.n_iter.max() < 15


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_the_number_of_threads_does_not_change_a_bit(container):
    X, y = noisy()
    blocks = RowBlocks(container(X), y, block_rows=41)
    with one_blas_thread():
        for one, three in zip(fit_path(blocks, CS), fit_path(blocks, CS, n_jobs=3), strict=True):
            np.testing.assert_array_equal(one.coef, three.coef)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_gram_matrix_of_weighted_rows(container):
    X, y = noisy(20, 3)
    weights = np.where(np.arange(20) % 3, 0.0, 2.0)
    solver = newton.ExactNewton(RowBlocks(container(X), y), True, 1e-6, 10, None)
    wide = np.column_stack([X, np.ones(20)])
    np.testing.assert_allclose(solver.gram(container(X), weights), wide.T @ (weights[:, None] * wide))
    assert solver.gram(container(X), 0 * weights) == 0.0


def test_what_changed_is_the_difference_of_two_gram_matrices():
    X, y = noisy()
    blocks = RowBlocks(X, y, block_rows=50)
    solver = newton.ExactNewton(blocks, True, 1e-6, 10, None)
    problems = newton.Problems(np.array([0]), np.array([1]))
    before, after = np.random.default_rng(0).standard_normal((2, 1, 13))
    *_, (change,) = solver.sum(solver.evaluate, problems, after, before)
    (old,), (new,) = (solver.sum(solver.grams, problems, weights) for weights in (before, after))
    np.testing.assert_allclose(change, new - old, atol=1e-9)


def test_line_search_finds_the_minimum_along_the_line():
    X, y = noisy(noise=0.1)
    solver = newton.ExactNewton(RowBlocks(X, y), True, 1e-6, 10, None)
    state = solver.start(newton.Problems(np.array([0]), np.array([1])))
    C, direction = 3.0, -0.1 * state.gradient

    def along(length):
        weights = length * direction
        loss = (np.maximum(0, 1 - (2 * y - 1) * (X @ weights[0, :-1] + weights[0, -1])) ** 2).sum()
        return newton.objective(weights, np.array([loss]), C).item()

    best = solver.line_search(state, np.array([0]), direction, C).item()
    assert along(best) <= min(along(best * 0.99), along(best * 1.01), along(0))


def test_rows_far_larger_than_what_remains_of_the_gram_matrix_are_summed_anew():
    X, y = noisy(200, 5, noise=0.3)
    X[::20] *= 1e7
    X[::20, 0] += 1e7 * (2 * y[::20] - 1)
    (solution,) = fit_path(training_blocks(X, y), [10.0])
    assert solution.converged.all()


def test_blas_threads_come_back_when_the_last_user_leaves():
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert threads() == {1}
        second.__exit__(None, None, None)
        assert threads() == before


def test_a_block_without_weights_counts_every_row_once():
    np.testing.assert_array_equal(newton.fold_weights(Block(0, np.zeros((3, 2)))), np.ones((1, 3)))


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_numbers_that_overflow_are_an_error_without_warnings(container, n_jobs):
    X = np.zeros((40, 3))
    X[::2, 0], X[1::2, 1], X[0, 2] = 1.0, 1.0, 1.7e308
    with pytest.raises(ValueError, match="overflow: X has values too large"):
        LinearSVM(n_jobs=n_jobs).fit(container(X), np.arange(40) % 2, sample_weight=np.full(40, 3.0))
