"""The wide solver: the optimum that exact Newton steps find, for many problems and threads, and where data are hard."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from svm_data import HARD, gradient, hard_data, noisy, objective, zipf_rows

from isrht import LinearSVM, LinearSVMCV
from isrht.linear import _wide, path
from isrht.linear._wide import WideSolver
from isrht.linear.costs import DEFAULT_CS
from isrht.linear.path import SolverOptions, fit_path, training_blocks

CONTAINERS = [np.asarray, sp.csr_array]


@pytest.fixture
def wide(monkeypatch):
    """Let all data be wide."""
    monkeypatch.setattr(path, "EXACT_FEATURES", 0)
    monkeypatch.setattr(path, "SPARSE_EXACT_FEATURES", 0)
    monkeypatch.setattr(path, "TALL", np.inf)


@pytest.mark.parametrize("C", [2.0**-10, 1.0, 2.0**10])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", HARD)
def test_hard_data_have_the_optimum_of_the_exact_hessian(kind, container, C, request):
    X, y = hard_data(kind)
    exact = LinearSVM(C).fit(X, y)
    request.getfixturevalue("wide")
    model = LinearSVM(C).fit(container(X), y)
    ours, best = (objective(X, y, one.coef_, one.intercept_, C) for one in (model, exact))
    assert ours <= best * (1 + 1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_gradient_of_wide_sparse_rows_vanishes(dtype, C):
    X, y = zipf_rows()
    X = X.astype(dtype)
    model = LinearSVM(C).fit(X, y)
    slope = gradient(X.astype(np.float64), y, model.coef_, model.intercept_, C)
    assert np.linalg.norm(slope) <= 1e-4 * max(1, C) * np.linalg.norm(model.coef_)


@pytest.mark.parametrize("container", CONTAINERS)
def test_folds_and_classes_have_the_optima_they_have_alone(container, wide):
    X, y = noisy(200, 40)
    y[::5] = 2
    weights = np.ones((200, 3))
    weights[np.arange(200), np.arange(200) % 3] = 0
    weights[:50] *= 2
    together = list(fit_path(training_blocks(container(X), y, weights), DEFAULT_CS[::3], n_classes=3))
    for fold in range(3):
        rows = np.flatnonzero(weights[:, fold])
        alone = fit_path(training_blocks(X[rows], y[rows], weights[rows, fold]), DEFAULT_CS[::3], n_classes=3)
        for one, other in zip(together, alone, strict=True):
            assert one.converged.all()
            np.testing.assert_allclose(one.coef[fold], other.coef[0], atol=1e-5 * np.abs(other.coef).max())


def counts(kind):
    """Return sparse counts that are hard in a way of their own, and labels; a few rows of what large sets have."""
    rng = np.random.default_rng(3)
    n_samples, n_features = {"few rows": (60, 5000), "few features": (500, 410)}.get(kind, (250, 1500))
    indices = (n_features ** rng.random((n_samples, 40))).astype(int) - 1
    starts = np.arange(0, indices.size + 1, 40, dtype=np.int32)
    X = sp.csr_array((np.ones(indices.size), indices.ravel().astype(np.int32), starts), (n_samples, n_features))
    X.sum_duplicates()
    y = ((X @ rng.standard_normal(n_features)) * rng.choice([-1, 1], n_samples, p=[0.1, 0.9]) > 0).astype(int)
    if kind == "nearly equal columns":
        X = sp.csr_array(sp.hstack([X, X * (1 + 1e-6)]))
    if kind == "rescaled":
        X = sp.csr_array(X * np.exp(2 * rng.standard_normal(n_features)))
    return X, y


@pytest.mark.parametrize(
    ("kind", "C"),
    [
        *itertools.product(["unscaled", "nearly equal columns", "few rows", "few features"], [2.0**-10, 1.0, 2.0**10]),
        ("rescaled", 2.0**-10),
        ("rescaled", 2.0**-5),
    ],
)
def test_counts_come_to_the_optimum_from_everywhere(kind, C):
    X, y = counts(kind)
    model = LinearSVM(C).fit(X, y)
    other = LinearSVM(C, random_state=1, tol=1e-7).fit(X, y, coef_init=model.coef_ / 2)
    found, again = (objective(X, y, one.coef_, one.intercept_, C) for one in (model, other))
    np.testing.assert_allclose(found, again, rtol=1e-8)


def test_what_takes_too_long_ends_with_a_warning_and_a_better_model_than_that_of_linear_svc():
    X, y = counts("rescaled")
    with pytest.warns(ConvergenceWarning, match="did not reach tol"):
        model = LinearSVM(2.0**10, max_iter=10).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        theirs = LinearSVC(C=2.0**10, random_state=0).fit(X, y)
    ours, other = (objective(X, y, one.coef_, one.intercept_, 2.0**10) for one in (model, theirs))
    assert ours < other


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_number_of_threads_never_changes_a_bit(n_classes):
    X, y = zipf_rows()
    y = (np.arange(300) % n_classes + y) % n_classes
    one, three = (LinearSVMCV(cv=4, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 3))
    np.testing.assert_array_equal(one.scores_, three.scores_)
    np.testing.assert_array_equal(one.coef_, three.coef_)


def test_rough_scores_are_those_of_the_optima():
    X, y = zipf_rows(600)
    blocks = training_blocks(X, y)
    rough, exact = (list(fit_path(blocks, DEFAULT_CS, options=SolverOptions(rough=rough))) for rough in (True, False))
    for one, other in zip(rough, exact, strict=True):
        assert one.n_iter.max() < other.n_iter.max()
        found, expected = (X @ solution.coef[0, 0] + solution.intercept[0, 0] for solution in (one, other))
        assert np.mean((found > 0) == (expected > 0)) > 0.985


def test_newton_takes_over_where_epochs_do_not_suffice(monkeypatch):
    monkeypatch.setattr(_wide, "MAX_EPOCHS", 1)
    monkeypatch.setattr(_wide, "MAX_FLOAT_EPOCHS", 1)
    X, y = zipf_rows()
    found = LinearSVM().fit(X, y)
    monkeypatch.undo()
    np.testing.assert_allclose(found.coef_, LinearSVM().fit(X, y).coef_, atol=1e-5)


def test_rows_beyond_single_precision_are_left_to_newton(wide):
    X, y = noisy(80, 12)
    (small,) = fit_path(training_blocks(X, y), [1.0])
    (large,) = fit_path(training_blocks(X * 1e20, y), [1e-40], options=SolverOptions(fit_intercept=False))
    assert np.isfinite(large.coef).all()
    assert np.isfinite(small.coef).all()


def test_weights_are_as_many_rows(wide):
    X, y = zipf_rows(100)
    counts = np.random.default_rng(0).integers(0, 4, 100)
    repeated = np.repeat(np.arange(100), counts)
    weighted, plain = LinearSVM().fit(X, y, counts), LinearSVM().fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=1e-5)


def test_entries_that_repeat_a_feature_are_added():
    X, y = zipf_rows(100)
    doubled = sp.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), X.shape)
    np.testing.assert_allclose(LinearSVM().fit(doubled, y).coef_, LinearSVM().fit(X, y).coef_, atol=1e-5)


def test_too_few_steps_are_a_warning(monkeypatch):
    monkeypatch.setattr(_wide, "MAX_EPOCHS", 1)
    X, y = zipf_rows()
    with pytest.warns(Warning, match="did not reach tol"):
        LinearSVM(1000.0, max_iter=1, tol=1e-10).fit(X, y)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_model_of_all_rows_goes_along_with_the_folds(weighted, monkeypatch):
    X, y = zipf_rows(400)
    weights = np.random.default_rng(0).random(400) + 0.5 if weighted else None
    search = LinearSVMCV(class_weight="balanced" if weighted else None)
    alone = []
    solve = LinearSVMCV._solved

    def watched(self, *args):
        alone.append(args[-1])
        return solve(self, *args)

    monkeypatch.setattr(LinearSVMCV, "_solved", watched)
    found = search.fit(X, y, weights)
    (start,) = alone
    assert start.variables.shape == (1, 400)
    sums = X.T @ (start.variables[0] * (2 * y - 1))
    np.testing.assert_allclose(sums, found.coef_[0], atol=0.1 * np.abs(found.coef_).max())
    monkeypatch.setattr(LinearSVMCV, "_whole_goes_along", lambda *_: False)
    expected = LinearSVMCV(class_weight=search.class_weight).fit(X, y, weights)
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-5 * np.abs(expected.coef_).max())


def test_a_search_warns_of_nothing_on_ordinary_rows():
    X, y = zipf_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVMCV().fit(X, y)
    assert model.scores_.shape == (11, 5)
    assert isinstance(path.solver_for(training_blocks(X, y), 1.0, SolverOptions()), WideSolver)


@pytest.mark.parametrize("model", [LinearSVM(), LinearSVMCV()])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("unit", [1e152, 1e160, 1e300])
def test_rows_whose_squares_overflow_are_refused(model, container, unit):
    X, y = noisy(40, 3000)
    with pytest.raises(ValueError, match="sums of squares of the rows overflow: X has values too large"):
        model.fit(container(unit * X), y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_rough_search_is_finished_from_where_its_epochs_ended(monkeypatch, wide):
    X, y = noisy(80, 100)  # more features than the kernel of few takes
    blocks = training_blocks(X, y, np.ones(len(y)))
    expected = fit_path(blocks, [1.0], options=SolverOptions(rough=True))
    monkeypatch.setattr(_wide, "MAX_ROUGH_EPOCHS", 1)
    for one, other in zip(fit_path(blocks, [1.0], options=SolverOptions(rough=True)), expected, strict=True):
        ours, best = (objective(X, y, fit.coef[0], fit.intercept[0], 1.0) for fit in (one, other))
        assert ours <= best * (1 + 1e-2)
