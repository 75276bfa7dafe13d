"""Beyond the paper: diagonals that learn, and columns that work on what the others left unexplained.

The paper draws the signs D blindly and picks columns once. :class:`BoostedISRHT` keeps the structure ``R = D H S`` and
changes two things. The diagonal is learned: ``z_k``, how many standard errors the gradient of feature k is away from
zero, soft-thresholded, so that column 0 of H points along the class signal instead of cancelling it. And columns come
in rounds: each takes the residual of a small SVM on the columns so far as its labels (:mod:`isrht.boosting._rounds`).
How many rounds, which diagonal and which C is chosen on rows that the diagonals have not seen
(:mod:`isrht.boosting._search`).

Several classes learn more columns than were asked for, which are then distilled to those that their SVMs use.
Components beyond the learned ones are Walsh contrasts of the same diagonals: other columns of H, along which the
gradient is largest. They are weighted down, so that they may correct the learned columns but not outvote them.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isrht.boosting._blend import FoldScores
from isrht.boosting._calibration import AS_CHOSEN
from isrht.boosting._measures import measure_for
from isrht.boosting._path import Assignment, Path
from isrht.boosting._places import learned_rows
from isrht.boosting._plan import C_GRID, KINDS, candidates_for, make_plan
from isrht.boosting._projection import LearnedProjection
from isrht.boosting._roles import Roles
from isrht.boosting._rounds import grow
from isrht.boosting._rows import LearnedRows
from isrht.boosting._sample import SearchedRows, searched_rows
from isrht.boosting._search import CAUTIOUS_C, Choice, Search
from isrht.boosting._training import solve
from isrht.projections.feature_moments import measure_features
from isrht.rows.by_feature import ByFeature, worth_storing_by_feature
from isrht.rows.entry import as_rows, fitted_rows, rows_to_fit
from isrht.rows.folds import (
    HELD_OUT_FOLDS,
    check_classes_of_folds,
    checked_groups,
    held_out_fifths,
    make_folds,
    usable_folds,
)
from isrht.rows.labels import check_two_classes, in_memory
from isrht.rows.weights import checked_sample_weight, in_units, typical_weight
from isrht.support.doc_links import DocLinkMixin
from isrht.support.hints import Array, ArrayOrLazy, Folds, Labels, RandomState, Rows, Scoring, Weights
from isrht.support.matrices import without_duplicates
from isrht.support.progress import CallbackSupportMixin, shows_progress, step
from isrht.support.threads import one_blas_thread
from isrht.support.validation import (
    MOST_COMPONENTS,
    check_n_jobs,
    check_positive_integer,
    checked_data,
    whole_or_unchanged,
)


class BoostedISRHT(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    LearnedProjection,
    DocLinkMixin,
    BaseEstimator,
):
    """Columns of Hadamard transforms whose diagonals are learned from the labels, round by round.

    Parameters
    ----------
    n_components : int, default=16
        The number of columns. At most 16 of them are learned (32 for three to five classes, six per class for more);
        the rest are Walsh contrasts. With several classes, and at least as many columns, at least three columns per
        class are learned, and then distilled to this number.
    rounds : "auto" or int, default="auto"
        The number of rounds. "auto" chooses it on held-out rows, and stops at one if the labels look like noise.
    threshold : "auto" or float, default="auto"
        Features whose gradient is within this many standard errors of zero are left out of a round, the others are
        moved as much towards zero. "auto" chooses between 0 and 2 on held-out rows.
    diagonal : {"auto", "standard", "z", "signs"}, default="auto"
        - "z": the gradient of each feature over its standard error, on the features as they are.
        - "standard": the same on features divided by their standard deviation.
        - "auto": one of these two, chosen on held-out rows.
        - "signs": the sign of z alone, one bit per feature and round, for tiny models. It has no threshold.
    cv : "auto", int, splitter or iterable of (train, test), default="auto"
        Which rows are held out to choose. "auto" holds out stratified fifths in turn until 12,500 rows have been held
        out, so that one fifth serves where it has as many rows.
    scoring : None, str or callable, default=None
        What is maximised on held-out rows, as in scikit-learn: higher is better, and None is accuracy. Of rows that are
        not in memory it must be a sum over rows: "accuracy", "balanced_accuracy", "neg_log_loss" or "neg_brier_score".
    scaled : bool, default=True
        Whether to multiply the columns by the root of ``C_``, so that a linear model with C=1 is about as cautious on
        them as the SVM that was chosen. That SVM itself is ``LinearSVM(C_)`` on columns that are not scaled: the two
        differ in how free the intercept is, which matters with many classes and few rows.
    random_state : int, RandomState instance or None, default=None
        Draws the fifths. Nothing else is random.
    n_jobs : int or None, default=None
        Threads that share the work: None is 1, -1 all cores. The model does not depend on it.
    verbose : int, default=0
        1 shows how far the fit is, on standard error: a bar in a notebook or on a terminal, lines elsewhere.

    Attributes
    ----------
    rounds_, threshold_, diagonal_ : int, float, str
        What was chosen, or given.
    C_ : float
        The C that was chosen, for columns that are not scaled, in units in which the mean squared row is 1. It is not
        to be cross-validated on the columns again.
    held_out_score_ : float
        The accuracy on held-out rows of what was chosen, or the mean ``scoring`` over folds: an honest estimate, up to
        the choice among few.
    fold_scores_ : ndarray of shape (n_folds,)
        The same in each fold.
    search_scores_ : ndarray of shape (n_candidates, n_rounds, n_Cs)
        The scores of all that was tried, by which it was chosen; NaN where the search did not go. They are of
        ``search_candidates_``, the names of diagonals and thresholds, ``search_rounds_`` and ``search_Cs_``.
    has_signal_ : bool
        Whether the held-out scores were correlated with the labels beyond chance.
    weight_unit_ : float
        What counts as one row: the typical weight, 1 without weights. ``C_`` is for weights divided by it.
    calibration_ : Calibration or None
        The curve that makes probabilities of the scores of that SVM, fitted to the held-out rows; None where there were
        none. :class:`ISRHTClassifier` has it as its own.
    diagonals_ : ndarray of shape (n_learned_, n_features)
        D_1 ... D_T.
    mixing_ : ndarray of shape (n_learned_, n_learned_)
        A, triangular: learned column t is ``mixing_[t] @ diagonals_``, times its scale.
    selected_columns_, column_rounds_, column_scales_ : ndarrays of shape (n_components_,)
        For every component its column of H, the number of its diagonal, and its factor. The learned components, which
        are column 0 of each diagonal, come first.
    mean_ : ndarray of shape (n_features,)
        The mean of the features, which is subtracted. ``transform`` needs only its projection, ``offsets_``.
    classes_ : ndarray of shape (n_classes,)
        The different labels, sorted.
    n_learned_, n_components_, n_features_padded_, n_features_in_ : int
        ``n_components_`` is less than ``n_components`` where there are not so many columns: ``n_learned_`` diagonals
        have ``n_features_padded_`` columns each.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns of X, if it had any.

    See Also
    --------
    ISRHT : Selects columns behind random signs, as the paper does.
    ISRHTClassifier : With ``selection="boosted"``, these columns and the SVM that was chosen with them.
    SparseEmbedding : With a learned diagonal, a cheaper sketch for sparse rows.

    Notes
    -----
    A round is two passes over the rows, O(nnz) each, shared by all candidates and folds, and O(d) work on the
    features. Beyond the data, ``fit`` holds O(d) totals, one diagonal in float32 per round, candidate and fold, and of
    each row the columns learned so far: in memory, or where the rows are (:mod:`isrht.boosting._rows`). Sparse rows
    with more features than rows are stored once more, by feature.

    References
    ----------
    .. [1] Z. Lei and L. Lan, "Improved Subsampled Randomized Hadamard Transform for Linear SVM", Proceedings of the
       AAAI Conference on Artificial Intelligence 34, 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from isrht import BoostedISRHT, LinearSVM
    >>> X, y = load_digits(return_X_y=True)
    >>> boosted = BoostedISRHT(16, random_state=0).fit(X[:1000], y[:1000] % 2)
    >>> svm = LinearSVM(1.0).fit(boosted.transform(X[:1000]), y[:1000] % 2)
    >>> bool(svm.score(boosted.transform(X[1000:]), y[1000:] % 2) > 0.87)
    True
    """

    rounds_: int
    threshold_: float
    diagonal_: str
    C_: float
    held_out_score_: float
    fold_scores_: Array
    search_scores_: Array
    has_signal_: bool
    weight_unit_: float
    calibration_: Any
    diagonals_: Array
    mixing_: Array
    selected_columns_: Array
    column_rounds_: Array
    column_scales_: Array
    mean_: Array
    classes_: Array
    n_learned_: int
    n_components_: int
    n_features_padded_: int
    n_features_in_: int
    feature_names_in_: Array

    def __init__(
        self,
        n_components: int = 16,
        *,
        rounds: int | Literal["auto"] = "auto",
        threshold: float | Literal["auto"] = "auto",
        diagonal: Literal["auto", "standard", "z", "signs"] = "auto",
        cv: Folds = "auto",
        scoring: Scoring = None,
        scaled: bool = True,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.rounds = rounds
        self.threshold = threshold
        self.diagonal = diagonal
        self.cv = cv
        self.scoring = scoring
        self.scaled = scaled
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @whole_or_unchanged
    @shows_progress
    def fit(self, X: Rows, y: Labels = None, sample_weight: Weights = None, groups: Labels = None) -> Self:
        """Choose diagonal, rounds and C on held-out rows, then learn the columns from all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), RowSource, or Dask collection
            The rows to learn from.
        y : array of shape (n_samples,), default=None
            Their class labels, of any kind. None is for a RowSource that has the labels.
        sample_weight : None, float or array of shape (n_samples,), default=None
            Weights of the rows, which must not be negative. Among rows of weight 1, a row of weight 2 counts as two
            rows and one of weight 0 not at all, in the columns and in the held-out scores. A constant factor on all
            weights changes nothing, because they are divided by ``weight_unit_``.
        groups : array of shape (n_samples,), default=None
            The group of each row, such as the patient or the document that it comes from. No group is both trained on
            and held out: ``cv="auto"`` or a number means StratifiedGroupKFold, and a splitter is given the groups.
            With metadata routing, ask for it by ``set_fit_request(groups=True)``.

        Returns
        -------
        self : BoostedISRHT
        """
        self._check_parameters()
        if (rows := as_rows(X)) is not None:
            X, labels = rows_to_fit(self, rows, y)
        else:
            X, y = checked_data(self, X, y)
            labels = in_memory(y)
        return self.fit_checked(X, labels, checked_sample_weight(sample_weight, X), groups=checked_groups(groups, X))

    def fit_checked(self, X, labels, weights=None, wish=AS_CHOSEN, groups=None):
        """Fit rows, coded labels and weights that have been checked, for an estimator that has them already.

        ``wish`` says what the calibration is to be for. What else it asks for is to be taken by :meth:`take`.
        """
        self._check_parameters()
        check_two_classes(self, labels, weights)
        self.n_features_in_, self.classes_ = X.shape[1], labels.classes
        X = without_duplicates(X) if sp.issparse(X) else X
        self.weight_unit_ = typical_weight(weights)
        weights = in_units(weights, self.weight_unit_)
        some, folds = self._searched(X, labels, weights, groups)
        counts = usable_folds(folds.counts(), some.weights)
        check_classes_of_folds(counts[0], some.labels, some.weights)
        stored = _stored(X)
        plan, roles = self._plan(), Roles(some.labels.codes, labels.n_classes, *counts, some.weights)
        with one_blas_thread():
            choice = self._choose(stored if some.X is X else _stored(some.X), roles, plan, wish)
            if hasattr(self, "_fold_scores"):
                self._fold_scores = self._fold_scores._replace(X=some.X)
            whole = roles if some.X is X else Roles(labels.codes, labels.n_classes, None, None, weights)
            features, path = self._learn(stored, whole.all_training(), plan, choice)
        self._keep(choice, features, path, plan)
        return self

    def take_findings(self):
        """Return, once, what the wish asked for: the scores of the folds, and the cut. None is for what it did not."""
        return vars(self).pop("_fold_scores", None), vars(self).pop("_cut", None)

    def transform(self, X: Rows) -> ArrayOrLazy:
        """Project rows to the learned columns and their contrasts.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), RowSource, or Dask collection
            The rows to project.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            A dense array, float32 if X is. The columns of rows on a Dask cluster are a Dask array.
        """
        check_is_fitted(self)
        if (rows := fitted_rows(self, X)) is not None:
            return rows.collect(self.project, self.n_jobs)
        return self.project(checked_data(self, X, reset=False))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_parameters(self):
        check_positive_integer("n_components", self.n_components, MOST_COMPONENTS)
        check_n_jobs(self.n_jobs)
        if self.rounds != "auto":
            check_positive_integer("rounds", self.rounds)
        if self.diagonal not in KINDS:
            raise ValueError(f"diagonal must be one of {', '.join(map(repr, KINDS))}, got {self.diagonal!r}")
        if not isinstance(self.scaled, bool | np.bool_):
            raise TypeError(f"scaled must be True or False, got {self.scaled!r}")
        if self.threshold == "auto":
            return
        if not isinstance(self.threshold, Real) or isinstance(self.threshold, bool):
            raise TypeError(f"threshold must be 'auto' or a number, got {self.threshold!r}")
        if not 0 <= self.threshold < np.inf:
            raise ValueError(f"threshold must be finite and not negative, got {self.threshold!r}")
        if self.diagonal == "signs" and self.threshold > 0:
            raise ValueError(f"diagonal='signs' has no threshold, got threshold={self.threshold!r}")

    def _plan(self):
        candidates = candidates_for(self.diagonal, self.threshold)
        return make_plan(self.n_components, len(self.classes_), self.rounds, candidates)

    def _searched(self, X, labels, weights, groups):
        """Return the rows that are searched, and their folds. A ``cv`` or groups of the user's own are of all rows."""
        is_auto = isinstance(self.cv, str) and self.cv == "auto"
        if not is_auto or groups is not None:
            cv = HELD_OUT_FOLDS if is_auto else self.cv
            return SearchedRows(X, labels, weights), make_folds(cv, X, labels.numbered(), groups)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        some = searched_rows(X, labels, weights, seed)
        return some, held_out_fifths(some.labels, seed)

    def _choose(self, X, roles, plan, wish):
        """Return the :class:`Choice` by held-out rows, and keep the calibration by them.

        Where there are none, the choice is the most cautious candidate, and there is no calibration.
        """
        self.calibration_ = None
        if not roles.n_folds:
            nowhere = np.full((len(plan.candidates), len(plan.rounds), 0), np.nan)
            return Choice(plan.candidates[-1], plan.rounds[0], CAUTIOUS_C, False, np.empty(0), nowhere, np.nan)
        search = Search(X, roles, plan, self.n_jobs)
        search.measure = measure_for(self.scoring, self, search.rows, self.n_jobs)
        search.run()
        choice = search.choice(may_be_noise=self.rounds == "auto")
        self.calibration_ = search.calibration(choice, wish)
        self._keep_for(wish, search, choice)
        return choice

    def _keep_for(self, wish, search, choice):
        """Keep what an estimator has asked for, until it takes it."""
        if wish.keeps_scores:
            self._fold_scores = FoldScores(None, search.rows.roles, search.fold_scores(choice, wish))
        if wish.moves_cut:
            self._cut = search.cut(choice, wish, self.calibration_)

    def _learn(self, X, roles, plan, choice):
        """Learn the columns from all rows. If no feature passes the threshold, learn them without a threshold."""
        n_columns = min(plan.n_columns, choice.rounds * plan.per_round)
        rows = learned_rows(X, roles, np.zeros(1, dtype=np.int64), n_columns)
        features = measure_features(X, rows, LearnedRows.all_training_weights, 1, self.n_jobs)
        for threshold in sorted({choice.candidate.threshold, 0.0}, reverse=True):
            candidate = choice.candidate._replace(threshold=threshold)
            assignment = Assignment(0, candidate, 0, roles.mean_label(0))
            path = Path(assignment, features, n_columns, n_contrasts=self.n_components)
            for done in range(1, choice.rounds + 1):
                grow(X, rows, features, [path], plan.per_round, self.n_jobs)
                step("round with all rows", done, choice.rounds)
            if path.size:
                break
        self.rounds_ = max(1, -(-path.size // plan.per_round))
        if path.size > self.n_components:
            weights = solve(rows, [path], [np.array([choice.C])], [path.solutions], self.n_jobs)[0].weights[:, :-1]
            path = path.distilled(weights, features, self.n_components)
        return features, path

    def _keep_search(self, choice, plan):
        """Set the attributes that say what was tried, and how it did."""
        self.search_candidates_ = [f"{kind}, threshold {threshold:g}" for kind, threshold in plan.candidates]
        self.search_rounds_, self.search_Cs_ = np.array(plan.rounds), np.array(C_GRID)
        self.search_scores_ = np.full((len(plan.candidates), len(plan.rounds), len(C_GRID)), np.nan)
        if choice.scores.shape == self.search_scores_.shape:
            self.search_scores_ = choice.scores

    def _keep(self, choice, features, path, plan):
        """Set the fitted attributes from what was chosen and learned."""
        self.diagonal_, self.threshold_ = path.candidate
        self.C_, self.has_signal_ = choice.C, choice.has_signal
        self.held_out_score_, self.fold_scores_ = choice.accuracy, choice.fold_scores
        self._keep_search(choice, plan)
        self._keep_projection(features, path)


def _stored(X):
    """Return rows stored by feature where that pays, and otherwise as they are."""
    return ByFeature(X) if worth_storing_by_feature(X) else X
