"""Curves from scores to probabilities: the likelihood's maximum, honest on rows that nobody saw, wherever they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, log_softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from svm_data import noisy

from isrht import LinearSVM, LinearSVMCV, RowSource
from isrht.linear.calibration import Calibration, fit_calibration


def fitted(scores, codes, weights=None, factors=None):
    weights = np.ones(len(codes)) if weights is None else weights
    factors = np.ones(max(2, scores.shape[1])) if factors is None else factors
    return fit_calibration(lambda function: function(scores, codes, weights), factors)


def platt_loss(parameters, scores, codes, weights):
    """Return the loss of Lin, Lin and Weng, written out."""
    positive, negative = weights @ (codes == 1), weights @ (codes == 0)
    wanted = np.where(codes == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
    p = expit(parameters[0] * scores[:, 0] + parameters[1])
    return -weights @ (wanted * np.log(p) + (1 - wanted) * np.log1p(-p))


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e9])
def test_the_sigmoid_has_the_largest_likelihood(rng, size):
    codes, weights = rng.integers(0, 2, 300), rng.uniform(0.5, 2, 300)
    scores = (rng.standard_normal(300) + codes)[:, None]
    expected = minimize(platt_loss, [1.0, 0.0], (scores, codes, weights), method="Nelder-Mead", tol=1e-12).x
    found = fitted(size * scores, codes, weights)
    assert_allclose([found.slope * size, found.offsets[0]], expected, rtol=1e-5)


def test_the_temperature_has_the_largest_likelihood(rng):
    codes = rng.integers(0, 4, 300)
    scores = rng.standard_normal((300, 4)) + np.eye(4)[codes]

    def loss(slope):
        wanted = np.where(np.eye(4)[codes] == 1, 1 - 1 / 302, 1 / 302 / 3)
        return -(wanted * log_softmax(slope * scores, axis=1)).sum()

    assert_allclose(fitted(scores, codes).slope, minimize(loss, 1.0, tol=1e-12).x, rtol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_that_separate_the_classes_leave_some_doubt(n_classes):
    codes = np.repeat(np.arange(n_classes), 50)
    scores = np.where(codes == 1, 1.0, -1.0)[:, None] if n_classes == 2 else 2 * np.eye(3)[codes] - 1
    found = fitted(scores, codes).probabilities(scores)
    own = found[np.arange(len(codes)), codes]
    assert np.all(own > 0.95)
    assert np.all(own < 1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_that_tell_nothing_leave_the_shares_of_the_classes(n_classes):
    codes = np.repeat(np.arange(n_classes), [60, 30, 10][:n_classes])
    wrong = np.where(codes == 1, -1.0, 1.0)[:, None] if n_classes == 2 else -np.eye(3)[codes]
    found = fitted(wrong, codes)
    assert found.slope == 0
    shares = np.bincount(codes) / len(codes)
    assert_allclose(found.probabilities(wrong[:1])[0], shares, atol=0.02)


@pytest.mark.parametrize("scores", [np.zeros((6, 1)), np.zeros((6, 3)), np.full((6, 1), 1e300)])
def test_constant_scores(scores):
    codes = np.array([0, 1, 0, 1, 0, 0]) if scores.shape[1] == 1 else np.arange(6) % 3
    found = fitted(scores, codes).probabilities(scores)
    assert np.isfinite(found).all()
    assert_allclose(found.sum(axis=1), 1)


def test_probabilities_of_the_largest_scores():
    for offsets in (np.zeros(1), np.zeros(3)):
        curve = Calibration(1e200, offsets)
        scores = np.array([[1e200] * len(offsets), [-1e200] * len(offsets), [0.0] * len(offsets)])
        assert_allclose(curve.probabilities(scores).sum(axis=1), 1)
        assert np.isfinite(curve.log_probabilities(scores)).all()


def test_it_is_fitted_to_the_scores_of_rows_that_were_held_out():
    X, y = noisy(300, 10, noise=1.0)
    model = LinearSVMCV([0.01, 0.1, 1.0], cv=4).fit(X, y)
    scores = np.empty((300, 1))
    for train, test in StratifiedKFold(4).split(X, y):
        scores[test, 0] = LinearSVM(model.C_).fit(X[train], y[train]).decision_function(X[test])
    expected = fitted(scores, y)
    assert_allclose(model.calibration_.slope, expected.slope, rtol=1e-6)
    assert_allclose(model.calibration_.offsets, expected.offsets, rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 10])
def test_log_loss_is_no_worse_than_that_of_scikit_learn(n_classes):
    X, y = load_digits(return_X_y=True)
    X, y = X / 16, y % n_classes
    ours = LinearSVMCV().fit(X[::2], y[::2])
    theirs = CalibratedClassifierCV(LinearSVC(dual=False), cv=5).fit(X[::2], y[::2])
    losses = [log_loss(y[1::2], model.predict_proba(X[1::2])) for model in (ours, theirs)]
    assert losses[0] < 1.01 * losses[1]


def test_rows_out_of_core_have_the_same_curve():
    X, y = noisy(500, 8, noise=1.0)
    for labels in (y, (X[:, 0] > 0).astype(int) + y):
        here, there = LinearSVMCV([0.1, 1.0]).fit(X, labels), LinearSVMCV([0.1, 1.0]).fit(RowSource(X), labels)
        assert_allclose(there.calibration_.slope, here.calibration_.slope, rtol=1e-8)
        assert_allclose(there.predict_proba(RowSource(X)), here.predict_proba(X), rtol=1e-7)


@pytest.mark.parametrize("class_weight", [{1: 20.0}, "balanced"])
def test_probabilities_are_frequencies_whatever_the_class_weights(class_weight):
    X, y = noisy(4000, 6, noise=0.5, positive=0.1)
    for labels in (y, np.where(y, 1 + (X[:, 0] > 0), 0)):
        weighted = LinearSVMCV([1.0], class_weight=class_weight).fit(X[::2], labels[::2])
        assert np.mean(weighted.predict(X) > 0) > 1.3 * np.mean(labels > 0)
        assert_allclose(weighted.predict_proba(X[1::2])[:, 1:].sum(axis=1).mean(), np.mean(labels[1::2] > 0), atol=0.05)


def test_a_class_that_was_not_trained_has_probabilities_all_the_same(rng):
    codes = rng.integers(0, 3, 200)
    scores = rng.standard_normal((200, 3)) + np.eye(3)[codes]
    found = fitted(scores, codes, factors=np.array([1.0, 1.0, 0.0]))
    assert_allclose(found.probabilities(scores), fitted(scores, codes).probabilities(scores))


def test_a_weight_of_two_is_a_row_that_is_there_twice():
    X, y = noisy(200, 5, noise=1.0)
    weights = np.where(np.arange(200) % 7 == 0, 2.0, 1.0)
    splits = list(StratifiedKFold(3).split(X, y))
    twice = np.repeat(np.arange(200), weights.astype(int))
    repeated = [tuple(np.flatnonzero(np.isin(twice, side)) for side in split) for split in splits]
    weighted = LinearSVMCV([0.1], cv=splits).fit(X, y, sample_weight=weights)
    plain = LinearSVMCV([0.1], cv=repeated).fit(X[twice], y[twice])
    assert_allclose(weighted.calibration_.slope, plain.calibration_.slope, rtol=1e-6)
    assert_allclose(weighted.calibration_.offsets, plain.calibration_.offsets, rtol=1e-5)
    scaled = LinearSVMCV([0.1], cv=splits).fit(X, y, sample_weight=1e-3 * weights)
    assert_allclose(scaled.calibration_.slope, weighted.calibration_.slope, rtol=1e-9)


def test_folds_that_take_turns_have_the_curve_of_folds_together(monkeypatch):
    from isrht.linear import search

    X, y = noisy(300, 5, noise=1.0)
    together = LinearSVMCV([0.1, 1.0], cv=5).fit(X, y)
    monkeypatch.setattr(search, "FOLDS_PER_PASS", 2)
    in_turns = LinearSVMCV([0.1, 1.0], cv=5).fit(X, y)
    assert_allclose(in_turns.calibration_.slope, together.calibration_.slope, rtol=1e-6)


def test_threads_change_nothing():
    X, y = noisy(3000, 300, noise=1.0)
    one, two = (LinearSVMCV([0.01], n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))
