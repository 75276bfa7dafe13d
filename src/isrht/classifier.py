"""The whole way as one estimator: scale, project, choose C, train a linear SVM.

Unless told otherwise it learns its columns (:mod:`isrht.boosting`). ``selection="supervised"`` is the paper's
Algorithm 1.

Everything between a row and its score is linear, so after training scaling, projection and SVM become one weight per
original feature: ``coef_`` is ``D H S w`` (times the scaling), and predicting costs one product with the row, O(nnz).

No label may leak. Columns that were chosen with the labels have seen the labels of every training row, so a C that is
cross-validated on them looks better than it is. Where the selection looks at y, each fold therefore chooses its own
columns from its own training rows (:mod:`isrht.linear.column_search`); where it does not, the data are projected once.
``selection="boosted"`` has chosen its C on held-out rows already.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isrht.boosting._blend import Judge, choose_blend, factors_of, spread
from isrht.boosting._calibration import CalibrationWish
from isrht.boosting._measures import score_of_scores
from isrht.boosting._plan import DISTILLED_PER_CLASS, LEARNED
from isrht.boosting.estimator import BoostedISRHT
from isrht.linear.calibration import Calibration, trained_class_factors
from isrht.linear.classifier import LinearClassifier
from isrht.linear.column_search import ColumnSearch, Told, projected, weights_of_features
from isrht.linear.costs import DEFAULT_CS
from isrht.linear.probabilities import ProbabilitiesMixin
from isrht.linear.scores import linear_scores
from isrht.linear.scoring import held_out_scorer
from isrht.linear.search import LinearSVMCV, checked_Cs
from isrht.linear.svm import LinearSVM
from isrht.linear.weights import weighted_rows
from isrht.projections._choice import RULES
from isrht.projections.isrht import ISRHT
from isrht.rows.blocks import RowsElsewhere, is_sparse
from isrht.rows.entry import fitted_rows
from isrht.rows.folds import checked_groups
from isrht.rows.scaling import fit_scaler, scaled
from isrht.rows.weights import in_units, typical_weight
from isrht.support.hints import (
    Array,
    ArrayOrLazy,
    ClassWeight,
    Folds,
    Labels,
    RandomState,
    Rows,
    Scoring,
    Selection,
    Weights,
)
from isrht.support.progress import CallbackSupportMixin, shows_progress
from isrht.support.threads import one_blas_thread
from isrht.support.validation import check_positive_number, checked_data, whole_or_unchanged

SCALES = (None, "maxabs", "minmax")
# For every selection the parameters that change nothing.
NOT_USED = {name: (*rule.unused, "blend") for name, rule in RULES.items()} | {
    "boosted": ("balance", "center", "replace", "sketch_size", "n_score_samples", "Cs", "project_once")
}


class ISRHTClassifier(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ProbabilitiesMixin, LinearClassifier
):
    """Linear SVM on few columns of Hadamard transforms, learned or selected, with one weight per original feature.

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        How many columns there are. Of boosted columns "auto" is 16, or three for each class if these are more, and
        there are at most as many as are given. Of selected ones "auto" keeps 256, or all columns if there are fewer,
        and a share is meant as in :class:`ISRHT`.
    selection : {"boosted", "supervised", "top", "importance", "uniform"}, default="boosted"
        Which columns there are: "boosted" are those of :class:`BoostedISRHT`, which learn from the labels; the others
        are the selections of :class:`ISRHT`. "supervised" is the paper's Algorithm 1.
    balance : float, default=1.0
        As in :class:`ISRHT`, for "supervised".
    center : bool, default=False
        As in :class:`ISRHT`. Boosted columns are always centred.
    replace : bool, default=True
        As in :class:`ISRHT`, for "importance".
    sketch_size : int or "paper", default=None
        As in :class:`ISRHT`; not for boosted columns.
    n_score_samples : int, default=None
        As in :class:`ISRHT`, where columns are scored.
    C : float or "cv", default="cv"
        The weight of the loss, or "cv" to choose it from ``Cs`` by cross-validation. With boosted columns "cv" is the
        C that did best on held-out rows while they were learned, and a number is a multiple of that.
    Cs : sequence of float, default=2**-5, 2**-4, ..., 2**5
        The values of C that are tried. Boosted columns have Cs of their own.
    cv : int, splitter or iterable of (train, test), default=5
        Which rows are held out to choose C. With boosted columns, 5 means fifths until 12,500 rows have been held out.
    scoring : None, str or callable, default=None
        What is maximised on held-out rows, as in scikit-learn; None is accuracy. With boosted columns and two classes
        the intercept, too, is moved to where the score is best. Of rows that are not in memory boosted columns take
        sums over rows alone: "accuracy", "balanced_accuracy", "neg_log_loss", "neg_brier_score".
    project_once : bool, default=False
        For selected columns: whether to cross-validate C on columns that were chosen with all labels, as the paper
        does. It is cheaper, but the scores are too good where the selection looks at y, because the rows held out
        helped to choose the columns.
    blend : bool, default=False
        For boosted columns and rows in memory: whether to add up their model and an SVM on all features, in shares that
        held-out rows choose. It takes the time of both.
    probability : bool, default=False
        Whether to have ``predict_proba`` for a given C, too: then as many models are trained as ``cv`` has folds, to
        score the rows that they have not seen. Where C is chosen, and with boosted columns, such scores are there
        anyway, and with them ``predict_proba``.
    scale : {None, "maxabs", "minmax"}, default=None
        How to scale features to [-1, 1] first: "maxabs" divides by the largest absolute value and keeps sparsity,
        "minmax" maps minimum and maximum to -1 and 1, for dense data.
    class_weight : None, "balanced" or dict, default=None
        Weights of the classes in the column scores and in the SVM.
    fit_intercept : bool, default=True
        As in :class:`LinearSVM`.
    penalize_intercept : bool, default=True
        As in :class:`LinearSVM`. While boosted columns are learned, and C and probabilities with them, it is always
        penalised.
    tol : float, default=1e-6
        As in :class:`LinearSVM`.
    max_iter : int, default=100
        As in :class:`LinearSVM`.
    random_state : int, RandomState instance or None, default=None
        Draws the signs of the projection, and its columns where they are drawn.
    n_jobs : int or None, default=None
        Threads that share the rows: None is 1, -1 all cores. The model does not depend on it.
    verbose : int, default=0
        1 shows how far the fit is, on standard error: a bar in a notebook or on a terminal, lines elsewhere.

    Attributes
    ----------
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Weights of the original features: scaling, projection and SVM in one.
    intercept_ : ndarray of shape (1 or n_classes,)
    classes_ : ndarray of shape (n_classes,)
        The different labels, sorted.
    projection_ : ISRHT or BoostedISRHT
    svm_ : LinearSVM
        The SVM on the projected columns. ``svm_.decision_function(transform(X))``, the paper's way in O(d log d),
        agrees with ``decision_function(X)`` to rounding, unless this is a blend.
    all_features_svm_ : LinearSVM or None
        With ``blend=True``, the SVM on all features, if it has a share.
    blend_share_ : float
        The share of that SVM in the scores, from 0 to 1.
    scaler_ : MaxAbsScaler, MinMaxScaler or None
    C_ : float
        The C of ``svm_``, given or chosen; with boosted columns a given one times the chosen one.
    weight_unit_ : float
        What counts as one row where C was chosen: the typical weight, 1 without weights or with a given C. ``C_`` is
        for weights divided by it.
    Cs_, scores_, mean_scores_, std_scores_ : ndarrays
        With ``C="cv"`` only, as in :class:`LinearSVMCV`; for boosted columns they are about the one C that was chosen
        with them.
    calibration_ : Calibration or None
        The curve behind ``predict_proba`` (its ``slope`` and ``offsets``), or None where no rows were held out.
    n_iter_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns of X, if it had any.

    See Also
    --------
    ISRHT : The projection alone, for other models.
    LinearSVMCV : The SVM alone, on all features.
    BoostedISRHT : The columns alone that are learned.

    Notes
    -----
    A parameter that the selection does not use, and that is not what it is by default, is warned of.

    References
    ----------
    .. [1] Z. Lei and L. Lan, "Improved Subsampled Randomized Hadamard Transform for Linear SVM", Proceedings of the
       AAAI Conference on Artificial Intelligence 34, 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from isrht import ISRHTClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ISRHTClassifier(random_state=0).fit(X[:1000], y[:1000] % 2)
    >>> model.coef_.shape, model.projection_.n_components_
    ((1, 64), 16)
    >>> bool(model.score(X[1000:], y[1000:] % 2) > 0.87)
    True
    >>> paper = ISRHTClassifier(32, selection="supervised", random_state=0).fit(X[:1000], y[:1000] % 2)
    >>> bool(paper.score(X[1000:], y[1000:] % 2) > 0.8)
    True
    """

    n_iter_: int
    C_: float
    Cs_: Array
    scores_: Array
    mean_scores_: Array
    std_scores_: Array
    weight_unit_: float
    blend_share_: float
    projection_: ISRHT | BoostedISRHT
    svm_: LinearSVM
    all_features_svm_: LinearSVM | None
    scaler_: Any
    calibration_: Calibration | None

    def __init__(
        self,
        n_components: float | Literal["auto"] = "auto",
        *,
        selection: Selection | Literal["boosted"] = "boosted",
        balance: float = 1.0,
        center: bool = False,
        replace: bool = True,
        sketch_size: int | Literal["paper"] | None = None,
        n_score_samples: int | None = None,
        C: float | Literal["cv"] = "cv",
        Cs: Sequence[float] | Array = DEFAULT_CS,
        cv: Folds = 5,
        scoring: Scoring = None,
        project_once: bool = False,
        blend: bool = False,
        probability: bool = False,
        scale: Literal["maxabs", "minmax"] | None = None,
        class_weight: ClassWeight = None,
        fit_intercept: bool = True,
        penalize_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
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
        self.blend = blend
        self.probability = probability
        self.scale = scale
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @whole_or_unchanged
    @shows_progress
    def fit(self, X: Rows, y: Labels = None, sample_weight: Weights = None, groups: Labels = None) -> Self:
        """Scale, project, choose C and train on the rows of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), RowSource, or Dask collection
            The rows to train on.
        y : array of shape (n_samples,), default=None
            Their class labels, of any kind. None is for a RowSource that has the labels.
        sample_weight : None, float or array of shape (n_samples,), default=None
            Weights of the rows, which must not be negative. A weight of 2 is the same as having the row twice, and 0
            as not having it. Where C is chosen, weights are divided by ``weight_unit_`` first, so that a constant
            factor on all of them changes nothing.
        groups : array of shape (n_samples,), default=None
            The group of each row, such as the patient or the document that it comes from. No group is both trained on
            and held out: a number of folds means StratifiedGroupKFold, and a splitter is given the groups.
            With metadata routing, ask for it by ``set_fit_request(groups=True)``.

        Returns
        -------
        self : ISRHTClassifier
        """
        self.check_parameters()
        self._warn_of_unused_parameters()
        X, labels, weights = self._validate(X, y, sample_weight)
        with one_blas_thread():
            return self._fit_checked(X, Told(labels, weights, checked_groups(groups, X)))

    def _fit_checked(self, X, told):
        """Fit rows that have been checked."""
        self.scaler_ = self._fit_scaler(X, told.weights)
        X = self._scaled(X)
        projection = self._make_projection()
        self.projection_ = self._fit_projection(clone(projection), X, told)
        self.weight_unit_ = self._weight_unit(told.weights)
        told = replace(told, weights=in_units(told.weights, self.weight_unit_))
        with projected([self.projection_], X) as (Z,):
            self.C_ = self._choose_C(projection, X, Z, told)
            self.svm_ = LinearSVM(self.C_, **self._svm_options()).fit_checked(Z, told.labels, told.weights)
            self._follow_held_out_rows(X, Z, told)
        self.n_iter_ = self.svm_.n_iter_
        self.coef_, self.intercept_ = self._on_features()
        return self

    def transform(self, X: Rows) -> ArrayOrLazy:
        """Return the projected columns of rows, on which the SVM was trained.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), RowSource, or Dask collection
            The rows to project, as they were before scaling.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Those of rows on a Dask cluster are a Dask array.
        """
        check_is_fitted(self)
        if (rows := fitted_rows(self, X)) is not None:
            return self._scaled(rows).collect(self.projection_.project, self.n_jobs)
        X = checked_data(self, X, reset=False)
        return self.projection_.project(self._scaled(X))

    @property
    def _n_features_out(self):
        return self.projection_.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.scale != "minmax"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def check_parameters(self) -> None:
        """Raise the error that ``fit`` would raise for a parameter that is wrong whatever the data are."""
        if not isinstance(self.selection, str) or self.selection not in NOT_USED:
            raise ValueError(f"selection must be one of {', '.join(map(repr, NOT_USED))}, got {self.selection!r}")
        if self.scale not in SCALES:
            raise ValueError(f"scale must be one of {', '.join(map(repr, SCALES))}, got {self.scale!r}")
        # What the selection does not use must be legal all the same. BoostedISRHT checks its own number of columns.
        unused = {"n_components": "auto", "selection": "top"} if self.selection == "boosted" else {}
        self._selected_columns(**unused).check_parameters()
        if self.C == "cv":
            checked_Cs(self.Cs)
        elif isinstance(self.C, str):
            raise ValueError(f"C must be a positive number or 'cv', got {self.C!r}")
        else:
            check_positive_number("C", self.C)
        for name in ("blend", "probability"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise TypeError(f"{name} must be True or False, got {getattr(self, name)!r}")

    def _warn_of_unused_parameters(self):
        """Warn of parameters that are not what they are by default, and that the selection does not use."""
        defaults = {name: each.default for name, each in inspect.signature(type(self)).parameters.items()}
        unused = [name for name in NOT_USED[self.selection] if not _equal(getattr(self, name), defaults[name])]
        if unused:
            listed = ", ".join(f"{name}={getattr(self, name)!r}" for name in unused)
            warnings.warn(f"selection={self.selection!r} does not use {listed}", UserWarning, stacklevel=4)

    def _will_be_calibrated(self):
        return bool(self.C == "cv" or self.selection == "boosted" or self.probability)

    def _why_not_calibrated(self):
        if self._will_be_calibrated():
            return super()._why_not_calibrated()
        return (
            "C is given, so that no rows are held out to learn them from. Fit it with probability=True, which trains "
            'a model for each of cv folds, or with C="cv"'
        )

    def _fit_scaler(self, X, weights):
        if self.scale is None:
            return None
        if self.scale == "minmax" and is_sparse(X):
            raise ValueError("scale='minmax' would make sparse data dense: use scale='maxabs'")
        scaler = MaxAbsScaler() if self.scale == "maxabs" else MinMaxScaler(feature_range=(-1, 1))
        return fit_scaler(scaler, X, weights)

    def _scaled(self, X):
        if self.scaler_ is None:
            return X
        return X.map(partial(scaled, self.scaler_)) if isinstance(X, RowsElsewhere) else scaled(self.scaler_, X)

    def _make_projection(self):
        """Return an unfitted projection with a seed of its own, so that every fold draws the same signs."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        if self.selection == "boosted":
            cv = "auto" if isinstance(self.cv, Integral) and self.cv == 5 else self.cv
            n_components = self.n_components
            if isinstance(n_components, str) and n_components == "auto":
                n_components = max(LEARNED[2], DISTILLED_PER_CLASS * len(self.classes_))
            return BoostedISRHT(
                n_components, cv=cv, scoring=self.scoring, scaled=False, random_state=seed, n_jobs=self.n_jobs
            )
        return self._selected_columns(class_weight=self._projection_class_weight(), random_state=seed)

    def _selected_columns(self, **others):
        """Return an unfitted projection that selects columns, with the parameters of the classifier and others."""
        names = ("n_components", "selection", "balance", "center", "replace", "sketch_size", "n_score_samples")
        return ISRHT(n_jobs=self.n_jobs, **{name: getattr(self, name) for name in names} | others)

    def _fit_projection(self, projection, X, told):
        """Fit the projection. Boosted columns have no parameter for class weights, which go into those of the rows."""
        if self.selection == "boosted":
            if self.blend and isinstance(X, RowsElsewhere):
                raise ValueError("blend=True needs rows in memory: it trains an SVM on all features in every fold")
            weighted = weighted_rows(self.class_weight, told.labels, told.weights)
            wish = self._calibration_wish(told.labels, told.weights, weighted)
            return projection.fit_checked(X, told.labels, weighted, wish, told.groups)
        return projection.fit_checked(X, told.labels.numbered(), told.weights)

    def _calibration_wish(self, labels, weights, weighted):
        """Return what the calibration of boosted columns is to be for.

        Its weights are those of the samples, in units of their own; boosting knows them times those of the classes.
        """
        C_factor = 1.0 if self.C == "cv" else float(self.C)
        if self.class_weight is None:
            return CalibrationWish(C_factor, keeps_scores=bool(self.blend), moves_cut=self._moves_cut())
        factors = trained_class_factors(self.class_weight, labels, weights)
        unit = typical_weight(weighted) / typical_weight(weights)
        return CalibrationWish(C_factor, factors, unit, bool(self.blend), self._moves_cut())

    def _moves_cut(self):
        """Say whether the intercept may be moved to where the score that is asked for is best."""
        is_accuracy = self.scoring is None or (isinstance(self.scoring, str) and self.scoring == "accuracy")
        return bool(self.fit_intercept) and len(self.classes_) == 2 and not is_accuracy

    def _move_cut(self, svm, cut, factor=1.0):
        """Move the intercept of an SVM, whose scores are multiplied by a factor, so that zero is at the cut."""
        if self.C == "cv":
            self._best_of(self.Cs_, cut.fold_scores[None])
        if cut.at != 0:
            svm.intercept_ = svm.intercept_ - cut.at / factor
            curve = self.calibration_
            self.calibration_ = Calibration(curve.slope, curve.offsets + curve.slope * cut.at)

    def _follow_held_out_rows(self, X, Z, told):
        """Add an SVM on all features, in the share that held-out rows choose, and move the intercept as they want it.

        Neither is done if the labels look like noise.
        """
        self.all_features_svm_, self.blend_factors_, self.blend_share_ = None, None, 0.0
        if self.selection != "boosted":
            return
        known, cut = self.projection_.take_findings()
        chosen = None
        if known is not None and self.projection_.has_signal_:
            chosen = choose_blend(known, self._judge(told))
            self.calibration_, self.blend_share_, cut = chosen.calibration, chosen.share, chosen.cut
        if self.blend_share_ > 0:
            svm = LinearSVM(chosen.C, **self._svm_options()).fit_checked(X, told.labels, told.weights)
            weights = np.ones(len(told.labels))
            if told.weights is not None or self.class_weight is not None:
                weights = weighted_rows(self.class_weight, told.labels, told.weights)
            pairs = ((self.svm_, Z), (svm, X))
            spreads = [spread(linear_scores(rows, own.coef_, own.intercept_)[0], weights) for own, rows in pairs]
            self.all_features_svm_, self.blend_factors_ = svm, np.array(factors_of(chosen.share, *spreads))
        if cut is not None:
            moved = (self.svm_, 1.0) if self.all_features_svm_ is None else (svm, self.blend_factors_[1])
            self._move_cut(moved[0], cut, moved[1])

    def _judge(self, told):
        """Return how blends are judged: by the score that is maximised."""
        factors = np.ones(told.labels.n_classes)
        if self.class_weight is not None:
            factors = trained_class_factors(self.class_weight, told.labels, told.weights)
        score = score_of_scores(held_out_scorer(self, self.scoring), self.classes_)
        return Judge(score, self._solver_options(), factors, self._moves_cut())

    def _projection_class_weight(self):
        """Return class weights by class number, because class numbers are what the projection gets for labels."""
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        return {code: self.class_weight.get(label, 1.0) for code, label in enumerate(self.classes_.tolist())}

    def _weight_unit(self, weights):
        """Return the unit in which weights count in the SVM: 1 for a given C, which has LIBLINEAR's meaning."""
        if self.selection == "boosted":
            return self.projection_.weight_unit_
        return typical_weight(weights) if self.C == "cv" else 1.0

    def _svm_options(self):
        names = ("fit_intercept", "penalize_intercept", "class_weight", "tol", "max_iter", "n_jobs")
        return {name: getattr(self, name) for name in names}

    def _choose_C(self, projection, X, Z, told):
        """Return C, given or chosen on held-out rows, and keep what these rows say: scores of a choice, calibration.

        ``projection`` is not fitted yet; ``Z`` are the rows of ``X``, projected by one that was fitted to all of them.
        """
        if self.selection == "boosted":
            return self._take_over_choice()
        self.calibration_ = None
        if self.C != "cv" and not self.probability:
            return self.C
        Cs, unit = checked_Cs(self.Cs if self.C == "cv" else self.C), 1.0
        if self.C != "cv":
            unit = typical_weight(told.weights)  # weights of a choice are in units already
        if RULES[self.selection].sees_labels and not self.project_once:
            scores, self.calibration_ = ColumnSearch(self, projection, X, told).scores(Cs, unit)
        else:
            search = LinearSVMCV(unit * Cs, cv=self.cv, scoring=self.scoring, refit=False, **self._svm_options())
            search.fit_checked(Z, told.labels, told.weights, told.groups)
            scores, self.calibration_ = search.scores_, search.calibration_
        return self._best_of(Cs, scores) if self.C == "cv" else self.C

    def _take_over_choice(self):
        """Return the C that was chosen with boosted columns, times a given one; take over what was found with it."""
        self.calibration_, C = self.projection_.calibration_, self.projection_.C_
        if self.C != "cv":
            return float(self.C * C)
        scores = self.projection_.fold_scores_
        return self._best_of(np.array([C]), np.array([scores if len(scores) else [np.nan]]))

    def _best_of(self, Cs, scores):
        """Keep the scores (Cs, folds), and return the C of the best mean."""
        self.Cs_, self.scores_ = Cs, scores
        self.mean_scores_, self.std_scores_ = scores.mean(axis=1), scores.std(axis=1)
        return float(Cs[np.argmax(self.mean_scores_)])

    def _on_features(self):
        """Return the weights and intercepts of the whole model on the original features."""
        coef, intercept = weights_of_features(self.projection_, self.svm_.coef_, self.svm_.intercept_)
        if self.all_features_svm_ is not None:
            boosted, svm = self.blend_factors_
            coef = boosted * coef + svm * self.all_features_svm_.coef_
            intercept = boosted * intercept + svm * self.all_features_svm_.intercept_
        if isinstance(self.scaler_, MinMaxScaler):
            intercept += coef @ self.scaler_.min_
            coef = coef * self.scaler_.scale_
        elif isinstance(self.scaler_, MaxAbsScaler):
            coef = coef / self.scaler_.scale_
        return coef, intercept


def _equal(value, default):
    """Say whether a parameter is what it is by default; values that can be neither equal nor different are not."""
    try:
        return value is default or bool(np.array_equal(value, default))
    except (TypeError, ValueError):
        return False
