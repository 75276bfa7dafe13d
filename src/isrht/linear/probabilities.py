"""Probabilities of classes, for linear classifiers that have held rows out while they were fitted.

Such a classifier has ``calibration_`` (:mod:`isrht.linear.calibration`), or None where nothing was held out. Then
``predict_proba`` is not there, and whoever asks for it is told how to have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isrht.linear.calibration import Calibration
from isrht.rows.entry import fitted_rows
from isrht.support.hints import ArrayOrLazy, Rows


def _has_probabilities(model):
    """Say whether a model has probabilities, or will have them after ``fit``; if not, say why, and what would help."""
    if "classes_" in vars(model):
        if getattr(model, "calibration_", None) is not None:
            return True
    elif model._will_be_calibrated():
        return True
    raise AttributeError(f"{type(model).__name__} has no probabilities here: {model._why_not_calibrated()}")


class ProbabilitiesMixin:
    """What a linear classifier can do that knows how often its scores are right."""

    @available_if(_has_probabilities)
    def predict_proba(self, X: Rows) -> ArrayOrLazy:
        """Return the probability of every class for each row.

        Of two classes, a sigmoid turns the score of a row into a probability; of several, a softmax of the scores, all
        times the same slope. It was fitted to the scores of rows that were held out while the model was chosen, each
        scored by a model that had not seen it.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), RowSource, or Dask collection
            The rows to judge.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The columns are in the order of ``classes_``. Those of rows on a Dask cluster are a Dask array.

        Notes
        -----
        Weights of samples count in the calibration, and weights of classes do not: a probability tells how often such
        rows belong to a class in data like those of ``fit``, however much that class was made to count in training.
        ``predict`` follows the scores. With class weights it may differ from the most probable class, and with two
        classes also for rows about which the model is least sure, whose probability is about a half.
        """
        return self._judged(X, "probabilities")

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Rows) -> ArrayOrLazy:
        """Return the logarithm of the probability of every class for each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), RowSource, or Dask collection
            The rows to judge.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms of what :meth:`predict_proba` returns, which are finite even where a probability is too small to
            be told from zero.
        """
        return self._judged(X, "log_probabilities")

    def _judged(self, X, what):
        check_is_fitted(self)
        if (rows := fitted_rows(self, X)) is not None:
            return rows.collect(_Judge(self._fixed(), self.calibration_, what), self.n_jobs)
        return _judged_scores(self.decision_function(X), self.calibration_, what)

    def _will_be_calibrated(self):
        """Say whether ``fit`` will hold rows out, by the parameters as they are."""
        return True

    def _why_not_calibrated(self):
        """Return why there are no probabilities, and how to have them."""
        return "no rows were held out to learn them from, or the file of the model is of a version that had none"


@dataclass(frozen=True, eq=False)
class _Judge:
    """A function of a block of rows: their probabilities, or the logarithms of these."""

    model: Any
    calibration: Calibration
    what: str

    def __call__(self, X):
        return _judged_scores(self.model.decision_function(X), self.calibration, self.what)


def _judged_scores(scores, calibration, what):
    scores = np.asarray(scores)
    return getattr(calibration, what)(scores.reshape(len(scores), -1))
