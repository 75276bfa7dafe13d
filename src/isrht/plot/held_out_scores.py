"""A picture of how well held-out rows did: for every C, or for every number of rounds of boosted columns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isrht.models.inspection import best_by_rounds
from isrht.plot._display import Display, last_step


class HeldOutScoresDisplay(Display):
    """The scores of held-out rows by which a model was chosen.

    Parameters
    ----------
    values : array of shape (n_values,)
        What was tried, ascending: Cs, or numbers of rounds.
    scores : array of shape (n_curves, n_values)
        The scores, NaN where something was not tried.
    names : list of str
        The names of the curves.
    chosen : float
        The value that was chosen.
    xlabel, ylabel : str
        What the values and the scores are.
    spread : array of shape (n_curves, n_values) or None, default=None
        The standard deviation of the scores over folds.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    LinearSVMCV, ISRHTClassifier, BoostedISRHT : Models that choose.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isrht import LinearSVMCV
    >>> from isrht.plot import HeldOutScoresDisplay
    >>> model = LinearSVMCV(cv=3).fit(*load_iris(return_X_y=True))
    >>> display = HeldOutScoresDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(
        self,
        values: Any,
        scores: Any,
        names: list[str],
        *,
        chosen: float,
        xlabel: str,
        ylabel: str = "score of held-out rows",
        spread: Any = None,
    ) -> None:
        self.values, self.scores, self.names = np.asarray(values), np.atleast_2d(scores), names
        self.chosen, self.xlabel, self.ylabel = chosen, xlabel, ylabel
        self.spread = None if spread is None else np.atleast_2d(spread)

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the scores of a fitted model.

        Parameters
        ----------
        model : LinearSVMCV, ISRHTClassifier, BoostedISRHT, or a pipeline that ends with one
            Boosted columns are shown by rounds, a curve for each kind of diagonal with the best C of each round;
            others by C, with the standard deviation over folds.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : HeldOutScoresDisplay
        """
        model = last_step(model)
        check_is_fitted(model)
        columns = getattr(model, "projection_", model)
        if hasattr(columns, "search_scores_"):
            return cls._by_rounds(columns).plot(ax)
        if not hasattr(model, "mean_scores_"):
            raise ValueError(f"{type(model).__name__} has chosen nothing on held-out rows: fit it with C='cv'")
        display = cls(model.Cs_, model.mean_scores_, ["mean"], chosen=model.C_, xlabel="C", spread=model.std_scores_)
        return display.plot(ax)

    @classmethod
    def _by_rounds(cls, columns):
        scores = columns.search_scores_
        if not np.isfinite(scores).any():
            raise ValueError("no rows were held out, so there are no scores to show")
        shown = columns.search_rounds_, best_by_rounds(scores), list(columns.search_candidates_)
        ylabel = "score of held-out rows, best C"
        return cls(*shown, chosen=columns.rounds_, xlabel="rounds", ylabel=ylabel)

    def _draw(self, ax):
        """Draw the curves, and a line at what was chosen."""
        for curve, name in zip(self.scores, self.names, strict=True):
            ax.plot(self.values, curve, marker="o", label=name)
        if self.spread is not None:
            for curve, spread in zip(self.scores, self.spread, strict=True):
                ax.fill_between(self.values, curve - spread, curve + spread, alpha=0.2)
        ax.axvline(self.chosen, color="black", linestyle="--", linewidth=1, label=f"chosen: {self.chosen:g}")
        ax.set_xscale("log", base=2)
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel)
