"""A picture of the features that tell most: those of the largest weights, by name."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isrht.models.inspection import telling_features
from isrht.plot._display import Display, last_step


class TellingFeaturesDisplay(Display):
    """The features of the largest weights of a linear classifier.

    Weights are per unit of the feature, so they compare features of like units only.

    Parameters
    ----------
    names : list of str
        The names of the features, the most telling first.
    weights : array of shape (n_features,)
        Their weights.
    classes : list of str
        For each feature the class that a positive weight speaks for.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isrht import LinearSVMCV
    >>> from isrht.plot import TellingFeaturesDisplay
    >>> model = LinearSVMCV().fit(*load_iris(return_X_y=True, as_frame=True))
    >>> display = TellingFeaturesDisplay.from_estimator(model, n_features=4)  # doctest: +SKIP
    """

    def __init__(self, names: list[str], weights: Any, classes: list[str]) -> None:
        self.names, self.weights, self.classes = names, np.asarray(weights), classes

    @classmethod
    def from_estimator(cls, model: Any, *, n_features: int = 20, feature_names: Any = None, ax: Any = None) -> Self:
        """Draw the most telling features of a fitted classifier.

        Parameters
        ----------
        model : ISRHTClassifier, LinearSVM, LinearSVMCV, or a pipeline that ends with one
        n_features : int, default=20
            How many features are shown.
        feature_names : sequence of str, default=None
            The names of all features. Unless they are given, they are what the steps before the classifier in a
            pipeline call them (words, of a ``TfidfVectorizer``), or the names of the columns it was trained on, or
            numbers.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : TellingFeaturesDisplay
        """
        classifier = last_step(model)
        check_is_fitted(classifier)
        rows = telling_features(classifier, n_features)
        if rows is None:
            raise TypeError(f"{type(classifier).__name__} has no weights of features: classifiers of isrht have them")
        names = _names(model, classifier) if feature_names is None else np.asarray(feature_names, dtype=object)
        if names is not None and len(names) != classifier.n_features_in_:
            raise ValueError(
                f"{len(names)} feature_names are given, but there are {classifier.n_features_in_} features"
            )
        shown = [str(row["feature"]) if names is None else str(names[row["feature"]]) for row in rows]
        return cls(shown, [row["weight"] for row in rows], [str(row["class"]) for row in rows]).plot(ax)

    def _draw(self, ax):
        """Draw a bar for each feature, the most telling on top; colours are the classes that they speak for."""
        places = np.arange(len(self.names))
        for k, name in enumerate(dict.fromkeys(self.classes)):
            mine = np.array([each == name for each in self.classes])
            ax.barh(places[mine], self.weights[mine], color=f"C{k % 10}", label=f"for {name}, if positive")
        ax.set_yticks(places, self.names)
        ax.invert_yaxis()
        ax.axvline(0, color="black", linewidth=1)
        ax.set(xlabel="weight per unit of the feature")


def _names(model, classifier):
    """Return the names of the features that a classifier gets, or None."""
    if model is not classifier and len(model.steps) > 1:
        return model[:-1].get_feature_names_out()
    return getattr(classifier, "feature_names_in_", None)
