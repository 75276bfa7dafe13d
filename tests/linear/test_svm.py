"""LinearSVM: scikit-learn's contract, and LIBLINEAR's optimum or better."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from svm_data import HARD, hard_data, noisy, objective

from isrht import RowSource
from isrht.linear import path
from isrht.linear.svm import LinearSVM

CONTAINERS = [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix]


def peer_objective(X, y, C, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer = LinearSVC(C=C, dual=False, tol=1e-10, max_iter=2000, **params).fit(X, y)
    return objective(X, y, peer.coef_, peer.intercept_, C)


@parametrize_with_checks([LinearSVM()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("C", [2.0**-10, 1.0, 2.0**10])
@pytest.mark.parametrize("kind", HARD)
def test_the_optimum_is_that_of_liblinear_or_better(kind, C):
    X, y = hard_data(kind)
    peer = peer_objective(X, y, C)
    for data in (X, sp.csr_array(X)):
        model = LinearSVM(C=C).fit(data, y)
        assert objective(X, y, model.coef_, model.intercept_, C) <= peer * (1 + 1e-6)


@pytest.mark.parametrize("C", [2.0**-10, 1.0, 2.0**10])
@pytest.mark.parametrize("kind", HARD)
def test_so_is_that_of_conjugate_gradients(kind, C, monkeypatch):
    monkeypatch.setattr(path, "SPARSE_EXACT_FEATURES", 0)
    X, y = hard_data(kind)
    model = LinearSVM(C=C).fit(sp.csr_array(X), y)
    assert objective(X, y, model.coef_, model.intercept_, C) <= peer_objective(X, y, C) * (1 + 1e-6)


@pytest.mark.parametrize("C", [2.0**-10, 1.0, 2.0**10])
def test_float32_data_have_their_own_optimum(C):
    X, y = noisy()
    X = X.astype(np.float32)
    model = LinearSVM(C=C).fit(X, y)
    peer = LinearSVM(C=C).fit(X.astype(np.float64), y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-10)


def test_without_an_intercept():
    X, y = noisy()
    model = LinearSVM(fit_intercept=False).fit(X, y)
    assert model.intercept_ == 0
    ours = objective(X, y, model.coef_, 0.0, 1.0)
    assert ours <= peer_objective(X, y, 1.0, fit_intercept=False) * (1 + 1e-6)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("exact", [True, False])
def test_sparse_data_give_the_same_model_and_are_never_dense(container, index, exact, monkeypatch):
    X, y = noisy()
    X[np.abs(X) < 1] = 0
    dense = LinearSVM().fit(X, y)
    X = container(X)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    for kind in {sp.csr_array, sp.csr_matrix, container}:
        monkeypatch.setattr(kind, "toarray", None)
        monkeypatch.setattr(kind, "todense", None)
    if not exact:
        monkeypatch.setattr(path, "SPARSE_EXACT_FEATURES", 0)
    sparse = LinearSVM().fit(X, y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-10 if exact else 1e-5)
    np.testing.assert_array_equal(sparse.predict(X), X @ sparse.coef_[0] + sparse.intercept_ > 0)


def test_a_large_float32_matrix_is_not_copied_whole():
    X, y = noisy(60_000, 40)
    X = X.astype(np.float32)
    LinearSVM().fit(X[:100], y[:100]).predict(X[:100])
    tracemalloc.start()
    LinearSVM().fit(X, y).predict(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Weights, labels and scores are a few float64 columns, and a block is 4 MB; a copy would be 2 X.nbytes.
    assert peak < 1.9 * X.nbytes


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_the_number_of_jobs_does_not_change_a_bit(n_jobs, monkeypatch):
    monkeypatch.setattr("isrht.linear.path.default_block_rows", lambda X: 37)
    X, y = noisy()
    one, many = (LinearSVM(n_jobs=jobs).fit(X, y) for jobs in (None, n_jobs))
    np.testing.assert_array_equal(one.coef_, many.coef_)


def test_more_classes_are_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = LinearSVM().fit(X, y)
    assert model.coef_.shape == (3, 4)
    for k in range(3):
        np.testing.assert_allclose(model.coef_[k], LinearSVM().fit(X, y == k).coef_[0], rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.5, 1: 3.0}])
def test_a_weight_is_a_number_of_rows(container, class_weight):
    X, y = noisy(150)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), counts)
    weighted = LinearSVM(class_weight=class_weight).fit(container(X), y, sample_weight=counts)
    repeated = LinearSVM(class_weight=class_weight).fit(container(X[rows]), y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8)


def test_too_few_steps_are_told():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 Newton steps for C=1"):
        LinearSVM(max_iter=1).fit(*noisy())


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C of LinearSVM must be a positive finite number, got 0"),
        ({"C": -1.5}, "got -1.5"),
        ({"C": np.nan}, "got nan"),
        ({"C": "1"}, "got '1'"),
        ({"tol": 0.0}, "tol of LinearSVM"),
        ({"max_iter": 0}, "max_iter of LinearSVM must be a positive integer, got 0"),
        ({"max_iter": 1.5}, "got 1.5"),
        ({"class_weight": "even"}, "class_weight must be .* got 'even'"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        LinearSVM(**params).fit(*noisy(20))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(20), "positive for some row"),
        (-np.ones(20), "must not be negative, got -1 for row 0"),
        (np.ones((20, 2)), "1-D"),
        (np.ones(19), "inconsistent"),
        (np.full(20, np.nan), "sample_weight contains NaN"),
    ],
)
def test_bad_weights_are_named(weights, message):
    with pytest.raises(ValueError, match=message):
        LinearSVM().fit(*noisy(20), sample_weight=weights)


def test_one_class_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="one class: 'a'"):
        LinearSVM().fit(np.eye(3), ["a", "a", "a"])


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_numbers_that_overflow_are_an_error_without_warnings(container, n_jobs):
    X = np.zeros((40, 3))
    X[::2, 0], X[1::2, 1], X[0, 2] = 1.0, 1.0, 1.7e308
    with pytest.raises(ValueError, match="overflow: X has values too large"):
        LinearSVM(n_jobs=n_jobs).fit(container(X), np.arange(40) % 2, sample_weight=np.full(40, 3.0))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kind", ["balanced", "imbalanced", "separable", "far from zero", "more features than rows"])
def test_a_free_intercept_is_that_of_a_general_solver(kind, C):
    X, y = noisy(200, 5) if kind == "far from zero" else hard_data(kind)
    X = X + 50 if kind == "far from zero" else X
    signs = 2.0 * y - 1

    def free_objective(v):
        hinge = np.maximum(0, 1 - signs * (X @ v[:-1] + v[-1]))
        gradient = np.append(v[:-1] - 2 * C * X.T @ (signs * hinge), -2 * C * (signs * hinge).sum())
        return 0.5 * v[:-1] @ v[:-1] + C * hinge @ hinge, gradient

    model = LinearSVM(C, penalize_intercept=False).fit(X, y)
    start = np.append(model.coef_, model.intercept_)
    options = {"gtol": 1e-9, "maxiter": 5000}
    best = minimize(free_objective, np.zeros(X.shape[1] + 1), jac=True, method="BFGS", options=options).fun
    best = min(best, minimize(free_objective, start, jac=True, method="BFGS", options=options).fun)
    assert free_objective(start)[0] <= best * (1 + 1e-8)
    penalised = LinearSVM(C).fit(X, y)
    assert free_objective(np.append(penalised.coef_, penalised.intercept_))[0] > free_objective(start)[0]


def test_a_free_intercept_of_wide_rows_in_memory_and_elsewhere(rng):
    X = sp.csr_array(sp.random_array((200, 600), density=0.05, random_state=rng))
    y = (X[:, :20].sum(axis=1) > 0.5).astype(int)
    sparse, dense, elsewhere = (
        LinearSVM(1.0, penalize_intercept=False).fit(rows, y) for rows in (X, X.toarray(), RowSource(X))
    )
    for model in (sparse, elsewhere):
        np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-5 * np.abs(dense.coef_).max())
        np.testing.assert_allclose(model.intercept_, dense.intercept_, rtol=1e-5)


def test_a_free_intercept_costs_nothing_wherever_the_rows_lie():
    X, y = noisy(200, 5)
    here, there = (LinearSVM(0.1, penalize_intercept=False).fit(X + far, y) for far in (0, 30))
    np.testing.assert_allclose(here.coef_, there.coef_, rtol=1e-5)
    np.testing.assert_array_equal(here.predict(X), there.predict(X + 30))


def test_a_fold_of_one_class_needs_no_weights():
    """A problem whose rows are all of one class has the objective 0, which no step can make smaller."""
    X, y = noisy(60, 4)
    model = LinearSVM(1.0, penalize_intercept=False).fit(
        X, np.where(np.arange(60) < 58, y, 2), sample_weight=np.arange(60) < 58
    )
    assert np.abs(model.coef_[2]).max() < 1e-6
    assert model.intercept_[2] <= -1 + 1e-6


def test_whether_the_intercept_is_penalised_is_a_truth_value():
    with pytest.raises(TypeError, match="penalize_intercept must be True or False, got 'no'"):
        LinearSVM(penalize_intercept="no").fit(*noisy(60))


@pytest.fixture(params=["exact", "wide"])
def either_solver(request, monkeypatch):
    if request.param == "wide":
        monkeypatch.setattr(path, "EXACT_FEATURES", 0)
        monkeypatch.setattr(path, "SPARSE_EXACT_FEATURES", 0)
    return request.param


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_warm_start_comes_to_the_same_optimum_sooner(n_classes, either_solver):
    X, y = noisy(300, 20)
    y = (y + np.arange(300) % (n_classes - 1)) % n_classes
    cold = LinearSVM(1.1).fit(X, y)
    warm = LinearSVM(1.0, warm_start=True).fit(X, y).set_params(C=1.1).fit(X, y)
    given = LinearSVM(1.1).fit(X, y, coef_init=cold.coef_, intercept_init=cold.intercept_)
    for model in (warm, given):
        np.testing.assert_allclose(model.coef_, cold.coef_, atol=1e-5)
        assert model.n_iter_ < cold.n_iter_


def test_without_warm_start_every_fit_begins_anew():
    X, y = noisy()
    model = LinearSVM().fit(X, y)
    coef = model.coef_.copy()
    np.testing.assert_array_equal(model.fit(X, y).coef_, coef)


def test_a_vector_will_do_for_two_classes():
    X, y = noisy()
    best = LinearSVM().fit(X, y)
    model = LinearSVM().fit(X, y, coef_init=best.coef_[0], intercept_init=best.intercept_[0])
    np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-6)


@pytest.mark.parametrize(
    ("init", "message"),
    [
        ({"coef_init": np.ones((2, 10))}, r"coef_init must have the shape \(1, 10\), got \(2, 10\)"),
        ({"coef_init": np.ones(9)}, "coef_init must have the shape"),
        ({"coef_init": np.full((1, 10), np.nan)}, "coef_init contains NaN"),
        ({"intercept_init": np.ones(2)}, r"intercept_init must have the shape \(1,\)"),
    ],
)
def test_a_start_that_does_not_fit_is_an_error(init, message):
    X, y = noisy()
    with pytest.raises(ValueError, match=message):
        LinearSVM().fit(X, y, **init)


def test_a_warm_start_with_other_features_or_classes_is_an_error_and_the_model_stays():
    X, y = noisy()
    model = LinearSVM(warm_start=True).fit(X, y)
    coef = model.coef_
    with pytest.raises(ValueError, match="the last fit had 10 features, and X has 9"):
        model.fit(X[:, :9], y)
    with pytest.raises(ValueError, match="the last fit had the classes"):
        model.fit(X, y + 1)
    assert model.coef_ is coef


def test_random_state_draws_the_order_of_coordinate_descent(monkeypatch):
    monkeypatch.setattr(path, "EXACT_FEATURES", 0)
    X, y = noisy(200, 300)
    coefs = [LinearSVM(random_state=seed).fit(X, y).coef_ for seed in (0, 0, 1)]
    np.testing.assert_array_equal(coefs[0], coefs[1])
    assert (coefs[0] != coefs[2]).any()
    np.testing.assert_allclose(coefs[0], coefs[2], atol=1e-6)
