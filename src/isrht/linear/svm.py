"""Linear SVMs that tune themselves: the scikit-learn estimators around :mod:`isrht.linear.path`.

:class:`LinearSVM` minimises LIBLINEAR's objective for one C,

    0.5 * (|w|^2 + b^2) + C * sum_i s_i * max(0, 1 - y_i (w.x_i + b))^2,

with the intercept b penalised like any weight, as ``train -B 1`` and ``LinearSVC(dual=False)`` do.
:class:`LinearSVMCV` chooses C by cross-validation. A fold is a column of row weights, zero where rows are
held out, so that all folds walk up the path of Cs side by side and every pass over the data serves all of
them: the data are neither copied nor read once per fold. The rows of a pass are shared among ``n_jobs``
threads, with BLAS held to one thread each.

This module knows labels, weights and folds; the solver knows row blocks and the objective.
"""

from __future__ import annotations

from numbers import Real

from isrht.linear.classifier import LinearClassifier, check_positive
from isrht.support.validation import whole_or_unchanged


class LinearSVM(LinearClassifier):
    """L2-regularised squared-hinge SVM, solved in the primal by Newton's method.

    Parameters
    ----------
    C : float
        Weight of the loss against the penalty.
    fit_intercept : bool
        The intercept is penalised like a weight, as if the data had one more column of ones.
    class_weight : None, "balanced" or dict
        Factors for the sample weights by class. "balanced" makes the total weight of every class the same.
    tol : float
        A problem is solved when the decrease of the objective that the next Newton step promises is less than
        ``tol**2`` of it, whatever C is. It is about the relative error of the coefficients.
    max_iter : int
        Newton steps, for each class. Beyond them there is a ``ConvergenceWarning``.
    n_jobs : int or None
        Threads that share the rows. The result does not depend on it.

    Attributes
    ----------
    coef_ : array of shape (1 or n_classes, n_features)
    intercept_ : array of shape (1 or n_classes,)
    classes_ : array of shape (n_classes,)
    n_iter_ : int
        Newton steps of the class that needed most.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only when X had column names.

    Notes
    -----
    More than two classes are trained one against the rest. Dense data with up to 2,500 features, and sparse
    data with up to 400, are solved with the exact Hessian, others by conjugate gradients. Sparse data are
    never made dense, and float32 data are converted one block of rows at a time; sums are in float64.

    Examples
    --------
    >>> from isrht.linear.svm import LinearSVM
    >>> LinearSVM().fit([[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]).predict([[3.0]])
    array(['yes'], dtype='<U3')
    """

    def __init__(self, C=1.0, *, fit_intercept=True, class_weight=None, tol=1e-6, max_iter=100, n_jobs=None):
        self.C = C
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    @whole_or_unchanged
    def fit(self, X, y=None, sample_weight=None):
        """Train on the rows of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or RowSource
        y : array of shape (n_samples,), or None where a RowSource has the labels
        sample_weight : None, float or array of shape (n_samples,)
            Not negative. A weight of 2 is the same as having the row twice, and 0 as not having it.
        """
        check_positive(self, "C", Real)
        return self.fit_checked(*self._validate(X, y, sample_weight))

    def fit_checked(self, X, labels, weights=None):
        """Train on rows, coded labels and weights that have been checked, for an estimator that has them already."""
        self.n_features_in_, self.classes_ = X.shape[1], labels.classes
        return self._train(X, labels, weights, self.C)
