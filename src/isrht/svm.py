"""Linear SVMs that tune themselves: the scikit-learn estimators around :mod:`isrht.newton`.

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

import inspect
import warnings
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_array, check_is_fitted

from isrht.blocks import RowBlocks, take_rows
from isrht.coded_labels import check_two_classes, in_memory
from isrht.folds import check_classes_of_folds, make_folds
from isrht.linear import linear_scores, quick_scores
from isrht.newton import as_float64, fit_path, one_blas_thread, training_blocks
from isrht.per_row import class_totals, derived, gathered, total
from isrht.row_weights import in_units, typical_weight
from isrht.sources import as_rows, validate_rows
from isrht.validation import (
    check_class_weight,
    check_finite_scores,
    check_n_jobs,
    checked_data,
    checked_sample_weight,
    whole_or_unchanged,
)

DEFAULT_CS = tuple(2.0**exponent for exponent in range(-5, 6))
# Folds that share a pass. Each is one more column of weights over all rows.
FOLDS_PER_PASS = 16


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """What needs only ``coef_``, ``intercept_`` and ``classes_``."""

    def decision_function(self, X):
        """Signed scores: one per row for two classes, positive for ``classes_[1]``, else a column per class.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        """
        scores = quick_scores(self, X)
        if scores is None:
            check_is_fitted(self)
            if (rows := as_rows(X)) is not None:
                validate_rows(self, rows, needs_labels=False, reset=False)
                return rows.collect(plain_copy(self).decision_function, self.n_jobs)
            X = checked_data(self, X, reset=False)
            scores, finite = linear_scores(X, self.coef_, self.intercept_, self.n_jobs)
            check_finite_scores(finite)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X):
        """The class of each row: the one with the largest score, the first in ``classes_`` among equals.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        """
        if (rows := as_rows(X)) is not None:
            check_is_fitted(self)
            validate_rows(self, rows, needs_labels=False, reset=False)
            return rows.collect(plain_copy(self).predict, self.n_jobs)
        scores = self.decision_function(X)
        return self.classes_[predicted_codes(scores.reshape(len(scores), -1))]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _validate(self, X, y, sample_weight):
        check_positive(self, "tol", Real)
        check_positive(self, "max_iter", Integral)
        check_n_jobs(self.n_jobs)
        check_class_weight(self.class_weight)
        if (rows := as_rows(X)) is not None:
            X, labels = rows, validate_rows(self, rows, y)
        else:
            X, y = checked_data(self, X, y)
            labels = in_memory(y)
        weights = checked_sample_weight(sample_weight, X)
        check_two_classes(self, labels, weights)
        self.classes_ = labels.classes
        return X, labels, weights

    def _solver_options(self):
        return {
            "n_classes": len(self.classes_),
            "fit_intercept": self.fit_intercept,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "n_jobs": self.n_jobs,
        }

    def _train(self, X, labels, sample_weight, C):
        """Fit all rows for one C and keep the result."""
        weights = weighted_rows(self.class_weight, labels, sample_weight)
        with one_blas_thread():
            (solution,) = fit_path(training_blocks(X, labels.codes, weights), [C], **self._solver_options())
        self.coef_, self.intercept_ = solution.coef[0], solution.intercept[0]
        self.n_iter_ = max(1, int(solution.n_iter.max()))
        if not solution.converged.all():
            warn_not_converged(self, f"for C={C:g}")
        return self


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
    >>> from isrht.svm import LinearSVM
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
        return self._train(*self._validate(X, y, sample_weight), self.C)


class LinearSVMCV(LinearClassifier):
    """:class:`LinearSVM` with C chosen by cross-validation along a warm-started path.

    Parameters
    ----------
    Cs : sequence of float
    cv : int, splitter or iterable of (train, test)
        As in :func:`sklearn.model_selection.check_cv`: a number means stratified folds. For splits that need
        groups give the list of them.
    scoring : None, str or callable
        None is accuracy. Higher is better, as in scikit-learn.
    refit : bool
        Whether to train on all rows with the chosen C. If not, ``coef_`` and ``intercept_`` are the means
        over the folds.
    fit_intercept, class_weight, tol, max_iter, n_jobs
        As in :class:`LinearSVM`. "balanced" class weights are those of the rows each fold is trained on.

    Attributes
    ----------
    C_ : float
        The C of the highest mean score, the smallest one among equals.
    Cs_ : array of shape (n_Cs,)
        The distinct Cs, ascending.
    scores_ : array of shape (n_Cs, n_folds)
    mean_scores_, std_scores_ : arrays of shape (n_Cs,)
        Over the folds, each counting the same.
    weight_unit_ : float
        What counts as one row: the typical weight (:func:`isrht.row_weights.typical_weight`), 1 without weights.
        ``C_`` is for weights divided by it; ``LinearSVM(C_ / weight_unit_)`` is the same model on weights as they are.
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`LinearSVM`. Without ``refit``, ``n_iter_`` is the most steps any fold took for ``C_``.

    Notes
    -----
    Sample weights count in training and in scoring (a callable ``scoring`` gets them if it has a parameter
    ``sample_weight``); class weights only in training.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isrht.svm import LinearSVMCV
    >>> model = LinearSVMCV(cv=3).fit(*load_iris(return_X_y=True))
    >>> model.scores_.shape
    (11, 3)
    """

    def __init__(
        self,
        Cs=DEFAULT_CS,
        *,
        cv=5,
        scoring=None,
        refit=True,
        fit_intercept=True,
        class_weight=None,
        tol=1e-6,
        max_iter=100,
        n_jobs=None,
    ):
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    @whole_or_unchanged
    def fit(self, X, y=None, sample_weight=None):
        """Choose C, and train on the rows of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), or RowSource
        y : array of shape (n_samples,), or None where a RowSource has the labels
        sample_weight : None, float or array of shape (n_samples,)
            Not negative. They are divided by ``weight_unit_``, so a constant factor on all of them changes nothing.
        """
        self.Cs_ = checked_Cs(self.Cs)
        X, labels, sample_weight = self._validate(X, y, sample_weight)
        self.weight_unit_ = typical_weight(sample_weight)
        sample_weight = in_units(sample_weight, self.weight_unit_)
        folds = make_folds(self.cv, X, labels)
        scorer_of = self._fold_scorer(X, labels, sample_weight, folds)

        self.scores_ = np.empty((len(self.Cs_), len(folds)))
        fits = [FoldSummary() for _ in self.Cs_]
        for first in range(0, len(folds), FOLDS_PER_PASS):
            batch = slice(first, min(first + FOLDS_PER_PASS, len(folds)))
            training, held_out = folds.counts(batch)
            check_classes_of_folds(training, labels, sample_weight)
            weights = fold_weights(training, self.class_weight, labels, sample_weight)
            blocks, score = training_blocks(X, labels.codes, weights), scorer_of(batch, held_out)
            with one_blas_thread():
                for c, solution in enumerate(fit_path(blocks, self.Cs_, **self._solver_options())):
                    self.scores_[c, batch] = score(solution)
                    fits[c].add(solution, keep_coef=not self.refit)
        self.mean_scores_ = self.scores_.mean(axis=1)
        self.std_scores_ = self.scores_.std(axis=1)
        best = int(np.argmax(self.mean_scores_))
        self.C_ = float(self.Cs_[best])
        if unsolved := sum(fit.unsolved for fit in fits):
            warn_not_converged(self, f"in {unsolved} of {self.scores_.size} pairs of C and fold")
        if self.refit:
            return self._train(X, labels, sample_weight, self.C_)
        self.coef_, self.intercept_ = fits[best].coef / len(folds), fits[best].intercept / len(folds)
        self.n_iter_ = max(1, fits[best].n_iter)
        return self

    def _fold_scorer(self, X, labels, sample_weight, folds):
        """A function of some folds and what they hold out, whose result scores solutions for them on that."""
        if self.scoring is None or self.scoring == "accuracy":
            return lambda _, held_out: FoldAccuracies(X, labels.codes, sample_weight, held_out, self.n_jobs)
        score = held_out_scorer(self, self.scoring)
        y, weights = labels.values(), gathered(sample_weight)

        def score_solution(batch, solution):
            scores = []
            for k, coef, intercept in zip(
                range(batch.start, batch.stop), solution.coef, solution.intercept, strict=True
            ):
                test, model = folds.test(k), linear_model(self.classes_, coef, intercept)
                scores.append(score(model, take_rows(X, test), y[test], None if weights is None else weights[test]))
            return scores

        return lambda batch, _: partial(score_solution, batch)


@dataclass
class FoldSummary:
    """What is kept of the folds' models for one C: sums of coefficients, most steps, how many failed."""

    coef: np.ndarray | float = 0.0
    intercept: np.ndarray | float = 0.0
    n_iter: int = 0
    unsolved: int = 0

    def add(self, solution, keep_coef):
        if keep_coef:
            self.coef = self.coef + solution.coef.sum(axis=0)
            self.intercept = self.intercept + solution.intercept.sum(axis=0)
        self.n_iter = max(self.n_iter, int(solution.n_iter.max()))
        self.unsolved += int((~solution.converged).any(axis=1).sum())


def predicted_codes(scores):
    """Class numbers from scores whose last axis counts two-class problems."""
    return (scores[..., 0] > 0).astype(int) if scores.shape[-1] == 1 else scores.argmax(axis=-1)


def plain_copy(model):
    """The model for arrays that were checked: it asks for no names of columns, and its threads are the caller's."""
    return linear_model(model.classes_, model.coef_, model.intercept_)


class _AtClient(LinearSVM):
    """Gives arrays for rows on workers as well, which scikit-learn's metrics need."""

    def decision_function(self, X):
        return np.asarray(super().decision_function(X))

    def predict(self, X):
        return np.asarray(super().predict(X))


def linear_model(classes, coef, intercept, kind=LinearSVM):
    """A fitted :class:`LinearSVM` with the given coefficients."""
    model = kind()
    model.classes_, model.coef_, model.intercept_ = classes, coef, intercept
    model.n_features_in_, model.n_iter_ = coef.shape[1], 1
    return model


def held_out_scorer(estimator, scoring):
    """``score(model, X, y, sample_weight) -> float`` for a scikit-learn ``scoring``; None is accuracy.

    The weights are left out where there are none, or where a callable has no parameter for them.
    """
    if scoring is None:
        scoring = "accuracy"
    scorer = check_scoring(estimator, scoring=scoring)
    takes_weights = "sample_weight" in inspect.signature(scorer).parameters

    def score(model, X, y, sample_weight=None):
        if getattr(X, "on_workers", False):
            model = linear_model(model.classes_, model.coef_, model.intercept_, _AtClient)
        if sample_weight is None or not takes_weights:
            return scorer(model, X, y)
        return scorer(model, X, y, sample_weight=sample_weight)

    return score


class FoldAccuracies:
    """The accuracy of each fold's model on the rows it holds out, from one pass over the data.

    ``held_out`` (rows, folds) says how often a fold holds a row out.
    """

    def __init__(self, X, codes, sample_weight, held_out, n_jobs=None):
        weights = derived(_weighted, held_out, sample_weight, width=held_out.shape[1])
        self.total = total(lambda weights: weights.sum(axis=0), weights)
        if not np.all(self.total > 0):
            raise ValueError(f"sample_weight is zero on all rows held out by fold {int(np.argmin(self.total))} of cv")
        self.blocks, self.n_jobs = RowBlocks(X, codes, weights), n_jobs

    def __call__(self, solution):
        n_folds, n_problems, n_features = solution.coef.shape
        coef, intercept = solution.coef.reshape(-1, n_features), solution.intercept.ravel()

        def correct(block):
            scores = as_float64(block.X) @ coef.T + intercept
            right = predicted_codes(scores.reshape(-1, n_folds, n_problems)) == block.y[:, None]
            return np.einsum("if,fi->f", right, block.sample_weight.T)

        return self.blocks.sum(correct, self.n_jobs) / self.total


def fold_weights(training, class_weight, labels, sample_weight=None):
    """(n_samples, n_folds): the weight of every row in the training of each fold, zero if it has no part."""
    n_folds = training.shape[1]
    weights = derived(_weighted, training, sample_weight, width=n_folds)
    if class_weight is None:
        return weights

    def class_totals_of_folds(codes, weights):
        return np.stack([np.bincount(codes, fold, minlength=labels.n_classes) for fold in weights.T])

    totals = total(class_totals_of_folds, labels.codes, weights)
    factors = np.stack([class_factors(class_weight, labels.classes, of_fold) for of_fold in totals])
    return derived(lambda weights, codes: (weights.T * factors[:, codes]).T, weights, labels.codes, width=n_folds)


def _weighted(counts, sample_weight):
    """Counts (rows, folds) times weights, in memory one fold after the other."""
    weights = counts.T.astype(np.float64, order="C")
    if sample_weight is not None:
        weights *= sample_weight
    return weights.T


def weighted_rows(class_weight, labels, sample_weight=None):
    """The product of sample and class weights; None where both are."""
    if class_weight is None:
        return sample_weight
    totals = class_totals(labels.codes, sample_weight, labels.n_classes)
    factors = class_factors(class_weight, labels.classes, totals)

    def weighted(codes, weights):
        return factors[codes] if weights is None else weights * factors[codes]

    return derived(weighted, labels.codes, sample_weight)


def class_factors(class_weight, classes, totals):
    """One factor per class, whose weights are ``totals``. One that has no weight in a fold keeps 1, not 1 / 0."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = totals > 0
        factors = np.ones(len(classes))
        factors[present] = totals.sum() / (present.sum() * totals[present])
        return factors
    return compute_class_weight(class_weight, classes=classes, y=classes)


def checked_Cs(Cs):
    """The distinct Cs, ascending."""
    if np.size(Cs) == 0:
        raise ValueError("Cs must hold at least one value, got none")
    values = np.unique(check_array(np.ravel(Cs), ensure_2d=False, dtype=np.float64, input_name="Cs"))
    if values[0] <= 0:
        raise ValueError(f"Cs must be positive, got {values[0]:g}")
    return values


def check_positive(estimator, name, kind):
    value = getattr(estimator, name)
    if not isinstance(value, kind) or isinstance(value, bool) or not 0 < value < np.inf:
        what = "integer" if kind is Integral else "finite number"
        raise ValueError(f"{name} of {type(estimator).__name__} must be a positive {what}, got {value!r}")


def warn_not_converged(estimator, where):
    warnings.warn(
        f"{type(estimator).__name__} did not reach tol={estimator.tol:g} in max_iter={estimator.max_iter} "
        f"Newton steps {where}. Scale the features, or raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=3,
    )
