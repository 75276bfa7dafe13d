"""Scores are cut where the score that is asked for is best on held-out rows, and at zero where no cut is better."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import balanced_accuracy_score, f1_score
from svm_data import noisy

import isrht
from isrht import ISRHTClassifier, RowSource
from isrht.boosting._calibration import CalibrationWish
from isrht.boosting._cut import best_cut, mean_told
from isrht.boosting._rows import Head
from isrht.boosting._search import Search
from isrht.linear.calibration import Calibration


def rare(n_samples=1200):
    X, y = noisy(n_samples, 10, noise=1.0, positive=0.1)
    return X[::2], y[::2], X[1::2], y[1::2]


def fitted(X, y, **parameters):
    return ISRHTClassifier(6, random_state=0, **parameters).fit(X, y)


@pytest.mark.parametrize(("scoring", "measure"), [("balanced_accuracy", balanced_accuracy_score), ("f1", f1_score)])
@pytest.mark.parametrize("blend", [False, True])
def test_a_rare_class_gains(scoring, measure, blend):
    X, y, X_test, y_test = rare()
    plain, moved = fitted(X, y), fitted(X, y, scoring=scoring, blend=blend)
    assert measure(y_test, moved.predict(X_test)) > measure(y_test, plain.predict(X_test)) + 0.03
    assert_allclose(moved.predict_proba(X_test)[:, 1].mean(), y_test.mean(), atol=0.04)


def test_only_the_intercept_is_moved_and_probabilities_stay():
    X, y, X_test, _ = rare()
    moved = fitted(X, y, scoring="balanced_accuracy", C=1.0)
    cut = moved.projection_
    assert not hasattr(cut, "_cut")
    same = isrht.LinearSVM(moved.C_).fit(moved.transform(X), y)
    assert_allclose(moved.svm_.coef_, same.coef_, atol=1e-9)
    assert moved.svm_.intercept_[0] > same.intercept_[0] + 0.1
    curve = cut.calibration_
    wanted = curve.probabilities(same.decision_function(moved.transform(X_test))[:, None])
    assert_allclose(moved.predict_proba(X_test), wanted, atol=1e-9)


@pytest.mark.parametrize("scoring", [None, "accuracy", "roc_auc"])
def test_others_are_cut_at_zero(scoring):
    X, y, *_ = rare()
    model = fitted(X, y, scoring=scoring)
    same = isrht.LinearSVM(model.C_).fit(model.transform(X), y)
    assert_allclose(model.svm_.intercept_, same.intercept_, atol=1e-9)


def test_without_an_intercept_nothing_is_moved():
    X, y, *_ = rare()
    assert_array_equal(fitted(X, y, scoring="balanced_accuracy", fit_intercept=False).svm_.intercept_, [0])


def test_it_is_the_same_out_of_core():
    X, y, *_ = rare(600)
    here, there = (fitted(rows, y, scoring="balanced_accuracy") for rows in (X, RowSource(X)))
    assert_allclose(there.intercept_, here.intercept_, rtol=1e-6)
    assert_allclose(there.calibration_.offsets, here.calibration_.offsets, rtol=1e-6)


def test_folds_may_have_learned_different_numbers_of_columns(monkeypatch):
    heads = [Head(fold, size, np.zeros((1, size + 1)), np.zeros(1)) for fold, size in enumerate((1, 3))]
    monkeypatch.setattr(Search, "chosen_heads", lambda self, choice, C_factor: heads)
    search, wish = Search.__new__(Search), CalibrationWish()
    search.measure = lambda heads: np.array([-abs(head.solutions[0, -1] - 0.5) for head in heads])
    found = search.cut(SimpleNamespace(has_signal=True), wish, Calibration(1.0, np.array([0.0])))
    assert abs(found.at + 0.5) < 0.2
    assert not heads[0].solutions.any()
    assert search.cut(SimpleNamespace(has_signal=False), wish, Calibration(1.0, np.array([0.0]))) is None


def test_the_best_cut_is_found_and_ties_are_left_at_zero():
    curve = Calibration(2.0, np.array([-1.0]))
    wanted = 0.3
    found = best_cut(lambda cut: np.array([1 - abs(cut - wanted), np.nan]), curve)
    assert abs(found.at - wanted) < 0.1
    assert mean_told(found.fold_scores) > 0.9
    assert best_cut(lambda cut: np.ones(3), curve).at == 0
    assert best_cut(lambda cut: np.full(3, np.nan), curve).at == 0
    assert best_cut(lambda cut: np.array([cut]), Calibration(0.0, np.array([0.0]))).at == 0
