"""The probabilities of boosted columns: fitted to the held-out rows of the search, undoing class weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss
from svm_data import noisy

from isrht import BoostedISRHT, ISRHTClassifier, RowSource


@pytest.mark.parametrize("C", ["cv", 0.25])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_the_same_out_of_core(n_classes, C):
    X, y = noisy(400, 12, noise=1.0)
    y = y if n_classes == 2 else y + (X[:, 1] > 0)
    here = ISRHTClassifier(6, selection="boosted", C=C, random_state=0).fit(X, y)
    there = ISRHTClassifier(6, selection="boosted", C=C, random_state=0).fit(RowSource(X), y)
    assert_allclose(there.calibration_.slope, here.calibration_.slope, rtol=1e-6)
    assert_allclose(there.calibration_.offsets, here.calibration_.offsets, atol=1e-6)


def test_another_C_has_a_curve_of_its_own():
    X, y = noisy(400, 12, noise=1.0)
    chosen, cautious = (ISRHTClassifier(6, selection="boosted", C=C, random_state=0).fit(X, y) for C in ("cv", 1e-4))
    assert cautious.calibration_.slope > 2 * chosen.calibration_.slope
    same = ISRHTClassifier(6, selection="boosted", C=1.0, random_state=0).fit(X, y)
    assert same.calibration_.slope == chosen.calibration_.slope


def test_probabilities_are_better_than_the_shares_of_classes():
    X, y = noisy(2000, 12, noise=1.0, positive=0.2)
    model = ISRHTClassifier(6, selection="boosted", random_state=0).fit(X[::2], y[::2])
    share = np.full(1000, y[::2].mean())
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < 0.8 * log_loss(y[1::2], share)


@pytest.mark.parametrize("weights", [None, 0.01])
def test_class_weights_are_undone(weights):
    X, y = noisy(4000, 8, noise=0.5, positive=0.1)
    sample_weight = None if weights is None else np.full(2000, weights)
    model = ISRHTClassifier(6, selection="boosted", class_weight="balanced", random_state=0)
    model.fit(X[::2], y[::2], sample_weight=sample_weight)
    assert model.predict(X).mean() > 1.3 * y.mean()
    assert_allclose(model.predict_proba(X[1::2])[:, 1].mean(), y[1::2].mean(), atol=0.03)


def test_columns_alone_keep_the_curve():
    X, y = noisy(300, 8)
    columns = BoostedISRHT(4, random_state=0).fit(X, y)
    assert columns.calibration_.slope > 0
    assert BoostedISRHT(2).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).calibration_ is None
