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
from sklearn.utils.validation import check_is_fitted, validate_data

from isrht.blocks import Rows, is_sparse, take_rows
from isrht.boosting import BoostedISRHT
from isrht.newton import fit_path, one_blas_thread, training_blocks
from isrht.projection import ISRHT, SELECTIONS
from isrht.scaling import fit_scaler
from isrht.sources import as_rows, stored, validate_rows
from isrht.svm import (
    DEFAULT_CS,
    FoldAccuracies,
    LinearClassifier,
    LinearSVM,
    LinearSVMCV,
    checked_Cs,
    held_out_scorer,
    linear_model,
    make_splits,
    warn_not_converged,
    weighted_rows,
)
from isrht.validation import FLOATS, check_positive_number

SCALES = (None, "maxabs", "minmax")


class ISRHTClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LinearClassifier):
    """Linear SVM on columns of an improved subsampled randomized Hadamard transform (Algorithm 1).

    Parameters
    ----------
    n_components, selection, balance, center, replace, sketch_size, n_score_samples
        As in :class:`ISRHT`. Or ``selection="boosted"``: the columns of :class:`BoostedISRHT`, to which the other
        parameters of this line but ``n_components`` mean nothing.
    C : float or "cv", default="cv"
        The weight of the loss, or "cv" to choose it from ``Cs`` by cross-validation. Boosted columns are scaled to
        the C that did best on held-out rows, so there "cv" is 1 and a number is a multiple of that C.
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
    Cs_, scores_, mean_scores_, std_scores_ : ndarrays
        With ``C="cv"``: as in :class:`LinearSVMCV`; with boosted columns, of the one C they are scaled to.
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
        n_components=256,
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

    def fit(self, X, y=None, sample_weight=None):
        """Scale, project, choose C and train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), or RowSource
        y : array of shape (n_samples,)
            Class labels of any kind; None where a RowSource has them.
        sample_weight : None, float or array of shape (n_samples,)
            A weight of 2 is the same as having the row twice, and 0 as not having it.
        """
        for stale in ("Cs_", "scores_", "mean_scores_", "std_scores_"):
            vars(self).pop(stale, None)
        self.check_parameters()
        X, codes, weights = self._validate(X, y, sample_weight)
        self.scaler_ = self._fit_scaler(X, weights)
        X = self._scaled(X)
        projection = self._make_projection()
        self.projection_ = clone(projection).fit(X, codes, sample_weight=self._projection_weights(codes, weights))
        with projected([self.projection_], X) as (Z,):
            self.C_ = self.C if self.C != "cv" else self._choose_C(projection, X, Z, codes, weights)
            self.svm_ = LinearSVM(self.C_, **self._svm_options()).fit(Z, self.classes_[codes], weights)
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
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
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
            self.Cs_ = checked_Cs(self.Cs)
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
            return BoostedISRHT(self.n_components, cv=cv, random_state=seed, n_jobs=self.n_jobs)
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

    def _projection_weights(self, codes, weights):
        """Boosted columns take class weights as weights of the rows; the others have a parameter for them."""
        if self.selection != "boosted":
            return weights
        return weighted_rows(self.class_weight, self.classes_, codes, weights)

    def _projection_class_weight(self):
        """Class weights by class number, which is what the projection gets for labels."""
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        return {code: self.class_weight.get(label, 1.0) for code, label in enumerate(self.classes_.tolist())}

    def _svm_options(self):
        names = ("fit_intercept", "class_weight", "tol", "max_iter", "n_jobs")
        return {name: getattr(self, name) for name in names}

    def _choose_C(self, projection, X, Z, codes, weights):
        labels_were_used = self.selection == "supervised"
        if self.selection == "boosted":
            self.Cs_, self.scores_ = np.ones(1), self.projection_.fold_scores_[None]
        elif labels_were_used and not self.project_once:
            self.scores_ = self._score_folds(projection, X, codes, weights)
        else:
            search = LinearSVMCV(self.Cs_, cv=self.cv, scoring=self.scoring, refit=False, **self._svm_options())
            self.scores_ = search.fit(Z, self.classes_[codes], weights).scores_
        self.mean_scores_, self.std_scores_ = self.scores_.mean(axis=1), self.scores_.std(axis=1)
        return float(self.Cs_[np.argmax(self.mean_scores_)])

    def _score_folds(self, projection, X, codes, weights):
        """(n_Cs, n_folds): each fold projects on columns that its own training rows chose."""
        y = self.classes_[codes]
        splits = make_splits(self.cv, X, y)
        scores, unsolved = np.empty((len(self.Cs_), len(splits))), 0
        with closing(self._projected_folds(projection, X, codes, weights, splits)) as folds, one_blas_thread():
            for k, (train, test, kept, held_out) in enumerate(folds):
                row_weights = weighted_rows(self.class_weight, self.classes_, codes[train], _take(weights, train))
                blocks = training_blocks(kept, codes[train], row_weights)
                score = self._held_out_score(held_out, codes[test], _take(weights, test))
                for c, solution in enumerate(fit_path(blocks, self.Cs_, **self._solver_options())):
                    scores[c, k] = score(solution)
                    unsolved += not solution.converged.all()
        if unsolved:
            warn_not_converged(self, f"in {unsolved} of {scores.size} pairs of C and fold")
        return scores

    def _held_out_score(self, held_out, codes, weights):
        """A function of a solution. Accuracy on rows that are read is a sum over them: no prediction is kept."""
        if isinstance(held_out, Rows) and self.scoring in (None, "accuracy"):
            everything = [(None, np.arange(len(codes)))]
            accuracies = FoldAccuracies(held_out, codes, weights, everything, self.n_jobs)
            return lambda solution: accuracies(solution)[0]
        score, y = held_out_scorer(self, self.scoring), self.classes_[codes]

        def score_solution(solution):
            model = linear_model(self.classes_, solution.coef[0], solution.intercept[0])
            return score(model, held_out, y, weights)

        return score_solution

    def _projected_folds(self, projection, X, codes, weights, splits):
        """Yield train, test and their projected rows for every split. Rows that are read are read for all at once."""
        if not isinstance(X, Rows):
            for train, test in splits:
                own = self._fold_projection(projection, X, codes, weights, train)
                yield train, test, own.transform(X[train]), own.transform(X[test])
            return
        fitted = projection.fit_folds(X, codes, splits, weights)
        together = fitted is not None and _fit_side_by_side(X, sum(own.n_components_ for own in fitted))
        with projected(fitted, X) if together else nullcontext() as all_kept:
            for k, (train, test) in enumerate(splits):
                own = fitted[k] if fitted else self._fold_projection(projection, X, codes, weights, train)
                with nullcontext([all_kept[k]]) if together else projected([own], X) as (Z,):
                    yield train, test, Z.take(train), Z.take(test)

    def _fold_projection(self, projection, X, codes, weights, train):
        return clone(projection).fit(take_rows(X, train), codes[train], sample_weight=_take(weights, train))

    def _fold(self):
        """Weights and intercepts on the original features."""
        coef = self.projection_.fold(self.svm_.coef_)
        intercept = self.svm_.intercept_ - self.svm_.coef_ @ self.projection_.offsets_
        if self.scale == "minmax":
            intercept += coef @ self.scaler_.min_
        if self.scale == "maxabs":
            coef = coef / self.scaler_.scale_
        elif self.scale == "minmax":
            coef = coef * self.scaler_.scale_
        return coef, intercept


def _unchanged(X):
    return X


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
