"""What holds for every public estimator: default constructors, parameters after fit, failed fits, malformed input."""

import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import isrht
from isrht import (
    ISRHT,
    BoostedISRHT,
    HadamardFourierFeatures,
    HadamardRotation,
    ISRHTClassifier,
    LeverageScoreSelection,
    LinearSVM,
    LinearSVMCV,
    Predictor,
    RowSource,
    SparseEmbedding,
)

ESTIMATORS = [
    value
    for value in (getattr(isrht, name) for name in isrht.__all__)
    if isinstance(value, type) and issubclass(value, BaseEstimator)
]


# scikit-learn 1.6 checks with four rows of a class, and five folds.
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@parametrize_with_checks([estimator() for estimator in ESTIMATORS] + [ISRHT(n_score_samples=20)])
def test_default_constructors_keep_the_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(90, 12, n_informative=6, random_state=0)
    return sp.csr_array(X * (np.abs(X) > 0.3)), y


# --- parameters that are changed after fit ----------------------------------------------------------------------

LEGAL = {
    "n_components": [2, 5, 0.5, "auto"],
    "selection": ["uniform", "importance", "top", "supervised", "boosted"],
    "balance": [0.5, 2.0],
    "class_weight": [None, "balanced", {0: 2.0, 1: 1.0}],
    "center": [True, False],
    "replace": [True, False],
    "sketch_size": [None, "paper", 8],
    "n_score_samples": [None, 20],
    "random_state": [None, 7],
    "n_jobs": [None, 2],
    "C": ["cv", 0.1],
    "Cs": [(1.0,), (0.1, 1.0)],
    "cv": [2, 3, "auto"],
    "scoring": [None, "f1_macro"],
    "project_once": [True, False],
    "blend": [True, False],
    "probability": [True, False],
    "scale": [None, "maxabs", "minmax"],
    "fit_intercept": [True, False],
    "penalize_intercept": [True, False],
    "warm_start": [False, True],
    "patience": [1, None],
    "verbose": [0, 1],
    "tol": [1e-3],
    "max_iter": [200],
    "refit": [True, False],
    "rounds": ["auto", 2],
    "threshold": ["auto", 1.0],
    "diagonal": ["auto", "standard", "z", "signs", "random"],
    "scaled": [True, False],
    "rank": [None, 3],
    "gamma": ["scale", 0.5],
    "candidates": [1, 2],
    "dense_output": [True, False],
    "n_rounds": [1, 3],
    "copy": [True, False],
}
FITTED = [
    *(ISRHT(4, selection=selection) for selection in ("uniform", "importance", "top", "supervised")),
    ISRHT(4, center=True),
    ISRHT(4, sketch_size=8),
    ISRHT(4, sketch_size=8, center=True),
    BoostedISRHT(4),
    BoostedISRHT(4, diagonal="signs"),
    SparseEmbedding(64),
    SparseEmbedding(4, diagonal="z"),
    SparseEmbedding(4, dense_output=True),
    HadamardFourierFeatures(8),
    HadamardFourierFeatures(40, candidates=2),
    HadamardRotation(),
    HadamardRotation(1),
    LeverageScoreSelection(4),
    LinearSVM(),
    LinearSVMCV(),
    ISRHTClassifier(4, selection="supervised"),
    ISRHTClassifier(4, selection="supervised", scale="maxabs", C=1.0),
    ISRHTClassifier(4, selection="supervised", scale="minmax", center=True, C=1.0),
    ISRHTClassifier(4, selection="boosted"),
    ISRHTClassifier(4, selection="supervised", sketch_size=8, C=1.0),
]


def results(model, X):
    """Yield whatever a fitted model says of rows."""
    for method in ("transform", "predict", "decision_function", "predict_proba", "get_feature_names_out"):
        if hasattr(model, method):
            result = getattr(model, method)(*([] if method == "get_feature_names_out" else [X]))
            yield result.toarray() if sp.issparse(result) else np.asarray(result)
    if isinstance(model, ISRHT | SparseEmbedding | HadamardRotation):
        yield model.inverse_transform(model.transform(X))
    if hasattr(model, "coef_"):
        yield Predictor(model).decision_function(X)


@pytest.mark.parametrize("model", FITTED, ids=repr)
def test_parameters_that_change_after_fit_change_nothing(data, model):
    X, y = data
    X = X.toarray() if getattr(model, "scale", None) == "minmax" else X
    model = clone(model).set_params(**({"random_state": 0} if "random_state" in model.get_params() else {})).fit(X, y)
    expected = list(results(model, X))
    given = model.get_params()
    for name in given:
        for value in LEGAL[name]:
            model.set_params(**{name: value})
            for before, now in zip(expected, results(model, X), strict=True):
                assert_array_equal(now, before, err_msg=f"{name}={value!r}")
        model.set_params(**{name: given[name]})


# --- a fit that fails ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_failed_fit_leaves_nothing_that_looks_fitted(estimator, data):
    X, y = data
    bad = X.toarray()
    bad[3, 2] = np.nan
    model = estimator()
    with pytest.raises(ValueError, match="NaN"):
        model.fit(bad, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert [name for name in vars(model) if name.endswith("_")] == []


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_failed_refit_leaves_the_old_model(estimator, data):
    X, y = data
    model = estimator(**({"random_state": 0} if "random_state" in estimator().get_params() else {})).fit(X, y)
    expected = list(results(model, X))
    for wrong in (np.full((20, 5), np.inf), np.empty((0, 5)), "rows"):
        with pytest.raises(ValueError, match="infinity|minimum of|rows|array"):
            model.fit(wrong, np.arange(20) % 2)
        for before, now in zip(expected, results(model, X), strict=True):
            assert_array_equal(now, before)


def test_a_refit_forgets_what_the_old_model_chose(data):
    X, y = data
    model = ISRHTClassifier(4, selection="supervised", random_state=0).fit(X, y)
    assert hasattr(model, "scores_")
    model.set_params(C=1.0).fit(X, y)
    assert not hasattr(model, "scores_")


# --- malformed sparse matrices --------------------------------------------------------------------------------------


def malformed(X):
    """Yield copies of a CSR array, each with one thing wrong, as CSR and as CSC."""
    for format in ("csr", "csc"):
        for name, place, value in (
            ("indices", 0, X.shape[1] + 1000),
            ("indices", -1, 2**31 - 1),
            ("indices", 5, -1),
            ("indptr", 3, 0),
            ("indptr", -1, 10**7),
        ):
            wrong = X.asformat(format, copy=True)
            getattr(wrong, name)[place] = value
            yield wrong


MODELS = [
    SparseEmbedding(4),
    SparseEmbedding(4, diagonal="z"),
    ISRHT(4),
    ISRHT(4, sketch_size=8),
    BoostedISRHT(4),
    HadamardFourierFeatures(8),
    HadamardRotation(),
    LeverageScoreSelection(4),
    LinearSVM(),
    LinearSVMCV(),
    ISRHTClassifier(4, selection="supervised", scale="maxabs"),
    ISRHTClassifier(4, selection="supervised", sketch_size=8),
    ISRHTClassifier(4, selection="boosted"),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_malformed_sparse_matrices_are_errors_that_name_the_place(data, model):
    X, y = data
    fitted = clone(model).fit(X, y)
    for wrong in malformed(X):
        with pytest.raises(ValueError, match="malformed.*(row|column|indptr)"):
            clone(model).fit(wrong, y)
        for method in ("transform", "predict", "decision_function"):
            if hasattr(fitted, method):
                with pytest.raises(ValueError, match="malformed|out of range"):
                    getattr(fitted, method)(wrong)
        if hasattr(fitted, "partial_fit"):
            with pytest.raises(ValueError, match="malformed"):
                clone(model).partial_fit(wrong, y)
        if not isinstance(model, SparseEmbedding | LeverageScoreSelection | HadamardFourierFeatures | HadamardRotation):
            with pytest.raises(ValueError, match="malformed"):
                clone(model).fit(RowSource([(X, y), (wrong, y)]))


# --- weights --------------------------------------------------------------------------------------------------------

CHOOSERS = [
    BoostedISRHT(4, random_state=0),
    LinearSVMCV(),
    LinearSVMCV(class_weight="balanced"),
    ISRHT(4, random_state=0),
    ISRHT(4, n_score_samples=100, random_state=0),
    ISRHTClassifier(4, selection="supervised", random_state=0),
    ISRHTClassifier(4, selection="top", random_state=0),
    ISRHTClassifier(4, selection="boosted", random_state=0),
    ISRHTClassifier(4, selection="boosted", class_weight="balanced", random_state=0),
]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X / X.max(axis=0), y


@pytest.mark.parametrize("model", CHOOSERS, ids=repr)
@pytest.mark.parametrize("kind", ["equal", "different"])
def test_a_factor_on_all_weights_changes_nothing_that_is_chosen(cancer, model, kind):
    X, y = cancer
    weights = np.ones(len(y)) if kind == "equal" else np.random.default_rng(0).uniform(0.1, 3, len(y))
    expected = clone(model).fit(X, y, sample_weight=weights)
    for factor in (1e-6, 1 / len(y), 1e6):
        got = clone(model).fit(X, y, sample_weight=factor * weights)
        for name in ("C_", "rounds_", "diagonal_", "threshold_", "has_signal_", "selected_columns_"):
            if hasattr(expected, name):
                assert_array_equal(getattr(got, name), getattr(expected, name))
        for one, other in zip(results(got, X), results(expected, X), strict=True):
            if one.dtype.kind == "f":
                assert_allclose(one, other, rtol=1e-4, atol=1e-5 * np.abs(other).max())


def test_weights_that_add_up_to_one_do_not_hide_the_signal(cancer):
    X, y = cancer
    model = ISRHTClassifier(8, selection="boosted", random_state=0).fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    assert model.projection_.has_signal_
    assert model.score(X, y) > 0.95


def test_a_few_dominating_rows_are_a_few_rows(rng):
    """A few rows of noise weigh a million times as much as the others: what they say is no signal."""
    X, y = rng.standard_normal((400, 10)), np.arange(400) % 2
    weights = np.full(400, 1e-3)
    weights[:8] = 1000
    assert not BoostedISRHT(4, random_state=0).fit(X, y, sample_weight=weights).has_signal_


def test_a_given_C_keeps_the_meaning_that_it_has_in_liblinear(cancer):
    X, y = cancer
    tenth = LinearSVM(10.0).fit(X, y, sample_weight=np.full(len(y), 0.1))
    assert_allclose(tenth.coef_, LinearSVM(1.0).fit(X, y).coef_, rtol=1e-5)


def test_what_a_search_chose_can_be_had_with_the_weights_as_they_are(cancer):
    X, y = cancer
    weights = np.random.default_rng(0).uniform(1, 3, len(y)) / len(y)
    search = LinearSVMCV().fit(X, y, sample_weight=weights)
    again = LinearSVM(search.C_ / search.weight_unit_).fit(X, y, sample_weight=weights)
    assert_allclose(again.coef_, search.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("model", [*CHOOSERS, LinearSVM()], ids=repr)
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_weights_beyond_bounds_are_named(data, model, size):
    X, y = data
    with pytest.raises(ValueError, match="the largest sample_weight must lie between 1e-100 and 1e.100, got 1e"):
        clone(model).fit(X, y, sample_weight=np.full(len(y), size))


# --- values of any size ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e-40, 1e-20, 1e20, 1e36, 1e100, 1e160, 1e200, 1e300])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # it says to scale the features
def test_finite_data_give_finite_results_or_an_error(data, estimator, container, dtype, size):
    X, y = data
    with np.errstate(over="ignore"):
        X = container((X.toarray() * size / 10).astype(dtype))
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        return  # such a factor makes the data infinite, which other tests are about
    model = estimator(**({"random_state": 0} if "random_state" in estimator().get_params() else {}))
    sound = 1e-50 < size < 1e50
    with nullcontext() if sound else suppressed_if("scale X"):
        found = list(results(model.fit(X, y), X))
        assert all(np.isfinite(values).all() for values in found if values.dtype.kind == "f")


@contextmanager
def suppressed_if(message):
    """Let pass a ValueError whose text has the message in it."""
    try:
        yield
    except ValueError as error:
        if message not in str(error):
            raise


def test_boosted_columns_do_not_depend_on_the_unit_of_the_rows(data):
    X, y = data
    expected = BoostedISRHT(4, diagonal="z", random_state=0).fit(X, y).transform(X)
    for factor in (2.0**-130, 2.0**120):
        tiny = (X * factor).astype(np.float32)
        assert_allclose(BoostedISRHT(4, diagonal="z", random_state=0).fit(tiny, y).transform(tiny), expected, atol=1e-2)


# --- a class that a fold lacks --------------------------------------------------------------------------------------

SEARCHES = [
    LinearSVMCV(),
    BoostedISRHT(4, random_state=0),
    *(ISRHTClassifier(4, selection=selection, random_state=0) for selection in LEGAL["selection"]),
]


@pytest.mark.parametrize("model", SEARCHES, ids=repr)
def test_one_rare_row_names_the_fold_and_the_class(rng, model):
    X, y = rng.standard_normal((60, 8)), np.array(["often"] * 59 + ["rare"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn says that the class has only one member
        with pytest.raises(ValueError, match=r"fold \d of cv trains on no row of class 'rare': .*Give more rows"):
            clone(model).fit(X, y)


@pytest.mark.parametrize("model", [LinearSVMCV(), ISRHTClassifier(4, selection="supervised", random_state=0)], ids=repr)
def test_a_fold_that_lacks_one_of_three_classes_is_told(rng, model):
    X, y = rng.standard_normal((60, 8)), np.array([0, 1] * 29 + [0, 2])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        with pytest.warns(UserWarning, match="trains on no row of class 2, which it never predicts"):
            model.fit(X, y)


@pytest.mark.parametrize("model", [*SEARCHES, LinearSVM()], ids=repr)
def test_a_class_without_weight_is_none(rng, model):
    X, y = rng.standard_normal((60, 8)), np.array(["a", "b"] * 30)
    with pytest.raises(ValueError, match="one class of positive sample_weight: 'a'"):
        clone(model).fit(X, y, sample_weight=(y == "a").astype(float))
