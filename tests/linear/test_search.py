"""LinearSVMCV: the cross-validation of a grid search, from one path that all folds share."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ShuffleSplit, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks
from svm_data import noisy

from isrht.linear import search
from isrht.linear.search import LinearSVMCV, checked_Cs
from isrht.linear.svm import LinearSVM


def disagreeing_sigmoids(model):
    """Return the check that a sigmoid with an offset does not pass: one of its 200 rows lies between 0 and p = 1/2."""
    return {} if model.refit else {"check_classifiers_train": "Platt's sigmoid has an offset, as that of SVC has"}


# scikit-learn 1.6 checks with four rows of a class, and five folds.
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@parametrize_with_checks([LinearSVMCV(), LinearSVMCV(cv=3, refit=False)], expected_failed_checks=disagreeing_sigmoids)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


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


def test_folds_that_take_turns_are_scored_as_they_are_together(monkeypatch):
    X, y = noisy(noise=2.0)
    together = LinearSVMCV(cv=5, refit=False).fit(X, y)
    monkeypatch.setattr(search, "FOLDS_PER_PASS", 2)
    in_turns = LinearSVMCV(cv=5, refit=False).fit(X, y)
    np.testing.assert_array_equal(in_turns.scores_, together.scores_)
    np.testing.assert_allclose(in_turns.coef_, together.coef_, rtol=1e-6, atol=1e-9)


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


def test_a_large_float32_matrix_is_not_copied_whole():
    X, y = noisy(60_000, 40)
    X = X.astype(np.float32)
    model = LinearSVMCV(cv=3)
    model.fit(X[:100], y[:100]).predict(X[:100])
    tracemalloc.start()
    model.fit(X, y).predict(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Weights, labels and scores are a few float64 columns, and a block is 4 MB; a copy would be 2 X.nbytes.
    assert peak < 1.9 * X.nbytes


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_the_number_of_jobs_does_not_change_a_bit(n_jobs, monkeypatch):
    monkeypatch.setattr("isrht.linear.path.default_block_rows", lambda X: 37)
    X, y = noisy()
    one, many = (LinearSVMCV(n_jobs=jobs).fit(X, y) for jobs in (None, n_jobs))
    np.testing.assert_array_equal(one.coef_, many.coef_)
    np.testing.assert_array_equal(one.scores_, many.scores_)


def test_too_few_steps_are_told():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 Newton steps in \d+ of 55 pairs of C and fold"):
        LinearSVMCV(max_iter=1, refit=False).fit(*noisy())


def test_Cs_are_sorted_and_each_is_tried_once():
    np.testing.assert_array_equal(checked_Cs([[4, 1], [0.5, 1]]), [0.5, 1.0, 4.0])


@pytest.mark.parametrize(
    ("Cs", "message"), [([], "Cs must hold at least one"), ([1, -2], "positive, got -2"), ([np.nan], "Cs")]
)
def test_bad_Cs_are_named(Cs, message):
    with pytest.raises(ValueError, match=message):
        LinearSVMCV(Cs).fit(*noisy(20))


def test_a_fold_that_holds_out_no_weight_is_an_error():
    X, y = noisy(20)
    weights = np.ones(20)
    weights[:5] = 0
    with pytest.raises(ValueError, match="held out by fold 1"):
        LinearSVMCV(cv=[(np.arange(5, 20), np.arange(10)), (np.arange(20), np.arange(5))]).fit(X, y, weights)


@pytest.mark.parametrize("cv", [3, 20])
def test_patience_ends_the_path_early(cv):
    X, y = noisy(300, 10, noise=2.0)
    whole, hasty = LinearSVMCV(cv=cv).fit(X, y), LinearSVMCV(cv=cv, patience=1).fit(X, y)
    tried = np.isfinite(hasty.mean_scores_)
    assert 2 <= tried.sum() < len(tried)
    assert (np.diff(tried.astype(int)) <= 0).all()
    np.testing.assert_array_equal(hasty.scores_[tried], whole.scores_[tried])
    assert hasty.Cs_[np.argmax(hasty.mean_scores_[tried])] == hasty.C_
    np.testing.assert_array_equal(LinearSVMCV(cv=cv, patience=100).fit(X, y).scores_, whole.scores_)


@pytest.mark.parametrize("patience", [0, -1, 1.5, "long", True])
def test_patience_that_is_no_number_of_cs_is_an_error(patience):
    with pytest.raises(ValueError, match="patience of LinearSVMCV must be a positive integer"):
        LinearSVMCV(patience=patience).fit(*noisy())
