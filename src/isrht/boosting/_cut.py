"""Where the scores of two classes are cut: at zero, or where the score that is asked for is best on held-out rows.

An SVM cuts at zero, which is about best for accuracy. Balanced accuracy or F1 want another cut where one class is rare,
and moving it is moving the intercept. The cuts that are tried are probabilities of the calibration by held-out rows.
Of each a half counts and of its neighbours a quarter, so that no cut wins by luck alone. Zero stays where no cut
is better, as for scores that only look at the order of the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

PROBABILITIES = np.array([0.01, 0.02, 0.035, 0.05, 0.075, 0.1, *np.arange(3, 15) / 20, 0.8, 0.9])
# Scores that differ by less are equal.
TIE = 1e-9


class Cut(NamedTuple):
    """The score at which the classes are told apart, and how the rows that each fold holds out do with it."""

    at: float
    fold_scores: np.ndarray


def best_cut(judged, calibration):
    """Return the best :class:`Cut` of the scores of two classes.

    Parameters
    ----------
    judged : callable
        ``judged(cut)`` says for each fold how good its rows are if their scores are cut there. NaN is for a fold that
        cannot say.
    calibration : Calibration
        The curve of the same scores.
    """
    at_zero = judged(0.0)
    if not calibration.slope > 0:
        return Cut(0.0, at_zero)
    cuts = (np.log(PROBABILITIES / (1 - PROBABILITIES)) - calibration.offsets[0]) / calibration.slope
    found = [judged(cut) for cut in cuts]
    means = np.array([mean_told(each) for each in found])
    if not np.isfinite(means).all():
        return Cut(0.0, at_zero)
    smoothed = smoothed_by_neighbours(means)
    if smoothed.max() <= mean_told(at_zero) + TIE:
        return Cut(0.0, at_zero)
    number = int(np.flatnonzero(smoothed >= smoothed.max() - TIE).mean())
    return Cut(float(cuts[number]), found[number])


def mean_told(scores):
    """Return the mean over folds of those scores that could be told, or -inf where none could."""
    told = scores[~np.isnan(scores)]
    return float(told.mean()) if len(told) else -np.inf


def smoothed_by_neighbours(values):
    """Return half of each value plus a quarter of each of its neighbours; the first and the last are their own."""
    padded = np.pad(values, 1, mode="edge")
    return 0.25 * padded[:-2] + 0.5 * values + 0.25 * padded[2:]
