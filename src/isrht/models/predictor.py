"""A trained model made ready to answer: one row in microseconds, many threads at once.

``predict`` of an estimator keeps all of scikit-learn's contract. A :class:`Predictor` is what is left of the model when
it only has to answer: its folded weights and labels, frozen, laid out for sparse rows as well as dense ones, and
methods for a single row that need no matrix to be built around it. It has no state that a call changes.
"""

from __future__ import annotations

import copy
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted, validate_data

from isrht import kernels
from isrht.linear.classifier import LinearClassifier, predicted_codes
from isrht.linear.scores import FLOATS, is_plain, linear_scores

INDICES = (np.dtype(np.int32), np.dtype(np.int64))


class Predictor:
    """The decisions of a fitted classifier of this package, for serving.

    Scores are those of the model, to the bit. Training the model again does not change a predictor made before.
    Features are taken by position: the names that a model may have been trained with are compared with those of
    data frames only.

    Parameters
    ----------
    model : ISRHTClassifier, LinearSVM or LinearSVMCV
        Fitted.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int

    Notes
    -----
    Of more than two classes the weights are kept twice: by class for dense rows, and by feature for sparse ones, made
    when the first sparse row comes.

    Examples
    --------
    >>> from isrht import LinearSVM, Predictor
    >>> model = LinearSVM().fit([[-2.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [2.0, 0.0]], ["no", "no", "yes", "yes"])
    >>> predictor = Predictor(model)
    >>> print(predictor.predict_one([3.0, 0.0]))
    yes
    >>> indices, values = [0], [-3.0]
    >>> print(predictor.predict_one((indices, values)))
    no
    >>> predictor.predict([[3.0, 0.0], [-3.0, 0.0]])
    array(['yes', 'no'], dtype='<U3')
    """

    def __init__(self, model):
        if not isinstance(model, LinearClassifier):
            kind = type(model).__name__
            raise TypeError(f"a Predictor serves ISRHTClassifier, LinearSVM and LinearSVMCV, not {kind}")
        check_is_fitted(model)
        self._model = copy.copy(model)
        self.classes_ = model.classes_.copy()
        self.n_features_in_ = model.n_features_in_
        self._coef = np.array(model.coef_, dtype=np.float64, order="C")
        self._intercept = np.array(model.intercept_, dtype=np.float64)
        self._is_binary = len(self.classes_) == 2

    def decision_function(self, X):
        """Signed scores of many rows, as those of the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        """
        scores = self._scores(X)
        return scores.ravel() if self._is_binary else scores

    def predict(self, X):
        """The class of each of many rows."""
        return self.classes_[predicted_codes(self._scores(X))]

    def decision_function_one(self, row):
        """The score of one row: a float for two classes, else an array of one score per class.

        Parameters
        ----------
        row : array of shape (n_features,), tuple (indices, values), or sparse matrix of one row
            Of a sparse row, the numbers of the features that are not zero, in any order, and their values.
        """
        score = self._score_one(row)[0]
        return float(score[0]) if self._is_binary else score

    def predict_one(self, row):
        """The class of one row, which is given as to :meth:`decision_function_one`."""
        score = self._score_one(row)[0]
        return self.classes_[int(score[0] > 0) if self._is_binary else score.argmax()]

    @cached_property
    def _coef_by_feature(self):
        return self._coef if self._is_binary else np.asfortranarray(self._coef)

    def _scores(self, X):
        finite = False
        if is_plain(X, self.n_features_in_):
            scores, finite = self._linear_scores(X)
        if not finite:
            X = validate_data(self._model, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
            scores, _ = self._linear_scores(X)
        return scores

    def _linear_scores(self, X):
        coef = self._coef_by_feature if sp.issparse(X) else self._coef
        return linear_scores(X, coef, self._intercept, self._model.n_jobs)

    def _score_one(self, row):
        out = np.empty((1, len(self._coef)))
        if sp.issparse(row):
            row = self._entries(row)
        if isinstance(row, tuple):
            indices, values = checked_entries(row)
            finite = self._score_entries(indices, values, out)
        else:
            values = self._checked_values(row)
            finite = kernels.engine.score_rows(values[None], self._coef, self._intercept, out)
        if not finite and not np.isfinite(values).all():
            place = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"the row holds {values[place]} at position {place}: values must be finite")
        return out

    def _entries(self, row):
        if row.shape != (1, self.n_features_in_):
            raise ValueError(f"a sparse row must have shape (1, {self.n_features_in_}), got {row.shape}")
        row = row.tocsr()
        return row.indices, row.data

    def _checked_values(self, row):
        values = as_floats(row)
        if values.shape != (self.n_features_in_,):
            raise ValueError(f"a dense row must have shape ({self.n_features_in_},), got {values.shape}")
        return values

    def _score_entries(self, indices, values, out):
        indptr = np.array((0, len(values)), dtype=indices.dtype)
        try:
            return kernels.engine.score_csr(values, indices, indptr, self._coef_by_feature, self._intercept, out)
        except ValueError:
            bad = indices[(indices < 0) | (indices >= self.n_features_in_)]
            if not len(bad):
                raise
            message = f"feature {bad[0]} is out of range: the model has n_features_in_={self.n_features_in_}"
            raise ValueError(message) from None


def checked_entries(row):
    if len(row) != 2:
        raise ValueError(f"a sparse row must be a tuple (indices, values), got a tuple of {len(row)}")
    indices, values = as_indices(row[0]), as_floats(row[1])
    if indices.shape != values.shape or values.ndim != 1:
        raise ValueError(f"indices and values must be 1-D and of one length, got {indices.shape} and {values.shape}")
    return indices, values


def as_floats(values):
    values = np.ascontiguousarray(values)
    return values if values.dtype in FLOATS else values.astype(np.float64)


def as_indices(indices):
    indices = np.ascontiguousarray(indices)
    if indices.dtype in INDICES:
        return indices
    if indices.dtype.kind not in "iu" and indices.size:
        raise TypeError(f"indices must be integers, got {indices.dtype}")
    return indices.astype(np.int64)
