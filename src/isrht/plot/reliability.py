"""A picture of whether probabilities mean what they say: how often rows of each one belong to the class."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.calibration import calibration_curve

from isrht.plot._display import Display
from isrht.support.hints import Labels, Rows


class ReliabilityDisplay(Display):
    """A reliability diagram, for two classes or more.

    For two classes it is the diagram of scikit-learn's ``CalibrationDisplay``. Of several classes every row counts once
    for each class: with the probability of this class, and with whether it belongs to it.

    Parameters
    ----------
    predicted, observed : arrays of shape (n_bins,)
        The mean predicted probability of each bin, and the share that belongs to the class.
    name : str, default=None
        The name of the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    sklearn.calibration.CalibrationDisplay : The same for two classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isrht import LinearSVMCV
    >>> from isrht.plot import ReliabilityDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVMCV().fit(X[::2], y[::2])
    >>> display = ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2])  # doctest: +SKIP
    """

    def __init__(self, predicted: Any, observed: Any, name: str | None = None) -> None:
        self.predicted, self.observed, self.name = np.asarray(predicted), np.asarray(observed), name

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Rows,
        y: Labels,
        *,
        n_bins: int = 10,
        strategy: Literal["uniform", "quantile"] = "quantile",
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw how often rows of each predicted probability belong to the class.

        Parameters
        ----------
        model : classifier
            Anything that has ``predict_proba`` and ``classes_``.
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Rows that the model has not seen.
        y : array of shape (n_samples,)
            Their labels.
        n_bins : int, default=10
            How many bins there are.
        strategy : {"uniform", "quantile"}, default="quantile"
            Whether bins are equally wide, or have equally many rows.
        name : str, default=None
            The name of the curve; None is that of the model's class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ReliabilityDisplay
        """
        probabilities = np.asarray(model.predict_proba(X))
        belongs = np.asarray(y)[:, None] == model.classes_
        if len(model.classes_) == 2:
            probabilities, belongs = probabilities[:, 1], belongs[:, 1]
        observed, predicted = calibration_curve(
            belongs.ravel().astype(int), probabilities.ravel(), n_bins=n_bins, strategy=strategy
        )
        return cls(predicted, observed, type(model).__name__ if name is None else name).plot(ax)

    def _draw(self, ax):
        """Draw the curve, and the line on which all of it should be."""
        if not any(line.get_label() == "perfect" for line in ax.get_lines()):
            ax.plot([0, 1], [0, 1], color="black", linestyle="--", linewidth=1, label="perfect")
        ax.plot(self.predicted, self.observed, marker="o", label=self.name)
        ax.set(xlabel="predicted probability", ylabel="share that belongs to the class")
