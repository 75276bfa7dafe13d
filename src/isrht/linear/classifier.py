"""What every linear classifier can do: be trained for one C, then score rows and predict their classes."""

from __future__ import annotations

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isrht.linear.path import SolverOptions, fit_path, training_blocks
from isrht.linear.scores import linear_scores, predicted_codes, quick_scores
from isrht.linear.weights import weighted_rows
from isrht.rows.entry import as_rows, fitted_rows, rows_to_fit
from isrht.rows.labels import check_two_classes, in_memory
from isrht.rows.weights import check_class_weight, checked_sample_weight
from isrht.support.doc_links import DocLinkMixin
from isrht.support.hints import Array, ArrayOrLazy, Rows
from isrht.support.threads import one_blas_thread
from isrht.support.validation import check_finite_scores, check_n_jobs, checked_data


class LinearClassifier(ClassifierMixin, DocLinkMixin, BaseEstimator):
    """The common part of all linear classifiers: after ``fit`` they have ``coef_``, ``intercept_`` and ``classes_``."""

    coef_: Array
    intercept_: Array
    classes_: Array
    n_features_in_: int
    feature_names_in_: Array

    def decision_function(self, X: Rows) -> ArrayOrLazy:
        """Return the scores of rows: how far each lies on which side of the hyperplanes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), RowSource, or Dask collection
            The rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, one score per row, which is positive for ``classes_[1]``; otherwise one per class. The
            scores of rows on a Dask cluster are a Dask array.

        See Also
        --------
        isrht.Predictor : The same scores for single rows, in microseconds.
        """
        scores = quick_scores(self, X)
        if scores is None:
            check_is_fitted(self)
            if (rows := fitted_rows(self, X)) is not None:
                return rows.collect(self._fixed().decision_function, self.n_jobs)
            X = checked_data(self, X, reset=False)
            scores, finite = linear_scores(X, self.coef_, self.intercept_, self.n_jobs)
            check_finite_scores(finite)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Rows) -> ArrayOrLazy:
        """Return the class of each row: the one with the largest score, the first in ``classes_`` among equals.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), RowSource, or Dask collection
            The rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels of the type that the model was trained with. Those of rows on a Dask cluster are a Dask array.

        See Also
        --------
        isrht.Predictor : The classes of single rows, in microseconds.
        """
        if (rows := fitted_rows(self, X)) is not None:
            return rows.collect(self._fixed().predict, self.n_jobs)
        scores = self.decision_function(X)
        return self.classes_[predicted_codes(scores.reshape(len(scores), -1))]

    def _fixed(self):
        """Return the same model for blocks of rows that have been checked, whose threads are the caller's."""
        return FixedModel.of(self.classes_, self.coef_, self.intercept_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _validate(self, X, y, sample_weight):
        """Check parameters and data. Return rows, coded labels and weights; set ``classes_``."""
        check_positive(self, "tol", Real)
        if not isinstance(self.penalize_intercept, bool | np.bool_):
            raise TypeError(f"penalize_intercept must be True or False, got {self.penalize_intercept!r}")
        check_positive(self, "max_iter", Integral)
        check_n_jobs(self.n_jobs)
        check_class_weight(self.class_weight)
        if (rows := as_rows(X)) is not None:
            X, labels = rows_to_fit(self, rows, y)
        else:
            X, y = checked_data(self, X, y)
            labels = in_memory(y)
        weights = checked_sample_weight(sample_weight, X)
        check_two_classes(self, labels, weights)
        self.classes_ = labels.classes
        return X, labels, weights

    def _solver_options(self):
        return SolverOptions(
            self.fit_intercept, self.penalize_intercept, self.tol, self.max_iter, self.n_jobs, self._seed()
        )

    def _seed(self):
        """Return the seed of the orders in which the wide solver takes the rows."""
        return 0

    def _solved(self, X, labels, sample_weight, options, C, start=None):
        """Return the :class:`Solution` of all rows for one C, beginning with a :class:`Start` or zeros."""
        weights = weighted_rows(self.class_weight, labels, sample_weight)
        with one_blas_thread():
            blocks = training_blocks(X, labels.codes, weights)
            (solution,) = fit_path(blocks, [C], labels.n_classes, options, start)
        return solution

    def _keep(self, solution):
        """Take a solution for the model."""
        self.coef_, self.intercept_ = solution.coef[0], solution.intercept[0]
        self.n_iter_ = max(1, int(solution.n_iter.max()))
        if not solution.converged.all():
            warn_not_converged(self, f"for C={solution.C:g}")
        return self


class FixedModel(LinearClassifier):
    """A linear classifier with given coefficients, for rows that have been checked. It knows no names of features."""

    n_jobs = None

    def fit(self, X=None, y=None):
        """Return the model as it is, because its coefficients are given: scikit-learn asks for such a method."""
        return self

    @classmethod
    def of(cls, classes, coef, intercept):
        """Return a model with these classes, coefficients (problems, features) and intercepts (problems,)."""
        model = cls()
        model.classes_, model.coef_, model.intercept_ = classes, coef, intercept
        model.n_features_in_ = coef.shape[1]
        return model


def drawn_seed(random_state):
    """Return a number from which generators are seeded."""
    return int(check_random_state(random_state).randint(2**31 - 1))


def check_positive(estimator, name, kind):
    """Raise an error unless the parameter of that name is a positive finite number of a kind, Real or Integral."""
    value = getattr(estimator, name)
    if not isinstance(value, kind) or isinstance(value, bool) or not 0 < value < np.inf:
        what = "integer" if kind is Integral else "finite number"
        raise ValueError(f"{name} of {type(estimator).__name__} must be a positive {what}, got {value!r}")


def warn_not_converged(estimator, where):
    """Warn that some problems were not solved; ``where`` says for which C, or in how many folds."""
    warnings.warn(
        f"{type(estimator).__name__} did not reach tol={estimator.tol:g} in max_iter={estimator.max_iter} "
        f"Newton steps {where}. Scale the features, or raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
