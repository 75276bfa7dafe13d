"""The estimators: scikit-learn's contract, LIBLINEAR's optimum, and honest cross-validation."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ShuffleSplit, StratifiedKFold
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

from isrht.linear import newton
from isrht.linear.search import LinearSVMCV
from isrht.linear.svm import LinearSVM
from isrht.linear.weights import class_factors

CONTAINERS = [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix]


def noisy(n_samples=400, n_features=10, seed=0, noise=1.0, positive=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    score = X @ rng.standard_normal(n_features) / np.sqrt(n_features) + noise * rng.standard_normal(n_samples)
    return X, (score > np.quantile(score, 1 - positive)).astype(int)


def hard_data(kind):
    if kind == "imbalanced":
        return noisy(1000, 10, 1, 0.7, positive=0.01)
    if kind == "separable":
        return noisy(300, 15, 2, noise=0.0)
    if kind == "more features than rows":
        return noisy(50, 120, 3)
    X, y = noisy(seed=4)
    if kind == "duplicated columns":
        X = np.hstack([X, X, X])
    if kind == "constant columns":
        X[:, 3], X[:, 4] = 7, 0
    if kind == "badly scaled":
        X = X * 10.0 ** np.linspace(-4, 4, 10)
    if kind == "outliers":
        X[::50] *= 1e4
    return X, y


HARD = [
    "balanced",
    "imbalanced",
    "separable",
    "more features than rows",
    "duplicated columns",
    "constant columns",
    "badly scaled",
    "outliers",
]


def objective(X, y, coef, intercept, C, weights=1.0):
    hinge = np.maximum(0, 1 - (2 * y - 1) * (X @ coef.ravel() + intercept))
    return 0.5 * (coef**2).sum() + 0.5 * np.sum(intercept**2) + C * np.sum(weights * hinge**2)


def peer_objective(X, y, C, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer = LinearSVC(C=C, dual=False, tol=1e-10, max_iter=2000, **params).fit(X, y)
    return objective(X, y, peer.coef_, peer.intercept_, C)


# scikit-learn 1.6 checks with four rows of a class, and five folds.
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@parametrize_with_checks([LinearSVM(), LinearSVMCV(), LinearSVMCV(cv=3, refit=False)])
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
    monkeypatch.setattr(newton, "SPARSE_EXACT_FEATURES", 0)
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
        monkeypatch.setattr(newton, "SPARSE_EXACT_FEATURES", 0)
    sparse = LinearSVM().fit(X, y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-10 if exact else 1e-5)
    np.testing.assert_array_equal(sparse.predict(X), X @ sparse.coef_[0] + sparse.intercept_ > 0)


@pytest.mark.parametrize("estimator", [LinearSVM(), LinearSVMCV(cv=3)])
def test_a_large_float32_matrix_is_not_copied_whole(estimator):
    import tracemalloc

    X, y = noisy(60_000, 40)
    X = X.astype(np.float32)
    estimator.fit(X[:100], y[:100]).predict(X[:100])
    tracemalloc.start()
    estimator.fit(X, y).predict(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Weights, labels and scores are a few float64 columns, and a block is 4 MB; a copy would be 2 X.nbytes.
    assert peak < 1.9 * X.nbytes


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_the_number_of_jobs_does_not_change_a_bit(n_jobs, monkeypatch):
    monkeypatch.setattr("isrht.linear.newton.default_block_rows", lambda X: 37)
    X, y = noisy()
    one, many = (LinearSVMCV(n_jobs=jobs).fit(X, y) for jobs in (None, n_jobs))
    np.testing.assert_array_equal(one.coef_, many.coef_)
    np.testing.assert_array_equal(one.scores_, many.scores_)


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


def test_balanced_weights_are_those_of_scikit_learn():
    y = np.array([0, 0, 0, 1, 2, 2])
    expected = compute_class_weight("balanced", classes=np.arange(3), y=y)
    np.testing.assert_allclose(class_factors("balanced", np.arange(3), np.bincount(y)), expected)


def test_cross_validation_is_that_of_grid_search():
    X, y = noisy(noise=2.0)
    Cs = 2.0 ** np.arange(-8, 3)
    ours = LinearSVMCV(Cs, cv=4).fit(X, y)
    grid = GridSearchCV(LinearSVM(), {"C": Cs}, cv=4).fit(X, y)
    for fold in range(4):
        np.testing.assert_allclose(ours.scores_[:, fold], grid.cv_results_[f"split{fold}_test_score"])
    np.testing.assert_allclose(ours.mean_scores_, grid.cv_results_["mean_test_score"])
    np.testing.assert_allclose(ours.std_scores_, grid.cv_results_["std_test_score"])
    assert grid.best_params_["C"] == ours.C_
    np.testing.assert_array_equal(ours.coef_, LinearSVM(C=ours.C_).fit(X, y).coef_)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0}])
def test_class_weights_are_those_of_each_training_set(class_weight):
    X, y = noisy(positive=0.1)
    splits = list(StratifiedKFold(3).split(X, y))
    model = LinearSVMCV([0.1, 1.0], cv=splits, class_weight=class_weight).fit(X, y)
    for fold, (train, test) in enumerate(splits):
        alone = LinearSVM(C=0.1, class_weight=class_weight).fit(X[train], y[train])
        assert model.scores_[0, fold] == pytest.approx(alone.score(X[test], y[test]))


@pytest.mark.parametrize("cv", [ShuffleSplit(4, random_state=0), LeaveOneOut()])
def test_any_splitter(cv):
    X, y = noisy(40)
    model = LinearSVMCV([0.01, 1.0], cv=cv).fit(X, y)
    for fold, (train, test) in enumerate(cv.split(X)):
        alone = LinearSVM(C=1.0).fit(X[train], y[train])
        assert model.scores_[1, fold] == pytest.approx(alone.score(X[test], y[test]))


def ranking_without_weights(model, X, y):
    return roc_auc_score(y, model.decision_function(X))


@pytest.mark.parametrize("scoring", ["roc_auc", make_scorer(accuracy_score), ranking_without_weights])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_any_scoring(scoring, weighted, container):
    X, y = noisy(noise=2.0)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    model = LinearSVMCV([0.01, 1.0], cv=3, scoring=scoring).fit(container(X), y, weights)
    assert model.scores_.shape == (2, 3)
    assert np.all((model.scores_ > 0.5) & (model.scores_ < 1))


def test_accuracy_by_name_or_by_default_counts_weights():
    X, y = noisy(noise=2.0)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    default = LinearSVMCV(cv=3).fit(X, y, weights)
    for scoring in ("accuracy", make_scorer(accuracy_score)):
        other = LinearSVMCV(cv=3, scoring=scoring).fit(X, y, weights)
        np.testing.assert_allclose(default.scores_, other.scores_)


def test_the_smallest_of_equally_good_Cs_is_chosen():
    X, y = noisy(noise=0.0, n_features=2)
    model = LinearSVMCV([100.0, 1e4, 1e3, 1e3]).fit(100 * X, y)
    assert model.Cs_.tolist() == [100.0, 1e3, 1e4]
    assert np.ptp(model.mean_scores_) == 0
    assert model.C_ == 100.0


def test_without_refit_the_coefficients_are_means_over_folds():
    X, y = noisy()
    splits = list(StratifiedKFold(3).split(X, y))
    model = LinearSVMCV([0.5], cv=splits, refit=False).fit(X, y)
    folds = [LinearSVM(C=0.5).fit(X[train], y[train]) for train, _ in splits]
    for name in ("coef_", "intercept_"):
        expected = np.mean([getattr(fold, name) for fold in folds], axis=0)
        np.testing.assert_allclose(getattr(model, name), expected, rtol=1e-6)


@pytest.mark.parametrize("estimator", [LinearSVM(), LinearSVMCV()])
def test_too_few_steps_are_told(estimator):
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 Newton steps"):
        clone(estimator).set_params(max_iter=1).fit(X, y)


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
    ("Cs", "message"), [([], "Cs must hold at least one"), ([1, -2], "positive, got -2"), ([np.nan], "Cs")]
)
def test_bad_Cs_are_named(Cs, message):
    with pytest.raises(ValueError, match=message):
        LinearSVMCV(Cs).fit(*noisy(20))


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


def test_a_fold_that_holds_out_no_weight_is_an_error():
    X, y = noisy(20)
    weights = np.ones(20)
    weights[:5] = 0
    with pytest.raises(ValueError, match="held out by fold 1"):
        LinearSVMCV(cv=[(np.arange(5, 20), np.arange(10)), (np.arange(20), np.arange(5))]).fit(X, y, weights)
