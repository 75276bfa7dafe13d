"""The most telling features have the names that they have in a pipeline."""

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from isrht import ISRHT, ISRHTClassifier, LinearSVM
from isrht.plot import TellingFeaturesDisplay


def test_telling_words():
    texts = ["good fine good", "bad awful bad", "good film", "bad film", "fine film", "awful film"] * 5
    model = make_pipeline(TfidfVectorizer(), ISRHTClassifier(4, random_state=0)).fit(texts, ["+", "-"] * 15)
    display = TellingFeaturesDisplay.from_estimator(model, n_features=4)
    assert set(display.names) == {"good", "bad", "fine", "awful"}
    assert dict(zip(display.names, display.weights, strict=True))["bad"] > 0, "classes_[1] is '-'"
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == display.names


def test_names_of_features(digits):
    X, y = digits
    model = LinearSVM().fit(X, y)
    names = [f"pixel {k}" for k in range(64)]
    display = TellingFeaturesDisplay.from_estimator(model, n_features=3, feature_names=names)
    assert all(name.startswith("pixel ") for name in display.names)
    assert all(name.isdigit() for name in TellingFeaturesDisplay.from_estimator(model, n_features=3).names)
    with pytest.raises(ValueError, match="2 feature_names are given, but there are 64"):
        TellingFeaturesDisplay.from_estimator(model, feature_names=["a", "b"])
    with pytest.raises(TypeError, match="ISRHT has no weights"):
        TellingFeaturesDisplay.from_estimator(ISRHT(4).fit(X, y))
