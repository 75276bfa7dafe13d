"""Reliability diagrams are those of scikit-learn, also of several classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.calibration import calibration_curve

from isrht import LinearSVMCV
from isrht.plot import ReliabilityDisplay


@pytest.mark.parametrize("n_classes", [2, 10])
def test_reliability(digits, n_classes):
    X, y = digits
    labels = np.array(list("abcdefghij"))[y % n_classes]
    model = LinearSVMCV([0.1, 1.0]).fit(X[::2], labels[::2])
    display = ReliabilityDisplay.from_estimator(model, X[1::2], labels[1::2], n_bins=5)
    found = model.predict_proba(X[1::2])
    true = labels[1::2, None] == model.classes_
    part = slice(1, None) if n_classes == 2 else slice(None)
    expected = calibration_curve(true[:, part].ravel(), found[:, part].ravel(), n_bins=5, strategy="quantile")
    assert_allclose((display.observed, display.predicted), expected)
    again = ReliabilityDisplay.from_estimator(model, X[1::2], labels[1::2], name="again", ax=display.ax_)
    assert [line.get_label() for line in again.ax_.get_lines()] == ["perfect", "LinearSVMCV", "again"]
