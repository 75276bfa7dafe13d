"""C is chosen on columns that each fold has chosen for itself: nothing of the rows held out leaks."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from isrht import ISRHT, ISRHTClassifier, LinearSVMCV, RowSource
from isrht.linear import column_search
from isrht.linear.column_search import projected, weights_of_features


def test_columns_chosen_with_labels_are_chosen_anew_in_every_fold(rng):
    """On labels that mean nothing, cross-validation says so; projecting once, as the paper does, does not."""
    X, y = rng.standard_normal((120, 2000)), np.arange(120) % 2
    honest = ISRHTClassifier(16, selection="supervised", random_state=0).fit(X, y)
    rosy = ISRHTClassifier(16, selection="supervised", project_once=True, random_state=0).fit(X, y)
    assert honest.mean_scores_.max() < 0.62
    assert rosy.mean_scores_.max() > 0.75
    assert honest.scores_.shape == (11, 5)


def test_cross_validation_is_that_of_a_pipeline():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600] % 2
    cv = StratifiedKFold(3)
    model = ISRHTClassifier(10, selection="supervised", Cs=[0.01, 1.0], cv=cv, random_state=0).fit(X, y)
    seed = model.projection_.random_state
    for row, C in enumerate([0.01, 1.0]):
        pipeline = make_pipeline(ISRHT(10, random_state=seed), LinearSVMCV([C], cv=2))
        assert_allclose(model.scores_[row], cross_val_score(pipeline, X, y, cv=cv))
    assert [0.01, 1.0][int(np.argmax(model.mean_scores_))] == model.C_


@pytest.mark.parametrize("scoring", [None, "f1"])
def test_folds_that_overlap_are_fitted_one_by_one(scoring):
    """Rows that are held out in several folds, or in none, cannot be measured in one pass."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200] % 2
    cv = [(np.arange(100), np.arange(100, 160)), (np.arange(50, 200), np.arange(50)), (np.arange(150), np.arange(9))]
    model = ISRHTClassifier(6, selection="supervised", Cs=[1.0], cv=cv, scoring=scoring, random_state=0).fit(X, y)
    pipeline = make_pipeline(ISRHT(6, random_state=model.projection_.random_state), LinearSVMCV([1.0], cv=2))
    assert_allclose(model.scores_[0], cross_val_score(pipeline, X, y, cv=cv, scoring=scoring))


@pytest.mark.parametrize("weights", [None, np.ones(200)], ids=["no weights", "weights"])
def test_rows_that_a_fold_trains_on_twice_count_twice(weights):
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200] % 2
    cv = [(np.r_[:120, :60, :60], np.arange(120, 200)), (np.r_[80:200, 150:200], np.arange(80))]
    model = ISRHTClassifier(6, selection="supervised", Cs=[1.0], cv=cv, random_state=0).fit(X, y, weights)
    pipeline = make_pipeline(ISRHT(6, random_state=model.projection_.random_state), LinearSVMCV([1.0], cv=2))
    assert_allclose(model.scores_[0], cross_val_score(pipeline, X, y, cv=cv))


@pytest.mark.filterwarnings("ignore:.* Newton steps for C:sklearn.exceptions.ConvergenceWarning")
def test_how_many_problems_of_folds_were_not_solved_is_told(rng):
    X = rng.standard_normal((90, 20))
    y = (X[:, 0] + rng.standard_normal(90) > 0).astype(int)
    model = ISRHTClassifier(6, selection="supervised", Cs=[0.1, 100.0], cv=3, max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 Newton steps in 6 of 6 pairs of C and fold"):
        model.fit(X, y)


@pytest.mark.parametrize("side_by_side", [False, True])
def test_rows_elsewhere_give_the_same_scores(monkeypatch, side_by_side):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300] % 2
    model = ISRHTClassifier(6, selection="supervised", Cs=[0.1, 1.0], random_state=0)
    scores = model.fit(X, y).scores_
    monkeypatch.setattr(column_search, "_fit_side_by_side", lambda *_: side_by_side)
    blocks = RowSource([(X[:120], y[:120]), (X[120:], y[120:])])
    assert_array_equal(model.fit(blocks).scores_, scores)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_weights_of_columns_become_weights_of_features(rng, container):
    X, y = rng.standard_normal((50, 9)), np.arange(50) % 2
    projection = ISRHT(4, center=True, random_state=0).fit(container(X), y)
    coef, intercept = rng.standard_normal((3, 4)), rng.standard_normal(3)
    on_features, shifted = weights_of_features(projection, coef, intercept)
    with projected([projection], X) as (Z,):
        assert_allclose(X @ on_features.T + shifted, Z @ coef.T + intercept, atol=1e-12)
