"""A blend of boosted columns with an SVM on all features: two linear models in one, in shares by held-out rows.

Both models are one weight per feature, so what they say together is one weight per feature again. They err on
different rows, and which of them errs less depends on the data. Every fold of the search has a boosted model that has
not seen the rows that it holds out; here it gets an SVM on all features of the same training rows. The scores of each
are divided by their standard deviation on these rows. The C of the SVM is the one that does best alone, and its share
is about the one with which both together do best, 0 and 1 among the choices. Few rows can hardly tell one share from
another, so all shares have a say: the mean share is taken, in which each counts the less the more standard errors it
is behind the best. Of every score a half counts and of its neighbours a quarter, so that none wins by luck alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isrht.boosting._cut import Cut, best_cut, mean_told, smoothed_by_neighbours
from isrht.boosting._roles import Roles
from isrht.linear.calibration import Calibration, fit_calibration
from isrht.linear.path import SolverOptions, fit_path, training_blocks
from isrht.linear.scores import linear_scores

SHARES = np.arange(11) / 10
# The values of C that are tried for the SVM on all features, for weights in units of a row.
BLEND_CS = tuple(4.0**exponent for exponent in range(-5, 3))
# A share that is so many standard errors behind the best one counts e times less.
ERRORS_BEHIND = 0.25


class FoldScores(NamedTuple):
    """What the boosted model of each fold says of all rows that were searched, those that it holds out among them.

    Parameters
    ----------
    X : array or CSR matrix
        The rows.
    roles : Roles
    scores : array of shape (n_folds, n_samples, n_problems)
    """

    X: Any
    roles: Roles
    scores: np.ndarray


@dataclass(frozen=True)
class Judge:
    """How blends are judged, and what their probabilities are for.

    Parameters
    ----------
    score : callable
        ``score(scores, codes, weights)`` says how good the scores of some rows are.
    options : SolverOptions
        How the SVMs are solved.
    class_factors : array of shape (n_classes,)
        What the weights of the rows of each class were multiplied by.
    moves_cut : bool, default=False
        Whether scores may be cut elsewhere than at zero (:mod:`isrht.boosting._cut`).
    """

    score: Callable
    options: SolverOptions
    class_factors: np.ndarray
    moves_cut: bool = False


@dataclass(frozen=True)
class Blend:
    """What was chosen: the share of the SVM and its C, where scores are cut, and the calibration by held-out rows."""

    share: float
    C: float
    cut: Cut
    calibration: Calibration


def choose_blend(known, judge):
    """Return the :class:`Blend` that does best on the rows that the folds hold out.

    Parameters
    ----------
    known : FoldScores
    judge : Judge
    """
    folds = [_Fold(known, k) for k in range(len(known.scores))]
    C, of_svm = _best_svm(known, folds, judge)
    mixed = [[fold.mixed(scores, share) for fold, scores in zip(folds, of_svm, strict=True)] for share in SHARES]

    def judged(number, cut=0.0):
        pairs = zip(folds, mixed[number], strict=True)
        return np.array([fold.judged(scores - cut, judge) for fold, scores in pairs])

    found = [judged(number) for number in range(len(SHARES))]
    n_rows = sum(fold.weights.sum() for fold in folds)
    best = _mean_share(np.array([mean_told(each) for each in found]), n_rows)
    calibration, cut = _calibrated(folds, mixed[best], judge), Cut(0.0, found[best])
    if judge.moves_cut:
        cut = best_cut(lambda at: judged(best, at), calibration)
    return Blend(float(SHARES[best]), C, cut, calibration)


def factors_of(share, boosted_spread, svm_spread):
    """Return by what the scores of the boosted model and of the SVM are multiplied before they are added up.

    A share of 0 leaves the boosted model as it is, and one of 1 the SVM.
    """
    unit = (1 - share) * boosted_spread + share * svm_spread
    return unit * (1 - share) / boosted_spread, unit * share / svm_spread


def spread(scores, weights):
    """Return the standard deviation of the scores (rows, problems) of weighted rows; 1 where they are all the same."""
    total = weights.sum() * scores.shape[1]
    mean = (weights @ scores).sum() / total
    return float(np.sqrt((weights @ (scores - mean) ** 2).sum() / total)) or 1.0


class SvmScores(NamedTuple):
    """What the SVM of a fold says of the rows that are held out, and the standard deviation on its training rows."""

    held_out: np.ndarray
    spread: float


class _Fold:
    """The boosted model of a fold, and the rows that it holds out."""

    def __init__(self, known, number):
        roles = known.roles
        self.training, held_out = roles.training_weights(number), roles.held_out_weights(number)
        self.chosen = np.flatnonzero(held_out)
        self.weights, self.codes = held_out[self.chosen], roles.codes[self.chosen]
        self.boosted, self.spread = known.scores[number][self.chosen], spread(known.scores[number], self.training)

    def told(self, scores):
        """Return what is kept of the scores of all rows under the SVM."""
        return SvmScores(scores[self.chosen], spread(scores, self.training))

    def mixed(self, of_svm, share):
        """Return the scores of the rows that are held out under both models."""
        boosted, svm = factors_of(share, self.spread, of_svm.spread)
        return boosted * self.boosted + svm * of_svm.held_out

    def judged(self, scores, judge):
        return judge.score(scores, self.codes, self.weights)


def _best_svm(known, folds, judge):
    """Return the C that does best by itself, and for each fold the :class:`SvmScores` of this C."""
    blocks = training_blocks(known.X, known.roles.codes, known.roles.training_weights(slice(None)))
    Cs, told, means = [], [], []
    for solution in fit_path(blocks, BLEND_CS, known.roles.n_classes, replace(judge.options, rough=True)):
        models = zip(folds, solution.coef, solution.intercept, strict=True)
        told.append([fold.told(linear_scores(known.X, *model, judge.options.n_jobs)[0]) for fold, *model in models])
        own = [fold.judged(each.held_out, judge) for fold, each in zip(folds, told[-1], strict=True)]
        Cs.append(solution.C)
        means.append(mean_told(np.array(own)))
    best = int(np.argmax(smoothed_by_neighbours(np.array(means))))
    return Cs[best], told[best]


def _mean_share(means, n_rows):
    """Return the number of the share in the middle of all, each of which counts by how near it is to the best one.

    Parameters
    ----------
    means : array of shape (n_shares,)
        How good the rows that are held out are with each share.
    n_rows : float
        The weight of these rows.
    """
    if not np.isfinite(means).all():
        return 0
    smoothed = smoothed_by_neighbours(means)
    error = np.sqrt(max(1 - smoothed.max(), 1 / n_rows) / n_rows)
    says = np.exp((smoothed - smoothed.max()) / (ERRORS_BEHIND * error))
    return round(float(says @ np.arange(len(says)) / says.sum()))


def _calibrated(folds, mixed, judge):
    """Return the calibration by the rows that are held out, of which class weights are undone."""
    undone = 1 / np.where(judge.class_factors > 0, judge.class_factors, 1.0)
    codes = np.concatenate([fold.codes for fold in folds])
    weights = np.concatenate([fold.weights for fold in folds]) * undone[codes]
    counted, scores = np.flatnonzero(weights), np.concatenate(mixed)
    return fit_calibration(
        lambda function: function(scores[counted], codes[counted], weights[counted]), judge.class_factors
    )
