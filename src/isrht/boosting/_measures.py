"""What the search maximises on held-out rows where it is not accuracy: sums over rows, or any score of scikit-learn.

Some scores are sums over rows, which are taken wherever the rows are: the mean recall of the classes, and the log loss
and Brier score of probabilities, which are calibrated on the rows that the fold holds out. For any other score the
held-out scores of a fold are gathered, and given to a scorer of scikit-learn as those of a model. That is for rows in
memory: of rows elsewhere only sums travel.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from isrht.boosting._calibration import AS_CHOSEN, calibrated_on_paths
from isrht.linear.scores import predicted_codes
from isrht.linear.scoring import ScoredRows, held_out_scorer


def measure_for(scoring, estimator, rows, n_jobs=None):
    """Return a function of the heads of a cell, one for each fold: the scores of the folds. For accuracy it is None.

    Parameters
    ----------
    scoring : None, str or callable
    estimator : BoostedISRHT
        It has ``classes_``.
    rows : LearnedRows
    n_jobs : int or None, default=None
    """
    if scoring is None or (isinstance(scoring, str) and scoring == "accuracy"):
        return None
    if isinstance(scoring, str) and scoring in SUMS:
        return SummedScores(SUMS[scoring], rows, n_jobs)
    if not rows.elsewhere:
        return GatheredScores(held_out_scorer(estimator, scoring), estimator.classes_, rows)
    known = ", ".join(map(repr, ("accuracy", *SUMS)))
    raise ValueError(f"scoring of rows that are not in memory must be a sum over rows, {known}, got {scoring!r}")


@dataclass(frozen=True)
class GatheredScores:
    """Scores by a scorer of scikit-learn, which is given the held-out rows of a fold. A score may be NaN."""

    score: Callable
    classes: np.ndarray
    rows: Any

    def __call__(self, heads):
        return np.array([self._of_fold(head) for head in heads])

    def _of_fold(self, head):
        weights = self.rows.held_out_weights(head.path)
        chosen = np.flatnonzero(weights)
        mine = self.rows[chosen]
        return score_of_scores(self.score, self.classes)(head.scores(mine), mine.roles.codes, weights[chosen])


def score_of_scores(scorer, classes):
    """Return a function of scores (rows, problems), codes and weights of rows: what a scorer of scikit-learn says."""

    def score(scores, codes, weights):
        given = ScoredRows(scores, classes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # a fold may lack a class
            return scorer(given.model(), given.X, classes[codes], None if np.all(weights == 1) else weights)

    return score


@dataclass(frozen=True)
class SummedScores:
    """Scores that are sums over rows, taken where the rows are."""

    kind: type
    rows: Any
    n_jobs: int | None = None

    def __call__(self, heads):
        return np.array([self._of_fold(head) for head in heads])

    def _of_fold(self, head):
        calibration = None
        if self.kind.needs_probabilities:
            calibration = calibrated_on_paths(self.rows, [head], AS_CHOSEN, self.n_jobs)
        return self.kind.score(self.rows.sum(self.kind(head, calibration), self.n_jobs))


@dataclass(frozen=True, eq=False)
class _OfHeldOut:
    """A function of some rows: a sum over those of them that the fold of a path holds out."""

    head: Any
    calibration: Any
    needs_probabilities = True

    def __call__(self, rows):
        weights = rows.held_out_weights(self.head.path)
        chosen = np.flatnonzero(weights)
        mine = rows[chosen]
        return self.sum(self.head.scores(mine), mine.roles.codes, weights[chosen], rows.roles.n_classes)

    @staticmethod
    def score(sums):
        """Return the mean loss as a score, of which more is better."""
        return -float(sums[0] / sums[1])


class BalancedAccuracy(_OfHeldOut):
    """The mean share of each class that is predicted right, of the classes that there are."""

    needs_probabilities = False

    def sum(self, scores, codes, weights, n_classes):
        right = weights * (predicted_codes(scores) == codes)
        return np.stack([np.bincount(codes, each, minlength=n_classes)[:n_classes] for each in (right, weights)])

    @staticmethod
    def score(sums):
        right, total = sums
        return float(np.mean(right[total > 0] / total[total > 0]))


class NegativeLogLoss(_OfHeldOut):
    """The mean logarithm of the probability of the true class."""

    def sum(self, scores, codes, weights, n_classes):
        logarithms = self.calibration.log_probabilities(scores)
        return np.array([-weights @ logarithms[np.arange(len(codes)), codes], weights.sum()])


class NegativeBrierScore(_OfHeldOut):
    """The mean squared error of probabilities: of the second of two classes, or of all classes added up."""

    def sum(self, scores, codes, weights, n_classes):
        error = self.calibration.probabilities(scores)
        error[np.arange(len(codes)), codes] -= 1
        squares = error[:, 1] ** 2 if n_classes == 2 else (error**2).sum(axis=1)
        return np.array([weights @ squares, weights.sum()])


SUMS = {
    "balanced_accuracy": BalancedAccuracy,
    "neg_log_loss": NegativeLogLoss,
    "neg_brier_score": NegativeBrierScore,
}
