"""Probabilities from scores: a curve with one or two parameters, fitted to scores of rows that were held out.

The score of a linear SVM says on which side of a hyperplane a row lies, and how far from it. How often rows of such a
score belong to the class is another question, which only rows that the SVM has not seen can answer. Cross-validation
has scored such rows anyway, and the probabilities of the largest likelihood follow from their scores s and labels.

Two classes have a sigmoid, ``p(s) = 1 / (1 + exp(-(a s + b)))`` (Platt). The labels 1 and 0 are moved a little towards
each other, as if each class had one more row on the wrong side: ``(N+ + 1) / (N+ + 2)`` and ``1 / (N- + 2)`` (Lin, Lin
and Weng). So no probability is 0 or 1, even if the scores separate the classes.

Several classes have a temperature: ``p_k`` is proportional to ``exp(a s_k)``, with one slope a for all of them, which
leaves the most probable class the one of the largest score. Here one row among all is taken to be on the wrong side.
On the sets of KEEL this has a lower log loss and Brier score than a sigmoid for each class, divided by their sum.

The likelihood is a sum over rows, so rows may be anywhere: each of Newton's steps takes a pass over the held-out
scores. Scores of rows in memory are gathered; those of other rows are kept where the rows are.

References
----------
.. [1] J. Platt, "Probabilistic Outputs for Support Vector Machines and Comparisons to Regularized Likelihood Methods",
   Advances in Large Margin Classifiers, 1999.
.. [2] H.-T. Lin, C.-J. Lin and R. C. Weng, "A Note on Platt's Probabilistic Outputs for Support Vector Machines",
   Machine Learning 68, 2007.
.. [3] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On Calibration of Modern Neural Networks", Proceedings of the
   International Conference on Machine Learning, 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, log_softmax

from isrht.linear.scores import linear_scores
from isrht.linear.weights import class_factors, counted_weights
from isrht.rows.blocks import RowBlocks, RowsElsewhere
from isrht.rows.entry import stored
from isrht.rows.values import derived

# The curve is found when the next step promises to lower the mean loss by less than this.
PRECISION = 1e-12
MOST_PASSES = 100
# A step must lower the loss by this part of what its slope promises, or it is halved.
LEAST_DECREASE = 1e-4
SMALLEST_STEP = 1e-10
# Log odds beyond this are certainty in any precision; larger ones would overflow.
LARGEST_LOG_ODDS = 1e15


@dataclass(frozen=True, eq=False)
class Calibration:
    """The curve that turns scores into probabilities.

    Parameters
    ----------
    slope : float
        Not negative, and zero where the scores of held-out rows told nothing.
    offsets : array of shape (n_problems,)
        Of two classes, the log odds of the second are ``slope * score + offsets[0]``. Of several, the logarithm of the
        probability of class k is ``slope * scores[k] + offsets[k]``, up to a constant that makes the sum 1.
    """

    slope: float
    offsets: np.ndarray

    def probabilities(self, scores):
        """Return the probability of every class: an array (rows, classes) from scores (rows, problems)."""
        return np.exp(self.log_probabilities(scores))

    def log_probabilities(self, scores):
        """Return the logarithms of the probabilities of every class: an array (rows, classes)."""
        with np.errstate(over="ignore"):
            raw = np.clip(scores * self.slope + self.offsets, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
        return log_expit(np.hstack([-raw, raw])) if len(self.offsets) == 1 else log_softmax(raw, axis=1)


def calibrated(X, labels, sample_weight, models, class_weight=None, n_jobs=None):
    """Return the :class:`Calibration` by the scores of rows under models that have not seen them.

    Parameters
    ----------
    X : rows
        Array, CSR matrix or rows elsewhere.
    labels : CodedLabels
    sample_weight : array or RowValues of shape (n_samples,), or None
        In units of rows, because they are counted as rows.
    models : FoldModels
        The model of every fold, and the rows that it has not seen.
    class_weight : None, "balanced" or dict, default=None
        With which the models were trained.
    n_jobs : int or None, default=None
    """
    factors = trained_class_factors(class_weight, labels, sample_weight)
    weights = derived(counted_weights, models.held_out, sample_weight, width=models.held_out.shape[1])
    with _scores_of_held_out(X, labels, weights, models, n_jobs) as blocks:
        return fit_calibration(lambda function: blocks.sum(_OfBlock(function), n_jobs), factors)


def trained_class_factors(class_weight, labels, sample_weight):
    """Return what each class was multiplied by in training: an array (n_classes,)."""
    if class_weight is None:
        return np.ones(labels.n_classes)
    return class_factors(class_weight, labels.classes, labels.totals(sample_weight))


@dataclass(frozen=True, eq=False)
class FoldModels:
    """A linear model for every fold, and the rows that it has not seen.

    Parameters
    ----------
    coef : array of shape (n_folds, n_problems, n_features)
    intercept : array of shape (n_folds, n_problems)
    held_out : array or RowValues of shape (n_samples, n_folds)
        How often each fold holds a row out.
    """

    coef: np.ndarray
    intercept: np.ndarray
    held_out: Any


@dataclass(frozen=True, eq=False)
class _Scores:
    """A function of rows: their scores under several models. It is sent to workers, and the folds stay here."""

    coef: np.ndarray
    intercept: np.ndarray

    def __call__(self, X):
        return linear_scores(X, self.coef, self.intercept)[0]


@contextmanager
def _scores_of_held_out(X, labels, weights, models, n_jobs):
    """Give blocks whose rows are scores, with their classes and their weights in one or all folds."""
    if isinstance(X, RowsElsewhere):
        together = _Scores(models.coef.reshape(-1, X.shape[1]), models.intercept.ravel())
        with stored(X, [(together, models.intercept.size)], n_jobs) as (scores,):
            yield RowBlocks(scores, labels.codes, weights)
        return

    def of_block(block):
        parts = []
        for k, (coef, intercept) in enumerate(zip(models.coef, models.intercept, strict=True)):
            mine = np.flatnonzero(block.sample_weight[:, k])
            if len(mine):
                scores = linear_scores(block.X[mine], coef, intercept)[0]
                parts.append((scores, block.y[mine], block.sample_weight[mine, k]))
        return parts

    parts = [part for found in RowBlocks(X, labels.codes, weights).map(of_block, n_jobs) for part in found]
    scores, codes, weights = (np.concatenate(values) for values in zip(*parts, strict=True))
    yield RowBlocks(scores, codes, weights[:, None])


@dataclass(frozen=True, eq=False)
class _OfBlock:
    """A function of a block of scores: what another function makes of those that count, of all folds together."""

    function: Callable

    def __call__(self, block):
        row, fold = np.nonzero(block.sample_weight)
        scores = np.asarray(block.X, dtype=np.float64).reshape(*block.sample_weight.shape, -1)
        return self.function(scores[row, fold], block.y[row], block.sample_weight[row, fold])


def fit_calibration(sum_over, factors):
    """Return the :class:`Calibration` of the largest likelihood.

    Parameters
    ----------
    sum_over : callable
        ``sum_over(function)`` adds up ``function(scores, codes, weights)`` over all rows that were held out, some at a
        time: their scores (rows, problems), the numbers of their classes, and their weights.
    factors : array of shape (n_classes,)
        What the weights of each class were multiplied by in training. A probability is a frequency of the data as they
        are. Two classes have an offset that finds out by how much the scores lean to one side; several classes have
        none, and what a class was made to count is divided away.
    """
    size, by_class = sum_over(_Totals(len(factors)))
    total = by_class.sum()
    # Scores of about 1 keep the Newton steps well-conditioned, whatever the unit of the scores is.
    unit = float(size / total) if size > 0 else 1.0
    if len(factors) == 2:
        wanted = np.array([1 / (by_class[0] + 2), (by_class[1] + 1) / (by_class[1] + 2)])
        start = np.array([0.0, np.log((by_class[1] + 1) / (by_class[0] + 1))])
        loss = _SigmoidLoss(unit, wanted)
    else:
        start, loss = np.zeros(1), _SoftmaxLoss(unit, np.log(1 / np.where(factors > 0, factors, 1.0)), 1 / (total + 2))
    found = _minimised(lambda at: sum_over(replace(loss, at=at)), start, total)
    if found[0] > 0:
        return Calibration(float(found[0] / unit), found[1:] if len(factors) == 2 else loss.offsets)
    # Scores that speak against their classes have told nothing: then all rows have the shares of the classes.
    shares = np.log((by_class + 1) / (total + len(factors)))
    return Calibration(0.0, shares[1:] - shares[:1] if len(factors) == 2 else shares)


@dataclass(frozen=True, eq=False)
class _Totals:
    """A function of held-out rows: the sum of the mean sizes of their scores, and the weight of every class."""

    n_classes: int

    def __call__(self, scores, codes, weights):
        by_class = np.bincount(codes, weights, minlength=self.n_classes)[: self.n_classes].astype(np.float64)
        return np.array(weights @ np.abs(scores).mean(axis=1)), by_class


@dataclass(frozen=True, eq=False)
class _SigmoidLoss:
    """A function of held-out rows of two classes: loss, gradient and Hessian of a sigmoid.

    Parameters
    ----------
    unit : float
        What scores are divided by.
    wanted : array of shape (2,)
        What the probability of the second class should be for rows of each class.
    at : array of shape (2,)
        Slope, of scores that have been divided, and offset.
    """

    unit: float
    wanted: np.ndarray
    at: np.ndarray | None = None

    def __call__(self, scores, codes, weights):
        scores, wanted = scores[:, 0] / self.unit, self.wanted[codes]
        log_odds = scores * self.at[0] + self.at[1]
        given = expit(log_odds)
        pull, bend = weights * (given - wanted), weights * given * (1 - given)
        loss = np.array(weights @ (np.logaddexp(0, log_odds) - wanted * log_odds))
        hessian = [[bend @ scores**2, bend @ scores], [bend @ scores, bend.sum()]]
        return loss, np.array([pull @ scores, pull.sum()]), np.array(hessian)


@dataclass(frozen=True, eq=False)
class _SoftmaxLoss:
    """A function of held-out rows of several classes: loss, first and second derivative of a temperature.

    Parameters
    ----------
    unit : float
        What scores are divided by.
    offsets : array of shape (n_classes,)
        What is added to the scores of each class.
    astray : float
        How much of a row is taken to belong to other classes, to all of them alike.
    at : array of shape (1,)
        The slope, of scores that have been divided.
    """

    unit: float
    offsets: np.ndarray
    astray: float
    at: np.ndarray | None = None

    def __call__(self, scores, codes, weights):
        scores = scores / self.unit
        logarithms = log_softmax(scores * self.at[0] + self.offsets, axis=1)
        given = np.exp(logarithms)
        mean = (given * scores).sum(axis=1)
        loss = -np.array(weights @ self._wanted_of(logarithms, codes))
        spread = (given * (scores - mean[:, None]) ** 2).sum(axis=1)
        return loss, np.array([weights @ (mean - self._wanted_of(scores, codes))]), np.array([[weights @ spread]])

    def _wanted_of(self, values, codes):
        """Return the means of values (rows, classes), in which a row's own class counts most."""
        own = np.take_along_axis(values, codes[:, None].astype(np.int64), axis=1)[:, 0]
        others = (values.sum(axis=1) - own) / (values.shape[1] - 1)
        return (1 - self.astray) * own + self.astray * others


def _minimised(loss_of, at, total):
    """Return the parameters of the least loss, by Newton steps that are halved until they serve."""
    value, gradient, hessian = loss_of(at)
    size = 1.0
    for _ in range(MOST_PASSES):
        ridge = 1e-12 * np.trace(hessian) + np.finfo(float).tiny
        step = -np.linalg.solve(hessian + ridge * np.eye(len(at)), gradient)
        promise = -(step @ gradient)
        if promise <= PRECISION * total or size < SMALLEST_STEP:
            break
        there = loss_of(at + size * step)
        if there[0] <= value - LEAST_DECREASE * size * promise:
            at, (value, gradient, hessian), size = at + size * step, there, 1.0
        else:
            size /= 2
    return at
