"""The paper's Algorithm 1 as one estimator: scale, project, choose C, train a linear SVM.

Everything between a row and its score is linear, so after training it is folded into one weight per original feature:
``coef_`` is ``D H S w`` (times the scaling), and predicting costs one product with the row, O(nnz).

No leakage: columns chosen with the labels have seen the labels of every training row, so a C that is cross-validated
on them is judged too kindly. Where the selection looks at y, each fold chooses its own columns from its own training
rows; where it does not, the data are projected once. ``selection="boosted"`` has chosen its C on held-out rows already.
"""

from __future__ import annotations

from contextlib import closing, contextmanager, nullcontext
from numbers import Integral

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isrht.blocks import Rows, is_sparse
from isrht.boosting import BoostedISRHT
from isrht.coded_labels import CodedLabels
from isrht.folds import check_classes_of_folds, make_folds
from isrht.newton import fit_path, one_blas_thread, training_blocks
from isrht.per_row import Column, derived, gathered, total
from isrht.projection import ISRHT, SELECTIONS
from isrht.row_weights import in_units, typical_weight
from isrht.scaling import fit_scaler
from isrht.sources import as_rows, stored, validate_rows
from isrht.svm import (
    DEFAULT_CS,
    FoldAccuracies,
    LinearClassifier,
    LinearSVM,
    LinearSVMCV,
    checked_Cs,
    fold_weights,
    held_out_scorer,
    linear_model,
    warn_not_converged,
    weighted_rows,
)
from isrht.validation import check_positive_number, checked_data, whole_or_unchanged

SCALES = (None, "maxabs", "minmax")


class ISRHTClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LinearClassifier):
    """Linear SVM on columns of an improved subsampled randomized Hadamard transform (Algorithm 1).

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        How many columns: as in :class:`ISRHT`, where "auto" keeps 256, or all columns if there are fewer. Boosted
        columns are at most as many; "auto" are 16 of them.
    selection, balance, center, replace, sketch_size, n_score_samples
        As in :class:`ISRHT`. Or ``selection="boosted"``: the columns of :class:`BoostedISRHT`, to which the other
        parameters of this line mean nothing.
    C : float or "cv", default="cv"
        The weight of the loss, or "cv" to choose it from ``Cs`` by cross-validation. With boosted columns "cv" is the
        C that did best on held-out rows while they were learned, and a number is a multiple of that.
    Cs : sequence of float, default=2**-5 ... 2**5
    cv : int, splitter or iterable of (train, test), default=5
        What is held out. With boosted columns, 5 means fifths until 12,500 rows have been held out.
    scoring : None, str or callable, default=None
        What cross-validation maximises; None is accuracy, the only one for boosted columns.
    project_once : bool, default=False
        Cross-validate C on columns that were chosen with all labels, as the paper does: cheaper, and too rosy where
        the selection looks at y, because the rows held out helped to choose the columns. For reproducing its protocol.
    scale : {None, "maxabs", "minmax"}, default=None
        Scale features to [-1, 1] first: "maxabs" divides by the largest absolute value and keeps sparsity, "minmax"
        maps minimum and maximum to -1 and 1, for dense data.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes in the column scores and in the SVM.
    fit_intercept, tol, max_iter
        As in :class:`LinearSVM`.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None
        Threads. The model does not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Weights of the original features: projection and SVM folded together.
    intercept_ : ndarray of shape (1 or n_classes,)
    classes_ : ndarray of shape (n_classes,)
    projection_ : ISRHT or BoostedISRHT
    svm_ : LinearSVM
        On the projected columns. ``svm_.decision_function(transform(X))``, the paper's way in O(d log d), agrees with
        ``decision_function(X)`` to rounding.
    scaler_ : MaxAbsScaler, MinMaxScaler or None
    C_ : float
        The C of ``svm_``: that was given, or chosen; with boosted columns the given one times the chosen one.
    weight_unit_ : float
        What counts as one row where C was chosen: the typical weight, 1 without weights or with a given C. ``C_`` is
        for weights divided by it.
    Cs_, scores_, mean_scores_, std_scores_ : ndarrays
        With ``C="cv"``: as in :class:`LinearSVMCV`; with boosted columns, of the one C that was chosen with them.
    n_iter_, n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has string column names

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from isrht import ISRHTClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ISRHTClassifier(32, scale="maxabs", random_state=0).fit(X[:1000], y[:1000] % 2)
    >>> model.coef_.shape
    (1, 64)
    >>> bool(model.score(X[1000:], y[1000:] % 2) > 0.8)
    True
    """

    def __init__(
        self,
        n_components="auto",
        *,
        selection="supervised",
        balance=1.0,
        center=False,
        replace=True,
        sketch_size=None,
        n_score_samples=None,
        C="cv",
        Cs=DEFAULT_CS,
        cv=5,
        scoring=None,
        project_once=False,
        scale=None,
        class_weight=None,
        fit_intercept=True,
        tol=1e-6,
        max_iter=100,
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.selection = selection
        self.balance = balance
        self.center = center
        self.replace = replace
        self.sketch_size = sketch_size
        self.n_score_samples = n_score_samples
        self.C = C
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.project_once = project_once
        self.scale = scale
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @whole_or_unchanged
    def fit(self, X, y=None, sample_weight=None):
        """Scale, project, choose C and train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), or RowSource
        y : array of shape (n_samples,)
            Class labels of any kind; None where a RowSource has them.
        sample_weight : None, float or array of shape (n_samples,)
            A weight of 2 is the same as having the row twice, and 0 as not having it. Where C is chosen, weights are
            divided by ``weight_unit_`` first, so that a constant factor on all of them changes nothing.
        """
        self.check_parameters()
        X, labels, weights = self._validate(X, y, sample_weight)
        self.scaler_ = self._fit_scaler(X, weights)
        X = self._scaled(X)
        projection = self._make_projection()
        projection_weights = self._projection_weights(labels, weights)
        seen = labels if self.selection == "boosted" else labels.numbered()
        self.projection_ = clone(projection).fit(X, for_fit(seen), sample_weight=projection_weights)
        self.weight_unit_ = self._weight_unit(weights)
        weights = in_units(weights, self.weight_unit_)
        with projected([self.projection_], X) as (Z,):
            self.C_ = self._choose_C(projection, X, Z, labels, weights) if self.C == "cv" else self._given_C()
            self.svm_ = LinearSVM(self.C_, **self._svm_options()).fit(Z, for_fit(labels), weights)
        self.n_iter_ = self.svm_.n_iter_
        with one_blas_thread():
            self.coef_, self.intercept_ = self._fold()
        return self

    def transform(self, X):
        """The projected columns of the rows of X, on which the SVM was trained: (n_samples, n_components_)."""
        check_is_fitted(self)
        if (rows := as_rows(X)) is not None:
            validate_rows(self, rows, needs_labels=False, reset=False)
            return self._scaled(rows).collect(self.projection_.project, self.n_jobs)
        X = checked_data(self, X, reset=False)
        return self.projection_.transform(self._scaled(X))

    @property
    def _n_features_out(self):
        return self.projection_.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.scale != "minmax"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def check_parameters(self):
        """Raise what ``fit`` would raise for a parameter that no data can make right."""
        if self.selection not in (*SELECTIONS, "boosted"):
            known = ", ".join(map(repr, (*SELECTIONS, "boosted")))
            raise ValueError(f"selection must be one of {known}, got {self.selection!r}")
        if self.scale not in SCALES:
            raise ValueError(f"scale must be one of {', '.join(map(repr, SCALES))}, got {self.scale!r}")
        if self.C == "cv":
            checked_Cs(self.Cs)
        elif isinstance(self.C, str):
            raise ValueError(f"C must be a positive number or 'cv', got {self.C!r}")
        else:
            check_positive_number("C", self.C)
        if self.selection == "boosted" and self.scoring is not None:
            raise ValueError(f'selection="boosted" chooses by accuracy: scoring must be None, got {self.scoring!r}')

    def _fit_scaler(self, X, weights):
        if self.scale is None:
            return None
        if self.scale == "minmax" and is_sparse(X):
            raise ValueError("scale='minmax' would make sparse data dense: use scale='maxabs'")
        scaler = MaxAbsScaler() if self.scale == "maxabs" else MinMaxScaler(feature_range=(-1, 1))
        if isinstance(X, Rows):
            return fit_scaler(scaler, X, weights)
        return scaler.fit(X if weights is None else X[weights > 0])

    def _scaled(self, X):
        if isinstance(X, Rows):  # also without a scaler: what is mapped has no names of columns any more
            return X.map(_unchanged if self.scaler_ is None else self.scaler_.transform)
        return X if self.scaler_ is None else self.scaler_.transform(X)

    def _make_projection(self):
        """An unfitted projection with a seed of its own, so that every fold draws the same signs."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        if self.selection == "boosted":
            cv = "auto" if isinstance(self.cv, Integral) and self.cv == 5 else self.cv
            n_components = 16 if self.n_components == "auto" else self.n_components
            return BoostedISRHT(n_components, cv=cv, scaled=False, random_state=seed, n_jobs=self.n_jobs)
        return ISRHT(
            self.n_components,
            selection=self.selection,
            balance=self.balance,
            class_weight=self._projection_class_weight(),
            center=self.center,
            replace=self.replace,
            sketch_size=self.sketch_size,
            n_score_samples=self.n_score_samples,
            random_state=seed,
            n_jobs=self.n_jobs,
        )

    def _projection_weights(self, labels, weights):
        """Boosted columns take class weights as weights of the rows; the others have a parameter for them."""
        if self.selection != "boosted":
            return weights
        return weighted_rows(self.class_weight, labels, weights)

    def _projection_class_weight(self):
        """Class weights by class number, which is what the projection gets for labels."""
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        return {code: self.class_weight.get(label, 1.0) for code, label in enumerate(self.classes_.tolist())}

    def _weight_unit(self, weights):
        """Return the unit in which weights count in the SVM: 1 for a given C, which has LIBLINEAR's meaning."""
        if self.selection == "boosted":
            return self.projection_.weight_unit_
        return typical_weight(weights) if self.C == "cv" else 1.0

    def _svm_options(self):
        names = ("fit_intercept", "class_weight", "tol", "max_iter", "n_jobs")
        return {name: getattr(self, name) for name in names}

    def _given_C(self):
        return float(self.C * self.projection_.C_) if self.selection == "boosted" else self.C

    def _choose_C(self, projection, X, Z, labels, weights):
        labels_were_used = self.selection == "supervised"
        self.Cs_ = checked_Cs(self.Cs)
        if self.selection == "boosted":
            scores = self.projection_.fold_scores_
            self.Cs_, self.scores_ = np.array([self.projection_.C_]), np.array([scores if len(scores) else [np.nan]])
        elif labels_were_used and not self.project_once:
            self.scores_ = self._score_folds(projection, X, labels, weights)
        else:
            search = LinearSVMCV(self.Cs_, cv=self.cv, scoring=self.scoring, refit=False, **self._svm_options())
            self.scores_ = search.fit(Z, for_fit(labels), weights).scores_
        self.mean_scores_, self.std_scores_ = self.scores_.mean(axis=1), self.scores_.std(axis=1)
        return float(self.Cs_[np.argmax(self.mean_scores_)])

    def _score_folds(self, projection, X, labels, weights):
        """(n_Cs, n_folds): each fold projects on columns that its own training rows chose."""
        folds = make_folds(self.cv, X, labels)
        check_classes_of_folds(folds.counts()[0], labels, weights)
        scores, unsolved = np.empty((len(self.Cs_), len(folds))), 0
        fold_trials = self._trials_elsewhere if isinstance(X, Rows) else self._trials_in_memory
        with closing(fold_trials(projection, X, labels, weights, folds)) as trials, one_blas_thread():
            for k, (blocks, score) in enumerate(trials):
                for c, solution in enumerate(fit_path(blocks, self.Cs_, **self._solver_options())):
                    scores[c, k : k + 1] = score(solution)
                    unsolved += not solution.converged.all()
        if unsolved:
            warn_not_converged(self, f"in {unsolved} of {scores.size} pairs of C and fold")
        return scores

    def _trials_in_memory(self, projection, X, labels, weights, folds):
        """Yield for every fold the blocks to train on and the function that scores a solution."""
        codes = labels.codes
        for train, test in folds.splits:
            own = clone(projection).fit(X[train], codes[train], sample_weight=_take(weights, train))
            kept = CodedLabels(self.classes_, codes[train])
            row_weights = weighted_rows(self.class_weight, kept, _take(weights, train))
            blocks = training_blocks(own.transform(X[train]), kept.codes, row_weights)
            yield blocks, self._scorer(own.transform(X[test]), self.classes_[codes[test]], _take(weights, test))

    def _trials_elsewhere(self, projection, X, labels, weights, folds):
        """As in memory, but no row is moved: those held out weigh nothing in training, and the others in scoring.

        Rows are read for all folds at once, where one pass can measure for all and their projections are narrow.
        """
        fitted = projection.fit_folds(X, labels.numbered(), folds, weights)
        together = fitted is not None and _fit_side_by_side(X, sum(own.n_components_ for own in fitted))
        with projected(fitted, X) if together else nullcontext() as all_kept:
            for k in range(len(folds)):
                training, held_out = folds.counts(slice(k, k + 1))
                own = fitted[k] if fitted else _fit_fold(projection, X, labels.numbered(), weights, training)
                with nullcontext([all_kept[k]]) if together else projected([own], X) as (Z,):
                    row_weights = fold_weights(training, self.class_weight, labels, weights)
                    blocks = training_blocks(Z, labels.codes, row_weights)
                    if self.scoring in (None, "accuracy"):
                        yield blocks, FoldAccuracies(Z, labels.codes, weights, held_out, self.n_jobs)
                        continue
                    test = folds.test(k)
                    yield blocks, self._scorer(Z.take(test), labels.values()[test], _take(gathered(weights), test))

    def _scorer(self, held_out, y, weights):
        """A function of a solution: its score on held-out rows."""
        score = held_out_scorer(self, self.scoring)

        def score_solution(solution):
            return score(linear_model(self.classes_, solution.coef[0], solution.intercept[0]), held_out, y, weights)

        return score_solution

    def _fold(self):
        """Weights and intercepts on the original features."""
        coef = self.projection_.fold(self.svm_.coef_)
        intercept = self.svm_.intercept_ - self.svm_.coef_ @ self.projection_.offsets_
        if isinstance(self.scaler_, MinMaxScaler):
            intercept += coef @ self.scaler_.min_
            coef = coef * self.scaler_.scale_
        elif isinstance(self.scaler_, MaxAbsScaler):
            coef = coef / self.scaler_.scale_
        return coef, intercept


def _unchanged(X):
    return X


def for_fit(labels):
    """What an estimator takes for y: an array, or the coded labels themselves of rows that are elsewhere."""
    return labels if isinstance(labels.codes, Column) else labels.values()


def _fit_fold(projection, X, labels, weights, training):
    """A copy of the projection, fitted on the rows of a fold: rows that it does not train on belong to no class."""
    times = derived(lambda training: training[:, 0], training)
    if total(lambda times: np.count_nonzero(times > 1), times):
        weights = derived(lambda times, weights: times * (1.0 if weights is None else weights), times, weights)
    return clone(projection).fit(X, labels.only(times), sample_weight=weights)


@contextmanager
def projected(projections, X):
    """The projected rows of X, for each of the projections: arrays, or rows that are kept to the end of the context."""
    if not isinstance(X, Rows):
        yield [projection.transform(X) for projection in projections]
        return
    wanted = [(projection.project, projection.n_components_) for projection in projections]
    with stored(X, wanted, projections[0].n_jobs) as kept:
        yield kept


def _fit_side_by_side(X, n_components):
    """Whether so many columns take less room than the rows themselves: else reading again is better than keeping."""
    return n_components * X.shape[0] <= (1.5 * X.nnz if X.sparse else X.shape[0] * X.shape[1])


def _take(values, rows):
    return None if values is None else values[rows]
