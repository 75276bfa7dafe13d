"""Scores of columns are shown where columns were selected by scores."""

import pytest

from isrht import ISRHT, ISRHTClassifier
from isrht.plot import ColumnScoresDisplay


def test_column_scores(digits):
    X, y = digits
    model = ISRHTClassifier(8, selection="supervised", C=1.0, random_state=0).fit(X, y)
    display = ColumnScoresDisplay.from_estimator(model)
    assert display.columns.sum() == 64
    assert display.kept.sum() == 8
    with pytest.raises(ValueError, match="no column scores"):
        ColumnScoresDisplay.from_estimator(ISRHT(4, selection="uniform").fit(X))
