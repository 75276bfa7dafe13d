"""Choose C by cross-validation: all folds go from the smallest C to the largest side by side.

A fold is a column of row weights, zero where rows are held out, so that every pass over the data serves all folds: the
data are neither copied nor read once per fold. The rows of a pass are shared among ``n_jobs`` threads, with BLAS held
to one thread each. With many features in memory the folds are the lanes of a vector (:mod:`isrht.linear._descent`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_array

from isrht.linear._refit import EarlyRefit
from isrht.linear.calibration import FoldModels, calibrated
from isrht.linear.classifier import FixedModel, LinearClassifier, check_positive, drawn_seed, warn_not_converged
from isrht.linear.costs import DEFAULT_CS
from isrht.linear.path import Start, fit_path, is_wide, training_blocks
from isrht.linear.probabilities import ProbabilitiesMixin
from isrht.linear.scoring import FoldAccuracies, held_out_scorer
from isrht.linear.weights import training_weights
from isrht.rows.blocks import take_rows
from isrht.rows.folds import check_classes_of_folds, checked_groups, make_folds
from isrht.rows.values import gathered
from isrht.rows.weights import in_units, typical_weight
from isrht.support.hints import Array, ClassWeight, Folds, Labels, RandomState, Rows, Scoring, Weights
from isrht.support.progress import CallbackSupportMixin, shows_progress, step
from isrht.support.threads import job_count, one_blas_thread
from isrht.support.validation import whole_or_unchanged

# Folds that share a pass. Each is one more column of weights over all rows.
FOLDS_PER_PASS = 16


class LinearSVMCV(CallbackSupportMixin, ProbabilitiesMixin, LinearClassifier):
    """:class:`LinearSVM` with C chosen by cross-validation along a warm-started path.

    Parameters
    ----------
    Cs : sequence of float, default=2**-5, 2**-4, ..., 2**5
        The values of C that are tried.
    cv : int, splitter or iterable of (train, test), default=5
        Which rows are held out, as in :func:`sklearn.model_selection.check_cv`: a number means so many stratified
        folds. Splitters that need groups get those of ``fit``.
    scoring : None, str or callable, default=None
        What is maximised, as in scikit-learn: higher is better, and None is accuracy.
    refit : bool, default=True
        Whether to train on all rows with the chosen C. If not, ``coef_`` and ``intercept_`` are the means over the
        folds.
    fit_intercept : bool, default=True
        As in :class:`LinearSVM`.
    penalize_intercept : bool, default=True
        As in :class:`LinearSVM`.
    class_weight : None, "balanced" or dict, default=None
        As in :class:`LinearSVM`. "balanced" class weights are those of the rows each fold is trained on.
    tol : float, default=1e-6
        As in :class:`LinearSVM`.
    max_iter : int, default=100
        As in :class:`LinearSVM`, for each C and fold.
    n_jobs : int or None, default=None
        Threads that share the rows, or folds and classes: None is 1, -1 all cores. The result does not depend on it.
    verbose : int, default=0
        1 shows how far the fit is, on standard error: a bar in a notebook or on a terminal, lines elsewhere.
    patience : int or None, default=None
        After so many Cs in a row without a better mean score, larger ones are not tried, and their scores are nan. None
        tries all: the largest Cs take most of the time, but only all scores show that the best C is within the range.
    random_state : int, RandomState instance or None, default=0
        As in :class:`LinearSVM`.

    Attributes
    ----------
    C_ : float
        The C of the highest mean score, the smallest one among equals.
    Cs_ : ndarray of shape (n_Cs,)
        The distinct Cs, ascending.
    scores_ : ndarray of shape (n_Cs, n_folds)
        The score on the rows that each fold holds out; nan where ``patience`` was at its end.
    mean_scores_, std_scores_ : ndarrays of shape (n_Cs,)
        Mean and standard deviation of the scores over the folds, each of which counts the same.
    weight_unit_ : float
        What counts as one row: the typical weight (:func:`isrht.rows.weights.typical_weight`), 1 without weights.
        ``C_`` is for weights divided by it; ``LinearSVM(C_ / weight_unit_)`` is the same model on weights as they are.
    calibration_ : Calibration
        The curve behind ``predict_proba``, fitted to the scores of the rows that the folds hold out, for ``C_``: its
        ``slope`` and ``offsets``.
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`LinearSVM`. Without ``refit``, ``n_iter_`` is the most steps any fold took for ``C_``.

    See Also
    --------
    LinearSVM : Trains for a given C.
    ISRHTClassifier : Projects the features first, for data with very many of them.
    sklearn.model_selection.GridSearchCV : Chooses any parameter of any estimator, one fit at a time.

    Notes
    -----
    Sample weights count in training and in scoring (a callable ``scoring`` gets them if it has a parameter
    ``sample_weight``); class weights count only in training.

    Where features are many (see :class:`LinearSVM`), the models of the folds are solved to 1e-2 of their weights
    instead of ``tol``, because only their scores are wanted; the model that is kept is solved to ``tol``. Without
    ``refit``, when the models of the folds are kept, they are solved to ``tol`` too.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from isrht import LinearSVMCV
    >>> model = LinearSVMCV(cv=3).fit(*load_iris(return_X_y=True))
    >>> model.scores_.shape
    (11, 3)
    """

    n_iter_: int
    C_: float
    Cs_: Array
    scores_: Array
    mean_scores_: Array
    std_scores_: Array
    weight_unit_: float
    calibration_: Any

    def __init__(
        self,
        Cs: Sequence[float] | Array = DEFAULT_CS,
        *,
        cv: Folds = 5,
        scoring: Scoring = None,
        refit: bool = True,
        fit_intercept: bool = True,
        penalize_intercept: bool = True,
        class_weight: ClassWeight = None,
        tol: float = 1e-6,
        max_iter: int = 100,
        n_jobs: int | None = None,
        verbose: int = 0,
        patience: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.patience = patience
        self.random_state = random_state

    @whole_or_unchanged
    @shows_progress
    def fit(self, X: Rows, y: Labels = None, sample_weight: Weights = None, groups: Labels = None) -> Self:
        """Choose C, and train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), RowSource, or Dask collection
            The rows to train on.
        y : array of shape (n_samples,), default=None
            Their class labels, of any kind. None is for a RowSource that has the labels.
        sample_weight : None, float or array of shape (n_samples,), default=None
            Weights of the rows, which must not be negative. They are divided by ``weight_unit_``, so that a constant
            factor on all of them changes nothing.
        groups : array of shape (n_samples,), default=None
            The group of each row, such as the patient or the document that it comes from. No group is both trained on
            and held out: a number of folds means StratifiedGroupKFold, and a splitter is given the groups.
            With metadata routing, ask for it by ``set_fit_request(groups=True)``.

        Returns
        -------
        self : LinearSVMCV
        """
        checked_Cs(self.Cs)
        if self.patience is not None:
            check_positive(self, "patience", Integral)
        X, labels, weights = self._validate(X, y, sample_weight)
        return self.fit_checked(X, labels, weights, checked_groups(groups, X))

    def fit_checked(self, X, labels, sample_weight=None, groups=None):
        """Search on rows, coded labels and weights that have been checked, for an estimator that has them already."""
        self.Cs_, self.classes_, self.n_features_in_ = checked_Cs(self.Cs), labels.classes, X.shape[1]
        self.weight_unit_ = typical_weight(sample_weight)
        sample_weight = in_units(sample_weight, self.weight_unit_)
        folds = make_folds(self.cv, X, labels, groups)
        scorer_of = self._fold_scorer(X, labels, sample_weight, folds)

        exact = self._solver_options()
        options = replace(exact, rough=bool(self.refit))
        goes_along = self.refit and self._whole_goes_along(X, labels, folds, options)
        solve = partial(self._solved, X, labels, sample_weight, exact)
        refit = EarlyRefit(solve, job_count(self.n_jobs) if goes_along else 1)
        self.scores_, models, tried, start = np.full((len(self.Cs_), len(folds)), np.nan), None, self.Cs_, None
        fits = [FoldSummary() for _ in self.Cs_]
        n_steps = -(-len(folds) // FOLDS_PER_PASS) * len(self.Cs_)
        for batch, held_out, blocks in self._batches(X, labels, sample_weight, folds, goes_along):
            score = scorer_of(batch, held_out)
            path = starting_points(fit_path(blocks, tried, labels.n_classes, options), self.fit_intercept, goes_along)
            with one_blas_thread(), refit:
                for c, (found, start_here) in enumerate(refit.beside(path)):
                    solution = found.of_folds(batch.stop - batch.start)
                    self.scores_[c, batch] = score(solution)
                    step("C", batch.start // FOLDS_PER_PASS * len(self.Cs_) + c + 1, n_steps)
                    fits[c].add(solution, keep_coef=not self.refit)
                    if len(solution.coef) == len(folds) and np.argmax(self.scores_[: c + 1].mean(axis=1)) == c:
                        models = FoldModels(solution.coef, solution.intercept, held_out)
                        start = start_here
                    elif start is not None:
                        refit.begin(self.Cs_[np.argmax(self.scores_[: c + 1].mean(axis=1))], start)
                    if self._at_the_end(self.scores_[: c + 1, batch]):
                        tried = self.Cs_[: c + 1]
                        break
        self.mean_scores_ = self.scores_.mean(axis=1)
        self.std_scores_ = self.scores_.std(axis=1)
        best = int(np.argmax(self.mean_scores_[: len(tried)]))
        self.C_ = float(self.Cs_[best])
        if unsolved := sum(fit.unsolved for fit in fits):
            warn_not_converged(self, f"in {unsolved} of {self.scores_.size} pairs of C and fold")
        models = models or self._models_of_folds(X, labels, sample_weight, folds)
        self.calibration_ = calibrated(X, labels, sample_weight, models, self.class_weight, self.n_jobs)
        if self.refit:
            return self._keep(refit.solution(self.C_, start))
        self.coef_, self.intercept_ = fits[best].coef / len(folds), fits[best].intercept / len(folds)
        self.n_iter_ = max(1, fits[best].n_iter)
        return self

    def _at_the_end(self, scores):
        """Say whether patience is at its end, after these scores (Cs, folds): of all folds, or of the first ones."""
        return self.patience is not None and len(scores) - 1 - np.argmax(scores.mean(axis=1)) >= self.patience

    def _seed(self):
        return drawn_seed(self.random_state)

    def _whole_goes_along(self, X, labels, folds, options):
        """Say whether the problem of all rows is solved beside those of the folds, in a lane that they leave over.

        Where it stands at the chosen C is where the model that is kept begins.
        """
        in_one_pass = labels.n_classes == 2 and len(folds) < FOLDS_PER_PASS and len(folds) % 8
        return bool(in_one_pass and is_wide(X, options))

    def _batches(self, X, labels, sample_weight, folds, goes_along=False):
        """Yield some folds at a time: which they are, what they hold out, and the blocks that they train on.

        If the problem of all rows goes along, it is one fold more, the last one, which holds out nothing.
        """
        for first in range(0, len(folds), FOLDS_PER_PASS):
            batch = slice(first, min(first + FOLDS_PER_PASS, len(folds)))
            training, held_out = folds.counts(batch)
            check_classes_of_folds(training, labels, sample_weight)
            if goes_along:
                training = np.column_stack([training, np.ones(len(training), training.dtype)])
            weights = training_weights(training, self.class_weight, labels, sample_weight)
            yield batch, held_out, training_blocks(X, labels.codes, weights)

    def _models_of_folds(self, X, labels, sample_weight, folds):
        """Return the models of all folds for the chosen C, trained again, because there are too many to be kept."""
        solutions = []
        with warnings.catch_warnings(), one_blas_thread():
            warnings.simplefilter("ignore", UserWarning)  # of folds that lack a class: it was given before
            for _, _, blocks in self._batches(X, labels, sample_weight, folds):
                solutions += fit_path(blocks, [self.C_], labels.n_classes, self._solver_options())
        parts = (np.concatenate([getattr(one, of) for one in solutions]) for of in ("coef", "intercept"))
        return FoldModels(*parts, folds.counts()[1])

    def _fold_scorer(self, X, labels, sample_weight, folds):
        """Return a function of some folds and what they hold out, which returns a function of a solution: its scores.

        A solution has a model for each of these folds, and is scored on the rows that the fold holds out.
        """
        if self.scoring is None or self.scoring == "accuracy":
            return lambda _, held_out: FoldAccuracies(X, labels.codes, sample_weight, held_out, self.n_jobs)
        score = held_out_scorer(self, self.scoring)
        y, weights = labels.values(), gathered(sample_weight)

        def score_solution(batch, solution):
            scores = []
            for k, coef, intercept in zip(
                range(batch.start, batch.stop), solution.coef, solution.intercept, strict=True
            ):
                test, model = folds.test(k), FixedModel.of(self.classes_, coef, intercept)
                scores.append(score(model, take_rows(X, test), y[test], None if weights is None else weights[test]))
            return scores

        return lambda batch, _: partial(score_solution, batch)


def starting_points(path, fit_intercept, goes_along):
    """Yield each solution of a path, and where the problem of all rows stands that may go along as the last fold."""
    for found in path:
        start = None
        if goes_along:
            weights = np.column_stack([found.coef[-1], found.intercept[-1]])
            start = Start(weights[:, : None if fit_intercept else -1], found.variables()[-1:])
        yield found, start


@dataclass
class FoldSummary:
    """What is kept of the models of all folds for one C.

    Parameters
    ----------
    coef, intercept : ndarrays, or 0.0 before the first solution
        The sums over folds.
    n_iter : int
        The most steps that a fold took.
    unsolved : int
        The number of folds in which some problem was not solved.
    """

    coef: np.ndarray | float = 0.0
    intercept: np.ndarray | float = 0.0
    n_iter: int = 0
    unsolved: int = 0

    def add(self, solution, keep_coef):
        """Add the folds of a solution; their coefficients only if ``keep_coef`` is true."""
        if keep_coef:
            self.coef = self.coef + solution.coef.sum(axis=0)
            self.intercept = self.intercept + solution.intercept.sum(axis=0)
        self.n_iter = max(self.n_iter, int(solution.n_iter.max()))
        self.unsolved += int((~solution.converged).any(axis=1).sum())


def checked_Cs(Cs):
    """Return the distinct Cs, ascending. Raise an error if there are none, or one is not positive and finite."""
    if np.size(Cs) == 0:
        raise ValueError("Cs must hold at least one value, got none")
    values = np.unique(check_array(np.ravel(Cs), ensure_2d=False, dtype=np.float64, input_name="Cs"))
    if values[0] <= 0:
        raise ValueError(f"Cs must be positive, got {values[0]:g}")
    return values
