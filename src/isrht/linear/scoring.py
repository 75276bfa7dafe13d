"""Score models on the rows that were held out: accuracy as a sum over rows, any other score by scikit-learn."""

from __future__ import annotations

import inspect

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import check_scoring

from isrht.linear.calibration import fit_calibration
from isrht.linear.classifier import FixedModel
from isrht.linear.scores import linear_scores, predicted_codes
from isrht.linear.weights import counted_weights
from isrht.rows.blocks import RowBlocks
from isrht.rows.values import derived, total

# Sparse rows of up to so many values are cut into folds once for all scores, which takes as much memory again: 192 MB.
MOST_KEPT_VALUES = 2**24


class _Judged(FixedModel):
    """A model that is judged by held-out rows whose labels are known.

    Scores of rows on workers come back as arrays, which scikit-learn's metrics need. Scorers that ask for probabilities
    get those that are calibrated on the very rows: one or two numbers that are learned from all of them.
    """

    def decision_function(self, X):
        return np.asarray(super().decision_function(X))

    def predict(self, X):
        return np.asarray(super().predict(X))

    def predict_proba(self, X):
        """Return the probabilities of the held-out rows, and of no others."""
        scores = self.decision_function(X).reshape(len(self.labels), -1)
        codes = np.searchsorted(self.classes_, self.labels)
        weights = np.ones(len(codes)) if self.weights is None else self.weights
        curve = fit_calibration(lambda function: function(scores, codes, weights), np.ones(len(self.classes_)))
        return curve.probabilities(scores)


class ScoredRows:
    """Rows of which nothing is known but their scores, in the form of rows that a linear model scores.

    Parameters
    ----------
    scores : array of shape (n_samples, n_problems)
    classes : array of shape (n_classes,)
    """

    def __init__(self, scores, classes):
        self.X, self.classes = scores, classes

    def model(self):
        """Return the model whose scores they are."""
        n_problems = self.X.shape[1]
        return FixedModel.of(self.classes, np.eye(n_problems), np.zeros(n_problems))


def held_out_scorer(estimator, scoring):
    """Return a function ``score(model, X, y, sample_weight)`` for one of scikit-learn's scorings; None is accuracy.

    The function leaves the weights out where there are none, or where a callable ``scoring`` has no parameter for them.
    """
    if scoring is None:
        scoring = "accuracy"
    scorer = check_scoring(estimator, scoring=scoring)
    takes_weights = "sample_weight" in inspect.signature(scorer).parameters

    def score(model, X, y, sample_weight=None):
        model = _Judged.of(model.classes_, model.coef_, model.intercept_)
        model.labels, model.weights = y, sample_weight
        if sample_weight is None or not takes_weights:
            return scorer(model, X, y)
        return scorer(model, X, y, sample_weight=sample_weight)

    return score


class FoldAccuracies:
    """A function of a :class:`~isrht.linear.path.Solution`: the accuracy of each fold's model on the rows it holds out.

    One pass over the data scores each row under the models of the folds that hold it out.

    Parameters
    ----------
    X : rows
    codes : array of shape (n_samples,)
        The number of each row's class.
    sample_weight : array of shape (n_samples,) or None
    held_out : array of shape (n_samples, n_folds)
        How often a fold holds a row out.
    n_jobs : int or None, default=None
    """

    def __init__(self, X, codes, sample_weight, held_out, n_jobs=None):
        weights = derived(counted_weights, held_out, sample_weight, width=held_out.shape[1])
        self.total = total(lambda weights: weights.sum(axis=0), weights)
        if not np.all(self.total > 0):
            raise ValueError(f"sample_weight is zero on all rows held out by fold {int(np.argmin(self.total))} of cv")
        self.blocks, self.n_jobs = RowBlocks(X, codes, weights), n_jobs
        # What each fold holds out of a block, cut out once for all Cs where rows are not too large.
        self.keeps_parts = sp.issparse(X) and X.nnz <= MOST_KEPT_VALUES
        self.parts = {}

    def __call__(self, solution):
        def correct(block):
            return np.array([self._correct_of_fold(block, fold, solution) for fold in range(len(solution.coef))])

        return self.blocks.sum(correct, self.n_jobs) / self.total

    def _correct_of_fold(self, block, fold, solution):
        """Return the weight of the rows of a block that a fold holds out and its model puts into the right class."""
        X, y, weights = self.parts.get((block.start, fold)) or self._part(block, fold)
        if len(y) == 0:
            return 0.0
        scores, _ = linear_scores(X, solution.coef[fold], solution.intercept[fold])
        return weights @ (predicted_codes(scores) == y)

    def _part(self, block, fold):
        """Return the rows of a block that a fold holds out, with their classes and weights."""
        held_out = np.flatnonzero(block.sample_weight[:, fold])
        part = block.X[held_out], block.y[held_out], block.sample_weight[held_out, fold]
        if self.keeps_parts:
            self.parts[block.start, fold] = part
        return part
