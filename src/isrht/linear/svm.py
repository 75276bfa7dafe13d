"""The linear SVM for one C.

:class:`LinearSVM` minimises the same objective as LIBLINEAR,

    0.5 * (|w|^2 + b^2) + C * sum_i s_i * max(0, 1 - y_i (w.x_i + b))^2,

where s are the weights of the rows. The intercept b is penalised like any weight, as ``train -B 1`` and
``LinearSVC(dual=False)`` do, unless ``penalize_intercept=False``. The estimator knows labels and weights; the solvers
behind :mod:`isrht.linear.path` know blocks of rows and the objective.
"""

from __future__ import annotations

from numbers import Real
from typing import Self

import numpy as np
from sklearn.utils.validation import check_array

from isrht.linear.classifier import LinearClassifier, check_positive, drawn_seed
from isrht.linear.path import Start
from isrht.support.hints import Array, ClassWeight, Labels, RandomState, Rows, Weights
from isrht.support.progress import CallbackSupportMixin, shows_progress
from isrht.support.validation import whole_or_unchanged


class LinearSVM(CallbackSupportMixin, LinearClassifier):
    """L2-regularised squared-hinge SVM, solved by Newton's method or, for many features, by coordinate descent.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the penalty. The smaller it is, the smaller are the coefficients.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    penalize_intercept : bool, default=True
        Whether the intercept is penalised like a weight, as in LIBLINEAR. If not, a class that is rare, or features far
        from zero, need not be paid for; wide data then take longer.
    class_weight : None, "balanced" or dict, default=None
        Factors for the sample weights by class. "balanced" makes the total weight of every class the same; a class that
        a dict does not name has the factor 1.
    tol : float, default=1e-6
        A problem is solved when the decrease of the objective that is still possible (by the next Newton step, or at
        all) is less than ``tol**2`` of it, whatever C is. It is about the relative error of the coefficients.
    max_iter : int, default=100
        The most Newton steps for each class. If they do not suffice there is a ``ConvergenceWarning``.
    n_jobs : int or None, default=None
        Threads that share the rows, or the classes: None is 1, -1 all cores. The result does not depend on it.
    verbose : int, default=0
        1 shows how far the fit is, on standard error: a bar in a notebook or on a terminal, lines elsewhere.
    warm_start : bool, default=False
        Whether ``fit`` begins with the coefficients of the last one instead of zeros. What it finds is the same, sooner
        if the rows or C have changed little. Classes and features must be the same.
    random_state : int, RandomState instance or None, default=0
        From which coordinate descent draws the orders of the rows; other solvers draw nothing. Another one makes
        another model within ``tol``; None makes another one with every ``fit``.

    Attributes
    ----------
    coef_ : ndarray of shape (1 or n_classes, n_features)
        The weights of the features: one row for two classes, otherwise one row per class.
    intercept_ : ndarray of shape (1 or n_classes,)
    classes_ : ndarray of shape (n_classes,)
        The different labels, sorted.
    n_iter_ : int
        Newton steps, and epochs of coordinate descent, of the class that needed most.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns of X, if it had any.

    See Also
    --------
    LinearSVMCV : Chooses C by cross-validation.
    ISRHTClassifier : Projects the features first, for data with very many of them.
    sklearn.svm.LinearSVC : LIBLINEAR itself.

    Notes
    -----
    More than two classes are trained one against the rest. Dense data with up to 2,500 features, and sparse data with
    up to 400, are solved with the exact Hessian [2]_. Others are solved by coordinate descent in the dual [3]_, until
    the duality gap is less than ``tol**2`` of the objective. If that would take more than 1,000 epochs, if there are
    more than three rows for each feature, and where rows are not in memory, Newton's method with conjugate gradients
    serves. Sparse data are never made dense, and float32 data are converted as they are read; sums are in float64.

    References
    ----------
    .. [1] R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang and C.-J. Lin, "LIBLINEAR: A Library for Large Linear
       Classification", Journal of Machine Learning Research 9, 2008.
    .. [2] S. S. Keerthi and D. DeCoste, "A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs",
       Journal of Machine Learning Research 6, 2005.
    .. [3] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A Dual Coordinate Descent Method for
       Large-scale Linear SVM", International Conference on Machine Learning 25, 2008.

    Examples
    --------
    >>> from isrht import LinearSVM
    >>> LinearSVM().fit([[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]).predict([[3.0]])
    array(['yes'], dtype='<U3')
    """

    n_iter_: int

    def __init__(
        self,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        penalize_intercept: bool = True,
        class_weight: ClassWeight = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        random_state: RandomState = 0,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start
        self.random_state = random_state

    @whole_or_unchanged
    @shows_progress
    def fit(
        self,
        X: Rows,
        y: Labels = None,
        sample_weight: Weights = None,
        coef_init: Array | None = None,
        intercept_init: Array | None = None,
    ) -> Self:
        """Train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), RowSource, or Dask collection
            The rows to train on.
        y : array of shape (n_samples,), default=None
            Their class labels, of any kind. None is for a RowSource that has the labels.
        sample_weight : None, float or array of shape (n_samples,), default=None
            Weights of the rows, which must not be negative. A weight of 2 is the same as having the row twice, and 0
            as not having it.
        coef_init : array of shape (1 or n_classes, n_features), default=None
            Coefficients to begin with. None is zeros, or those of the last ``fit`` with ``warm_start``.
        intercept_init : array of shape (1 or n_classes,), default=None
            Intercepts to begin with, in the same way.

        Returns
        -------
        self : LinearSVM
        """
        check_positive(self, "C", Real)
        former = vars(self).copy()
        rows, labels, weights = self._validate(X, y, sample_weight)
        if coef_init is None and intercept_init is None and self.warm_start and "coef_" in former:
            check_same_model(former, rows.shape[1], labels.classes)
            coef_init, intercept_init = former["coef_"], former["intercept_"]
        n_problems = 1 if labels.n_classes == 2 else labels.n_classes
        start = checked_start(coef_init, intercept_init, (n_problems, rows.shape[1]), self.fit_intercept)
        return self.fit_checked(rows, labels, weights, start)

    def fit_checked(self, X, labels, weights=None, start=None):
        """Train on rows, coded labels and weights that have been checked, for an estimator that has them already."""
        self.n_features_in_, self.classes_ = X.shape[1], labels.classes
        return self._keep(self._solved(X, labels, weights, self._solver_options(), self.C, start))

    def _seed(self):
        return drawn_seed(self.random_state)


def check_same_model(former, n_features, classes):
    """Raise an error unless a former model has these features and classes, so that another can begin with it."""
    had = former["coef_"].shape[1]
    if had != n_features:
        raise ValueError(f"warm_start: the last fit had {had} features, and X has {n_features}")
    if not np.array_equal(former["classes_"], classes):
        raise ValueError(f"warm_start: the last fit had the classes {former['classes_']}, and y has {classes}")


def checked_start(coef, intercept, shape, fit_intercept):
    """Return coefficients and intercepts as solvers begin with them, or None where there are none."""
    if coef is None and intercept is None:
        return None
    n_problems, n_features = shape
    start = np.zeros((n_problems, n_features + bool(fit_intercept)))
    if coef is not None:
        start[:, :n_features] = checked_values("coef_init", coef, shape)
    if intercept is not None and fit_intercept:
        start[:, -1] = checked_values("intercept_init", intercept, (n_problems,))
    return Start(start)


def checked_values(name, values, shape):
    """Return an array of finite numbers that has this shape; one row may be given as a vector."""
    values = check_array(np.atleast_1d(values), ensure_2d=False, dtype=np.float64, input_name=name)
    if values.shape != shape and values.shape != shape[1:] * (shape[0] == 1):
        raise ValueError(f"{name} must have the shape {shape}, got {values.shape}")
    return values.reshape(shape)
