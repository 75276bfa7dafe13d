"""A picture of how the columns of a rotation scored, and which of them were kept."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isrht.plot._display import Display, last_step


class ColumnScoresDisplay(Display):
    """A histogram of the scores of all columns, and of those that were kept.

    Parameters
    ----------
    edges : array of shape (n_bins + 1,)
        The edges of the bins; higher scores are better.
    columns, kept : arrays of shape (n_bins,)
        How many columns there are, and how many of them were kept.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isrht import ISRHT
    >>> from isrht.plot import ColumnScoresDisplay
    >>> projection = ISRHT(2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> display = ColumnScoresDisplay.from_estimator(projection)  # doctest: +SKIP
    """

    def __init__(self, edges: Any, columns: Any, kept: Any) -> None:
        self.edges, self.columns, self.kept = map(np.asarray, (edges, columns, kept))

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the scores of the columns of a fitted model.

        Parameters
        ----------
        model : ISRHT, ISRHTClassifier that selects columns, or a pipeline that ends with one
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : ColumnScoresDisplay
        """
        model = last_step(model)
        check_is_fitted(model)
        found = getattr(getattr(model, "projection_", model), "score_histogram_", None)
        if found is None:
            raise ValueError("there are no column scores: columns were drawn uniformly, or learned instead of selected")
        return cls(found.edges, found.counts, found.kept).plot(ax)

    def _draw(self, ax):
        """Draw the histogram, with a logarithmic count, because most scores are small."""
        for counts, name in ((self.columns, "all columns"), (self.kept, "kept")):
            ax.stairs(counts, self.edges, fill=True, alpha=0.6, label=f"{name}: {int(counts.sum()):,}")
        ax.set_yscale("symlog", linthresh=1)
        ax.set(xlabel="score, higher is better", ylabel="columns")
