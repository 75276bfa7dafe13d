"""Scores of held-out rows are shown by C or by rounds, and only where something was chosen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isrht import BoostedISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV
from isrht.plot import HeldOutScoresDisplay


@pytest.mark.parametrize("model", [LinearSVMCV([0.1, 1.0]), ISRHTClassifier(8, selection="top", Cs=[0.1, 1.0])])
def test_scores_by_C(digits, model):
    X, y = digits
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y % 2)
    display = HeldOutScoresDisplay.from_estimator(pipeline)
    line = display.ax_.get_lines()[0]
    assert_array_equal(line.get_xdata(), [0.1, 1.0])
    assert_array_equal(line.get_ydata(), model.mean_scores_)
    assert display.figure_ is display.ax_.figure
    assert display.ax_.get_xlabel() == "C"


@pytest.mark.parametrize("model", [BoostedISRHT(8, random_state=0), ISRHTClassifier(8, random_state=0)])
def test_scores_by_rounds(digits, model):
    X, y = digits
    display = HeldOutScoresDisplay.from_estimator(model.fit(X, y % 2))
    columns = getattr(model, "projection_", model)
    assert display.chosen == columns.rounds_
    assert columns.rounds_ in display.values
    assert_allclose(np.nanmax(display.scores), np.nanmax(columns.search_scores_))
    assert len(display.ax_.get_lines()) == len(columns.search_candidates_) + 1


def test_nothing_was_chosen(digits):
    X, y = digits
    with pytest.raises(ValueError, match="LinearSVM has chosen nothing on held-out rows"):
        HeldOutScoresDisplay.from_estimator(LinearSVM().fit(X, y))
    with pytest.raises(ValueError, match="no rows were held out"):
        HeldOutScoresDisplay.from_estimator(BoostedISRHT(2).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]))
