"""Folds of few, tame rows are solved by one kernel: against the exact solver, and only where it may serve."""

import numpy as np
import pytest
import scipy.sparse as sp
from svm_data import noisy

from isrht import LinearSVMCV
from isrht.linear import _small
from isrht.linear._exact import ExactNewton
from isrht.linear._small import SmallSolver, is_small
from isrht.linear.costs import DEFAULT_CS
from isrht.linear.path import SolverOptions, Start, fit_path, solver_for
from isrht.rows.blocks import RowBlocks

ROUGH = SolverOptions(rough=True)


def folds_of(n_rows, n_classes=2, dtype=np.float64):
    """Return blocks of rows with weights in three folds, among them rows that weigh nothing and more than one."""
    X, y = noisy(n_rows, 7)
    rng = np.random.default_rng(1)
    codes = np.where(rng.random(n_rows) < 0.3, rng.integers(n_classes, size=n_rows), y.astype(int))
    return RowBlocks(X.astype(dtype), codes, rng.choice([0.0, 1.0, 2.5], (n_rows, 3)))


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_fold_class_and_C_has_the_optimum_of_the_exact_solver(n_classes, dtype):
    blocks = folds_of(250, n_classes, dtype)
    assert isinstance(solver_for(blocks, 32.0, ROUGH), SmallSolver)
    assert isinstance(solver_for(blocks, 32.0, SolverOptions()), ExactNewton)
    exact = fit_path(blocks, DEFAULT_CS, n_classes, SolverOptions(tol=1e-8))
    for one, other in zip(fit_path(blocks, DEFAULT_CS, n_classes, ROUGH), exact, strict=True):
        assert one.coef.shape == (3, 1 if n_classes == 2 else n_classes, 7)
        np.testing.assert_allclose(one.coef, other.coef, atol=1e-7)
        np.testing.assert_allclose(one.intercept, other.intercept, atol=1e-7)
        assert one.converged.all()


def test_threads_change_nothing():
    many = fit_path(folds_of(200), DEFAULT_CS, options=SolverOptions(rough=True, n_jobs=3))
    for one, three in zip(fit_path(folds_of(200), DEFAULT_CS, options=ROUGH), many, strict=True):
        np.testing.assert_array_equal(one.coef, three.coef)


def test_a_start_is_begun_with_and_not_written_to():
    blocks = folds_of(200)
    (cold,) = fit_path(blocks, [1.0], options=ROUGH)
    given = np.random.default_rng(0).standard_normal((3, 8))
    before = given.copy()
    (warm,) = fit_path(blocks, [1.0], options=ROUGH, start=Start(weights=given))
    np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-9)
    np.testing.assert_array_equal(given, before)


@pytest.mark.parametrize(
    "options",
    [
        SolverOptions(),
        SolverOptions(rough=True, fit_intercept=False),
        SolverOptions(rough=True, penalize_intercept=False),
        SolverOptions(rough=True, max_iter=59),
    ],
)
def test_options_that_the_kernel_does_not_know_are_left_to_others(options):
    assert is_small(folds_of(50), 1.0, ROUGH)
    assert not is_small(folds_of(50), 1.0, options)


def test_rows_that_are_sparse_many_or_wide_are_left_to_others():
    y = np.arange(2)
    assert is_small(RowBlocks(np.ones((2, _small.MOST_FEATURES)), y), 1.0, ROUGH)
    assert not is_small(RowBlocks(np.ones((2, _small.MOST_FEATURES + 1)), y), 1.0, ROUGH)
    assert not is_small(RowBlocks(sp.csr_array(np.ones((2, 3))), y), 1.0, ROUGH)
    rows = _small.MOST_VALUES // 8 + 1
    assert not is_small(RowBlocks(np.ones((rows, 8)), np.arange(rows) % 2), 1e-9, ROUGH)


@pytest.mark.parametrize("size", [1e5, 1e200])
def test_large_features_are_left_to_the_solver_that_sums_anew(size):
    X, y = noisy(100, 3)
    X[:, 1] *= size
    assert not is_small(RowBlocks(X, y), 1.0, ROUGH)
    assert is_small(RowBlocks(X / size, y), 1.0, ROUGH)


def test_large_weights_and_costs_count_as_large_features_do():
    X, y = noisy(100, 3)
    assert not is_small(RowBlocks(X, y, np.full(100, 1e6)), 1.0, ROUGH)
    assert not is_small(RowBlocks(X, y), 1e6, ROUGH)


def test_a_search_scores_as_it_does_without_the_kernel(monkeypatch):
    X, y = noisy(300, 5)
    small = LinearSVMCV().fit(X, y)
    monkeypatch.setattr(_small, "MOST_FEATURES", 0)
    other = LinearSVMCV().fit(X, y)
    np.testing.assert_array_equal(small.scores_, other.scores_)
    np.testing.assert_array_equal(small.coef_, other.coef_)
    assert small.calibration_.slope == pytest.approx(other.calibration_.slope, rel=1e-6)
