"""A trained model made ready to answer: one row in microseconds, many threads at once.

``predict`` of an estimator keeps all of scikit-learn's contract. A :class:`Predictor` is what is left of the model when
it only has to answer: its folded weights and labels, frozen, laid out for sparse rows as well as dense ones, and
methods for a single row that need no matrix to be built around it. It has no state that a call changes.

The kernels look at the indices and pointers of sparse rows themselves, so the quick paths do not check them twice.
Where SciPy would come first, or a kernel has refused the rows,
:func:`~isrht.support.sparse_structure.check_sparse` looks at them and names the row.
"""

from __future__ import annotations

import copy
import reprlib
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isrht import kernels
from isrht.kernels.records import CsrRows
from isrht.linear.classifier import LinearClassifier
from isrht.linear.scores import CSR, FLOATS, guarded_scores, is_plain, predicted_codes
from isrht.support.hints import Array, Rows
from isrht.support.sparse_structure import check_sparse
from isrht.support.validation import check_finite_scores, checked_data

INDICES = (np.dtype(np.int32), np.dtype(np.int64))


def _has_probabilities(predictor):
    """Say whether the model of a predictor has probabilities; if not, let the model say why, and what would help."""
    if predictor._calibration is None:
        if not hasattr(type(predictor._model), "predict_proba"):
            kind = type(predictor._model).__name__
            raise AttributeError(f"{kind} has no probabilities: LinearSVMCV and ISRHTClassifier have them")
        return bool(predictor._model.predict_proba)
    return True


class Predictor:
    """The decisions of a fitted classifier of this package, for serving.

    Scores are those of the model, to the bit. Training the model again does not change a predictor made before.
    Features are taken by position. Only data frames and pandas Series have names, which are compared with those that
    the model was trained with.

    Parameters
    ----------
    model : ISRHTClassifier, LinearSVM or LinearSVMCV
        The fitted classifier, which is copied.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels that are predicted.
    n_features_in_ : int
        The number of features that a row has.

    See Also
    --------
    isrht.load : Read a classifier from a file.
    isrht.export.export_model : Hand a classifier to a program that has no Python.

    Notes
    -----
    With more than two classes the weights are kept twice: by class for dense rows, and by feature for sparse rows. The
    second copy is made when the first sparse row comes.

    Examples
    --------
    >>> from isrht import LinearSVM, Predictor
    >>> model = LinearSVM().fit([[-2.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [2.0, 0.0]], ["no", "no", "yes", "yes"])
    >>> predictor = Predictor(model)
    >>> predictor
    Predictor(LinearSVM, classes=['no', 'yes'], 2 features)
    >>> print(predictor.predict_one([3.0, 0.0]))
    yes
    >>> indices, values = [0], [-3.0]
    >>> print(predictor.predict_one((indices, values)))
    no
    >>> predictor.predict([[3.0, 0.0], [-3.0, 0.0]])
    array(['yes', 'no'], dtype='<U3')
    """

    def __init__(self, model: LinearClassifier) -> None:
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
        self._calibration = getattr(model, "calibration_", None)

    def __repr__(self) -> str:
        classes, n_classes = reprlib.repr(self.classes_.tolist()), len(self.classes_)
        total = f" ({n_classes})" if n_classes > reprlib.aRepr.maxlist else ""
        kind = "features" if self._feature_names is None else "named features"
        return f"Predictor({type(self._model).__name__}, classes={classes}{total}, {self.n_features_in_} {kind})"

    def decision_function(self, X: Rows) -> Array:
        """Return the scores of many rows, which are those of the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, one score per row, which is positive for ``classes_[1]``; otherwise one per class.

        See Also
        --------
        decision_function_one : The score of a single row, with less around it.
        """
        scores = self._scores(X)
        return scores.ravel() if self._is_binary else scores

    def predict(self, X: Rows) -> Array:
        """Return the class of each of many rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels of the type that the model was trained with.

        See Also
        --------
        predict_one : The class of a single row, with less around it.
        """
        return self.classes_[predicted_codes(self._scores(X))]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Rows) -> Array:
        """Return the probability of every class for each of many rows, which are those of the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The columns are in the order of ``classes_``.

        See Also
        --------
        predict_proba_one : The probabilities of a single row, with less around it.
        """
        return self._calibration.probabilities(self._scores(X))

    def decision_function_one(self, row: Rows) -> float | Array:
        """Return the score of one row.

        Parameters
        ----------
        row : array-like, tuple (indices, values), sparse matrix, data frame or pandas Series
            A tuple of two sequences or arrays is a sparse row: the numbers of the features that are not zero, in any
            order, and their values. Any other tuple is a dense row of numbers, also where there are two of them. Dense
            rows have shape (n_features,) or (1, n_features); matrices and frames have one row. Names of a frame or
            Series must be those of the model, in their order, as scikit-learn demands it of frames.

        Returns
        -------
        float or ndarray of shape (n_classes,)
            A float for two classes, which is positive for ``classes_[1]``; otherwise one score per class.
        """
        score = self._score_one(row)[0]
        return float(score[0]) if self._is_binary else score

    def predict_one(self, row: Rows) -> Any:
        """Return the class of one row.

        Parameters
        ----------
        row : array-like, tuple (indices, values), sparse matrix, data frame or pandas Series
            The row, in any form that :meth:`decision_function_one` takes.

        Returns
        -------
        label
            One of ``classes_``.
        """
        score = self._score_one(row)[0]
        return self.classes_[int(score[0] > 0) if self._is_binary else score.argmax()]

    @available_if(_has_probabilities)
    def predict_proba_one(self, row: Rows) -> Array:
        """Return the probability of every class for one row.

        Parameters
        ----------
        row : array-like, tuple (indices, values), sparse matrix, data frame or pandas Series
            The row, in any form that :meth:`decision_function_one` takes.

        Returns
        -------
        ndarray of shape (n_classes,)
            In the order of ``classes_``.
        """
        return self._calibration.probabilities(self._score_one(row))[0]

    @cached_property
    def _coef_by_feature(self):
        """The weights in the order in which sparse rows ask for them: all weights of a feature side by side."""
        return self._coef if self._is_binary else np.asfortranarray(self._coef)

    @property
    def _feature_names(self):
        return getattr(self._model, "feature_names_in_", None)

    def _scores(self, X):
        """Return the scores of many rows. Only rows that are not plain, or not finite, are validated."""
        finite = False
        if is_plain(X, self.n_features_in_):
            scores, finite = self._linear_scores(X)
        if not finite:
            X = checked_data(self._model, X, reset=False)
            scores, finite = self._linear_scores(X)
            check_finite_scores(finite)
        return scores

    def _linear_scores(self, X):
        coef = self._coef_by_feature if sp.issparse(X) else self._coef
        return guarded_scores(X, coef, self._intercept, self._model.n_jobs)

    def _score_one(self, row):
        """Return the scores of one row in any form: (1, n_problems)."""
        if type(row) is np.ndarray:
            return self._score_dense(row)
        if isinstance(row, tuple) and is_pair(row):
            return self._score_pair(*row)
        if sp.issparse(row):
            return self._score_sparse(row)
        if is_series(row):
            return self._score_series(row)
        if hasattr(row, "columns"):
            return self._score_frame(row)
        return self._score_dense(row)

    def _score_dense(self, row):
        values = self._checked_values(row)
        out = np.empty((1, len(self._coef)))
        if not kernels.engine.score_rows(values, self._coef, self._intercept, out):
            refuse_not_finite(values[0])
        return out

    def _checked_values(self, row):
        """Return a dense row as floats of shape (1, n_features)."""
        n_features = self.n_features_in_
        is_tuple = isinstance(row, tuple)
        if is_tuple and (len(row) != n_features or any(map(is_sequence, row))):
            raise ValueError(f"a tuple must be (indices, values) or {n_features} numbers, got a tuple of {len(row)}")
        values = as_floats(row)
        if values.shape == (n_features,):
            return values[None]
        if values.shape != (1, n_features):
            raise ValueError(f"a dense row must have shape ({n_features},) or (1, {n_features}), got {values.shape}")
        return values

    def _score_series(self, row):
        """Score a Series. If its names are plainly right, it needs no frame around it for scikit-learn to look at."""
        if row.dtype in FLOATS and self._feature_names is not None and np.array_equal(row.index, self._feature_names):
            return self._score_dense(row.to_numpy())
        return self._score_frame(row.to_frame().T)

    def _score_frame(self, frame):
        if frame.shape[0] != 1:
            raise ValueError(f"predict_one and decision_function_one take one row, got a frame of shape {frame.shape}")
        return self._scores(frame)

    def _score_sparse(self, row):
        if row.shape != (1, self.n_features_in_):
            raise ValueError(f"a sparse row must have shape (1, {self.n_features_in_}), got {row.shape}")
        try:
            if type(row) not in CSR or row.indptr.dtype != row.indices.dtype:
                check_sparse(row)
                row = row.tocsr()
            return self._score_entries(as_floats(row.data), as_indices(row.indices), as_indices(row.indptr))
        except (AttributeError, IndexError, TypeError, ValueError):
            check_sparse(row)
            raise

    def _score_pair(self, indices, values):
        """Score a sparse row that is given by the numbers of its features and their values."""
        indices, values = as_indices(indices), as_floats(values)
        if indices.shape != values.shape or values.ndim != 1:
            found = f"{indices.shape} and {values.shape}"
            raise ValueError(f"indices and values must be 1-D and of one length, got {found}")
        indptr = np.zeros(2, dtype=indices.dtype)
        indptr[1] = len(values)
        try:
            return self._score_entries(values, indices, indptr)
        except ValueError:
            bad = indices[(indices < 0) | (indices >= self.n_features_in_)]
            if not len(bad):
                raise
            message = f"feature {bad[0]} is out of range: the model has n_features_in_={self.n_features_in_}"
            raise ValueError(message) from None

    def _score_entries(self, values, indices, indptr):
        """Score one row in CSR form. The kernel refuses indices and pointers that lead outside."""
        out, rows = np.empty((1, len(self._coef))), CsrRows(values, indices, indptr)
        if not kernels.engine.score_csr(rows, self._coef_by_feature, self._intercept, out):
            refuse_not_finite(values)
        return out


def is_pair(row):
    """Say whether a tuple is a sparse row: two sequences, and not two numbers."""
    return len(row) == 2 and is_sequence(row[0]) and is_sequence(row[1])


def is_sequence(value):
    """Say whether a value has several values, unlike a number or an array of no dimensions."""
    return hasattr(value, "__len__") and getattr(value, "ndim", 1) > 0


def is_series(row):
    """Say whether a row is a pandas Series, which has a name for every value. (Those of polars have none.)"""
    return hasattr(row, "to_frame") and hasattr(row, "index")


def refuse_not_finite(values):
    """Raise an error that names the value at fault, if there is one: large finite values can also overflow."""
    finite = np.isfinite(values)
    if not finite.all():
        place = int(np.argmin(finite))
        raise ValueError(f"the row holds {values[place]} at position {place}: values must be finite")
    check_finite_scores(False)


def as_floats(values):
    """Return an array of float32 or float64 in one piece, without a copy where it is one already."""
    values = np.ascontiguousarray(values)
    if values.dtype in FLOATS:
        return values
    if values.dtype.kind == "c":
        raise ValueError(f"values must be real numbers, got {values.dtype}")
    return values.astype(np.float64)


def as_indices(indices):
    """Return an array of int32 or int64 in one piece, without a copy where it is one already."""
    indices = np.ascontiguousarray(indices)
    if indices.dtype in INDICES:
        return indices
    if indices.dtype.kind not in "iu" and indices.size:
        raise TypeError(f"indices must be integers, got {indices.dtype}")
    return indices.astype(np.int64)
