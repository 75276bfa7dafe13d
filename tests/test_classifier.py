"""ISRHTClassifier: the contract, and one model whatever the storage."""

import os
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_svmlight_file, make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.random_projection import GaussianRandomProjection
from sklearn.utils.estimator_checks import parametrize_with_checks

from isrht import BoostedISRHT, ISRHTClassifier, LinearSVMCV, kernels
from isrht.linear.costs import DEFAULT_CS


def expected_failures(estimator):
    if estimator.selection == "top":
        return {"check_classifiers_train": "Platt's sigmoid has an offset, as that of SVC has: one row of 200 differs"}
    if estimator.scale != "minmax":
        return {}
    return {"check_sample_weight_equivalence_on_sparse_data": "scikit-learn 1.6 forgets to ask who takes sparse rows"}


# scikit-learn 1.6 checks with four rows of a class, and five folds.
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@parametrize_with_checks(
    [
        ISRHTClassifier(2, selection="supervised", C=1.0),
        ISRHTClassifier(2),
        ISRHTClassifier(2, selection="supervised"),
        ISRHTClassifier(2, selection="top", scale="maxabs"),
        ISRHTClassifier(2, selection="uniform", project_once=True),
        ISRHTClassifier(2, selection="supervised", scale="minmax", center=True, C=1.0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, random_state=0, stratify=y)


VARIATIONS = [
    {},
    {"scale": "maxabs"},
    {"scale": "minmax"},
    {"scale": "minmax", "center": True},
    {"sketch_size": 40},
    {"sketch_size": 40, "center": True},
    {"selection": "importance"},
    {"fit_intercept": False, "center": True},
]


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize("options", VARIATIONS, ids=str)
def test_weights_on_features_agree_with_the_way_through_the_projection(digits, n_classes, options):
    X, X_test, y, _ = digits
    model = ISRHTClassifier(20, **({"selection": "supervised", "C": 0.1, "random_state": 0} | options)).fit(
        X, y % n_classes
    )
    assert model.coef_.shape == (1 if n_classes == 2 else 10, 64)
    through = model.svm_.decision_function(model.transform(X_test))
    assert_allclose(model.decision_function(X_test), through, rtol=1e-9, atol=1e-9)
    assert_array_equal(model.predict(X_test), model.svm_.predict(model.transform(X_test)))


@pytest.mark.parametrize("selection", ["uniform", "importance", "top", "supervised"])
def test_same_predictions_for_any_storage_jobs_and_kernel(digits, selection):
    X, X_test, y, _ = digits
    expected = ISRHTClassifier(12, selection=selection, scale="maxabs", random_state=0).fit(X, y % 2)
    others = [
        (sp.csr_array, {"n_jobs": 1}, "numpy"),
        (sp.csc_matrix, {"n_jobs": 2}, None),
        (np.asfortranarray, {"n_jobs": -1}, "baseline"),
        (pd.DataFrame, {}, None),
    ]
    best = kernels.active()
    for kind, options, kernel in others:
        kernels.use(kernel if kernel in kernels.available() else best)
        other = clone(expected).set_params(**options).fit(kind(X), y % 2)
        assert other.C_ == expected.C_
        assert_array_equal(other.projection_.selected_columns_, expected.projection_.selected_columns_)
        assert_allclose(other.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
        assert_array_equal(other.predict(kind(X_test)), expected.predict(X_test))
    kernels.use(best)


def test_unsupervised_columns_are_projected_once(digits):
    X, _, y, _ = digits
    model = ISRHTClassifier(10, selection="top", random_state=0).fit(X, y % 2)
    search = LinearSVMCV().fit(model.transform(X), y % 2)
    assert_array_equal(model.scores_, search.scores_)


def test_a_given_C_leaves_no_scores_of_an_earlier_search(digits):
    X, _, y, _ = digits
    model = ISRHTClassifier(4, selection="supervised", random_state=0).fit(X, y % 2)
    assert not hasattr(model.set_params(C=1.0).fit(X, y % 2), "scores_")


def test_labels_of_any_kind_and_class_weights(digits):
    X, _, y, _ = digits
    names = np.where(y % 2, "odd", "even")
    model = ISRHTClassifier(10, selection="supervised", C=1.0, class_weight={"odd": 5.0}, random_state=0).fit(X, names)
    plain = ISRHTClassifier(10, selection="supervised", C=1.0, random_state=0).fit(X, names)
    assert set(model.predict(X)) <= {"odd", "even"}
    assert (model.predict(X) == "odd").sum() > (plain.predict(X) == "odd").sum()
    ISRHTClassifier(10, selection="supervised", C=1.0, class_weight="balanced").fit(X, y == 3)


def test_sample_weights_count_as_rows(digits):
    X, _, y, _ = digits
    X, y = X[:300], y[:300] % 2
    weights = np.arange(300) % 3
    weighted = ISRHTClassifier(8, selection="supervised", C=0.5, scale="maxabs", random_state=0).fit(
        X, y, sample_weight=weights
    )
    repeated = ISRHTClassifier(8, selection="supervised", C=0.5, scale="maxabs", random_state=0).fit(
        np.repeat(X, weights, 0), np.repeat(y, weights)
    )
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6, atol=1e-9)


def test_inside_other_estimators(digits):
    X, X_test, y, y_test = digits
    y, y_test = y % 2, y_test % 2
    grid = GridSearchCV(
        ISRHTClassifier(selection="supervised", C=0.1, random_state=0), {"n_components": [4, 16]}, cv=2
    ).fit(X, y)
    assert grid.best_params_ == {"n_components": 16}
    calibrated = CalibratedClassifierCV(ISRHTClassifier(16, selection="supervised", C=0.1, random_state=0), cv=2).fit(
        X, y
    )
    assert calibrated.predict_proba(X_test).shape == (len(X_test), 2)
    assert cross_val_score(ISRHTClassifier(16, selection="supervised", C=0.1, random_state=0), X, y, cv=2).mean() > 0.8


def test_other_scores_can_be_maximised(digits):
    X, _, y, _ = digits
    model = ISRHTClassifier(8, selection="supervised", Cs=[1e-4, 1.0], cv=2, scoring="roc_auc", random_state=0).fit(
        X, y % 2
    )
    assert (model.scores_ > 0.7).all()


def test_pickle_keeps_the_bits(digits):
    X, X_test, y, _ = digits
    model = ISRHTClassifier(8, selection="supervised", C=1.0, random_state=0).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X_test), model.decision_function(X_test))


def mean_gain_over_gaussian(X, y, X_test, y_test, r, seeds=range(8)):
    ours, gaussian = [], []
    for seed in seeds:
        model = ISRHTClassifier(r, selection="supervised", random_state=seed).fit(X, y)
        ours.append(model.score(X_test, y_test))
        projection = GaussianRandomProjection(r, random_state=seed).fit(X)
        svm = LinearSVMCV().fit(projection.transform(X), y)
        gaussian.append(svm.score(projection.transform(X_test), y_test))
    return np.mean(ours) - np.mean(gaussian)


def test_beats_a_gaussian_projection_on_digits(digits):
    X, X_test, y, y_test = digits
    assert mean_gain_over_gaussian(X / 16, y % 2, X_test / 16, y_test % 2, 8) > 0.03


def test_beats_a_gaussian_projection_on_synthetic_data():
    X, y = make_classification(1500, 200, n_informative=10, class_sep=1.5, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    assert mean_gain_over_gaussian(X, y, X_test, y_test, 16, range(4)) > 0.03


@pytest.mark.skipif(not os.environ.get("ISRHT_DATA"), reason="ISRHT_DATA does not name a folder with usps.xz")
def test_beats_a_gaussian_projection_on_usps():
    import lzma

    folder = os.environ["ISRHT_DATA"]
    sets = []
    for name in ("usps.xz", "usps.t.xz"):
        with lzma.open(os.path.join(folder, name)) as file:
            X, y = load_svmlight_file(file, n_features=256)
        sets += [X.toarray(), (y - 1) % 2]
    X, y, X_test, y_test = sets
    assert mean_gain_over_gaussian(X, y, X_test, y_test, 16, range(3)) > 0.03


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"C": "best"}, ValueError, "C must be a positive number or 'cv', got 'best'"),
        ({"C": 0}, ValueError, "C must be positive.*0"),
        ({"C": None}, TypeError, "C must be a number, got None"),
        ({"Cs": []}, ValueError, "Cs must hold at least one value"),
        ({"Cs": [1, -1]}, ValueError, "Cs must be positive, got -1"),
        ({"scale": "unit"}, ValueError, "scale must be one of.*'unit'"),
        ({"selection": "best"}, ValueError, "selection must be one of.*'best'"),
        ({"n_components": 100}, ValueError, "n_components=100 is more than the padded width 64"),
        ({"class_weight": "heavy"}, ValueError, "class_weight"),
        ({"tol": 0}, ValueError, "tol"),
        ({"cv": 1}, ValueError, "k-fold"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(digits, options, error, message):
    X, _, y, _ = digits
    with pytest.raises(error, match=message):
        ISRHTClassifier(**{"n_components": 4, "selection": "supervised", **options}).fit(X, y % 2)


def test_bad_data_are_named(digits):
    X, _, y, _ = digits
    model = ISRHTClassifier(4, selection="supervised")
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.ones(len(X)))
    with pytest.raises(ValueError, match="use scale='maxabs'"):
        ISRHTClassifier(4, selection="supervised", scale="minmax").fit(sp.csr_array(X), y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 15, np.nan, X), y)
    with pytest.raises(ValueError, match="expecting 64 features"):
        ISRHTClassifier(4, selection="supervised", C=1.0).fit(X, y).predict(X[:, :5])


def test_by_default_columns_learn_and_are_as_many_as_the_classes_need(digits):
    X, X_test, y, y_test = digits
    model = ISRHTClassifier(random_state=0).fit(X, y % 2)
    assert isinstance(model.projection_, BoostedISRHT)
    assert model.projection_.n_components_ == 16
    paper = ISRHTClassifier(16, selection="supervised", random_state=0).fit(X, y % 2)
    assert model.score(X_test, y_test % 2) > paper.score(X_test, y_test % 2)
    assert ISRHTClassifier(random_state=0).fit(X[:500], y[:500]).projection_.n_components_ == 30


@pytest.mark.parametrize(
    ("selection", "given", "unused"),
    [
        ("boosted", {"balance": 2.0}, "balance=2.0"),
        ("boosted", {"center": True, "Cs": [1.0]}, r"center=True, Cs=\[1.0\]"),
        (
            "boosted",
            {"sketch_size": 8, "n_score_samples": 20, "project_once": True},
            "sketch_size=8, n_score_samples=20",
        ),
        # A missing value is neither equal to anything nor different from it.
        ("boosted", {"Cs": [pd.NA] * len(DEFAULT_CS)}, r"Cs=\[<NA>, <NA>"),
        ("supervised", {"replace": False}, "replace=False"),
        ("top", {"balance": 2.0}, "balance=2.0"),
        ("importance", {"balance": 2.0}, "balance=2.0"),
        ("uniform", {"n_score_samples": 10}, "n_score_samples=10"),
    ],
)
def test_parameters_that_a_selection_does_not_use_are_warned_of(digits, selection, given, unused):
    X, _, y, _ = digits
    with pytest.warns(UserWarning, match=f"selection='{selection}' does not use {unused}"):
        ISRHTClassifier(4, selection=selection, C=1.0, random_state=0, **given).fit(X[:200], y[:200] % 2)


def test_parameters_that_are_the_default_in_another_form_are_not_warned_of(digits):
    X, _, y, _ = digits
    ISRHTClassifier(4, balance=1, Cs=list(DEFAULT_CS), random_state=0).fit(X[:200], y[:200] % 2)
