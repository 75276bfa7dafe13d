"""Paths of solutions: at every C the optimum, whatever shares a pass, a block or a thread with it."""

import numpy as np
import pytest
import scipy.sparse as sp
from svm_data import gradient, noisy

from isrht.linear import _exact, path
from isrht.linear._exact import ExactNewton
from isrht.linear._newton import State
from isrht.linear._wide import WideSolver
from isrht.linear.costs import DEFAULT_CS
from isrht.linear.path import SolverOptions, fit_path, solver_for, training_blocks
from isrht.rows.blocks import RowBlocks
from isrht.support.threads import one_blas_thread


def three_classes(n_samples=300):
    X, y = noisy(n_samples, 12)
    y[::5] = 2
    return X, y


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_the_gradient_vanishes_all_along_the_path(container):
    X, y = noisy(300, 12)
    for solution in fit_path(training_blocks(container(X), y), DEFAULT_CS, options=SolverOptions(tol=1e-8)):
        w, b = solution.coef[0, 0], solution.intercept[0, 0]
        scale = np.abs(gradient(X, y, 0 * w, 0.0, solution.C)).max()
        assert np.abs(gradient(X, y, w, b, solution.C)).max() < 1e-6 * scale
        assert solution.converged.all()


def test_solutions_come_in_ascending_order_of_C():
    X, y = noisy(50, 3)
    assert [solution.C for solution in fit_path(training_blocks(X, y), [4.0, 0.5, 1.0])] == [0.5, 1.0, 4.0]


def test_without_an_intercept_it_is_zero():
    X, y = noisy(50, 3)
    (solution,) = fit_path(training_blocks(X + 1, y), [1.0], options=SolverOptions(fit_intercept=False))
    assert solution.coef.shape == (1, 1, 3)
    assert solution.intercept == 0


def test_too_few_steps_are_told():
    X, y = noisy(300, 12)
    (solution,) = fit_path(training_blocks(X, y), [1.0], options=SolverOptions(max_iter=1))
    assert solution.n_iter == 1
    assert not solution.converged.any()


def test_folds_that_share_passes_are_the_folds_one_by_one():
    X, y = three_classes()
    weights = np.random.default_rng(1).choice([0.0, 1.0, 2.5], (len(y), 3))
    together = list(fit_path(training_blocks(X, y, weights), DEFAULT_CS, n_classes=3))
    for fold in range(3):
        alone = fit_path(training_blocks(X, y, weights[:, fold]), DEFAULT_CS, n_classes=3)
        for shared, single in zip(together, alone, strict=True):
            np.testing.assert_allclose(shared.coef[fold], single.coef[0], rtol=1e-6, atol=1e-9)


def test_problems_that_take_turns_for_memory_end_where_they_would_together(monkeypatch):
    X, y = three_classes()
    together = list(fit_path(training_blocks(X, y), DEFAULT_CS, n_classes=3))
    monkeypatch.setattr(_exact, "GRAM_ELEMENTS", 1)
    for one, other in zip(together, fit_path(training_blocks(X, y), DEFAULT_CS, n_classes=3), strict=True):
        np.testing.assert_allclose(one.coef, other.coef, rtol=1e-7, atol=1e-10)


def test_problems_that_take_turns_hold_the_memory_of_one(monkeypatch):
    X, y = three_classes()
    monkeypatch.setattr(_exact, "GRAM_ELEMENTS", 1)
    states, held = [], []

    class Watched(ExactNewton):
        def state_at_zero(self, problems):
            states.append(super().state_at_zero(problems))
            return states[-1]

        def minimise(self, state, C):
            result = super().minimise(state, C)
            held.append(sum(state.curvature is not None for state in states))
            return result

    monkeypatch.setattr(path, "ExactNewton", Watched)
    list(fit_path(training_blocks(X, y), [0.1, 1.0], n_classes=3))
    assert len(states) == 3
    assert held == [1] * 6
    assert all(isinstance(state, State) for state in states)


def test_a_warm_start_ends_where_a_cold_one_does_in_fewer_steps():
    X, y = noisy(2000, 20)
    warm = list(fit_path(training_blocks(X, y), DEFAULT_CS))[-1]
    (cold,) = fit_path(training_blocks(X, y), DEFAULT_CS[-1:])
    np.testing.assert_allclose(warm.coef, cold.coef, rtol=1e-6, atol=1e-9)
    assert warm.n_iter.max() < cold.n_iter.max()


@pytest.mark.parametrize("block_rows", [1, 7, 64, 1000])
def test_the_result_does_not_depend_on_the_blocks(block_rows):
    X, y = noisy(300, 12)
    cut = fit_path(RowBlocks(X, y, block_rows=block_rows), DEFAULT_CS)
    for one, other in zip(cut, fit_path(RowBlocks(X, y), DEFAULT_CS), strict=True):
        np.testing.assert_allclose(one.coef, other.coef, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("block_rows", [7, 50, 1000])
@pytest.mark.parametrize("n_folds", [1, 2])
def test_classes_and_folds_do_not_mix_over_blocks(block_rows, n_folds):
    X, y = three_classes()
    weights = np.random.default_rng(1).choice([1.0, 2.5], (len(y), n_folds))
    (split,) = fit_path(RowBlocks(X, y, weights, block_rows=block_rows), [1.0], n_classes=3)
    for fold in range(n_folds):
        for label in range(3):
            alone = RowBlocks(X, (y == label).astype(int), weights[:, fold], block_rows=1000)
            (single,) = fit_path(alone, [1.0])
            np.testing.assert_allclose(split.coef[fold, label], single.coef[0, 0], rtol=1e-6, atol=1e-9)
    assert split.n_iter.max() < 15


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_the_number_of_threads_does_not_change_a_bit(container):
    X, y = noisy(300, 12)
    blocks = RowBlocks(container(X), y, block_rows=41)
    with one_blas_thread():
        many = fit_path(blocks, DEFAULT_CS, options=SolverOptions(n_jobs=3))
        for one, three in zip(fit_path(blocks, DEFAULT_CS), many, strict=True):
            np.testing.assert_array_equal(one.coef, three.coef)


@pytest.mark.parametrize(
    ("container", "n_features", "expected"),
    [
        (np.asarray, 2500, ExactNewton),
        (np.asarray, 2501, WideSolver),
        (sp.csr_array, 400, ExactNewton),
        (sp.csr_array, 401, WideSolver),
    ],
)
def test_the_solver_follows_from_the_number_of_features(container, n_features, expected):
    blocks = RowBlocks(container(np.ones((2, n_features))), np.arange(2))
    assert type(solver_for(blocks, 1.0, SolverOptions())) is expected


def test_training_blocks_have_more_rows_than_a_gram_matrix(monkeypatch):
    monkeypatch.setattr(path, "default_block_rows", lambda X: 10)
    assert training_blocks(np.ones((100, 30)), None).block_rows == 60
    assert training_blocks(np.ones((100, 3)), None).block_rows == 10
    assert training_blocks(sp.csr_array(np.ones((100, 30))), None).block_rows == 10
