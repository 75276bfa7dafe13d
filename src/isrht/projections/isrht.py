"""ISRHT: the subsampled randomized Hadamard transform that looks at the data before it keeps columns.

``R = D H S``: random signs D, the Walsh-Hadamard rotation H, and r kept columns S. The plain SRHT keeps columns
blindly; the paper keeps those of large norm, or those that hold the classes apart. The flow of :meth:`ISRHT.fit` is
that of the package: rotate and measure (:mod:`isrht.projections.statistics`), score (:mod:`isrht.projections.scores`),
select (:mod:`isrht.projections.selection`); :meth:`ISRHT.transform` projects (:mod:`isrht.transform.rotation`). The
rotated data never exist.
"""

from __future__ import annotations

from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isrht.projections._choice import RULES, chosen_columns, needs_squares, needs_statistics, weighted_mean
from isrht.projections._scored_rows import sampled_rows
from isrht.projections.embedding import SparseEmbedding
from isrht.projections.selection import ScoreHistogram, score_histogram
from isrht.projections.statistics import measure
from isrht.rows.blocks import RowsElsewhere
from isrht.rows.entry import as_rows, fitted_rows, rows_to_fit
from isrht.rows.labels import CodedLabels, in_memory
from isrht.rows.values import derived
from isrht.rows.weights import check_class_weight, checked_sample_weight
from isrht.support.doc_links import DocLinkMixin
from isrht.support.hints import Array, ArrayOrLazy, ClassWeight, Labels, RandomState, Rows, Selection, Weights
from isrht.support.progress import CallbackSupportMixin, shows_progress
from isrht.support.threads import one_blas_thread
from isrht.support.validation import (
    MOST_COMPONENTS,
    check_n_components,
    check_n_jobs,
    check_positive_integer,
    check_positive_number,
    checked_components,
    checked_data,
    checked_finite,
    resolved_n_components,
    whole_or_unchanged,
)
from isrht.transform.lengths import next_power_of_two
from isrht.transform.rotation import Rotation
from isrht.transform.signs import random_signs

# Statistics of all folds and classes that are held at once: 256 MB.
FOLD_ELEMENTS = 2**25


def _scores_all_rows(estimator):
    """Say whether ``partial_fit`` can serve: a sample of the rows can be drawn only where all rows are known."""
    if estimator.n_score_samples is not None:
        raise AttributeError(f"n_score_samples={estimator.n_score_samples!r} needs all rows at once: use fit")
    return True


class ISRHT(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, DocLinkMixin, BaseEstimator):
    """Improved subsampled randomized Hadamard transform (Lei & Lan, AAAI 2020).

    Parameters
    ----------
    n_components : int, float or "auto", default="auto"
        How many columns to keep, at most the padded width (the next power of two of the number of features). "auto"
        keeps 256, or all columns if there are fewer. A float between 0 and 1 keeps the smallest number of columns that
        holds this share of the scores.
    selection : {"uniform", "importance", "top", "supervised"}, default="supervised"
        Which columns to keep: "uniform" is the plain SRHT; "importance" draws in proportion to squared column
        norms (ISRHT-nps); "top" keeps the largest norms (ISRHT-top-r); "supervised" keeps the columns in which
        classes are farthest apart and members of a class closest together, and needs ``y``.
    balance : float, default=1.0
        The paper's ``a``: weight of the distances between classes against those within ("supervised").
    class_weight : {None, "balanced"} or dict, default=None
        Weight of the rows of each class in the statistics; "balanced" gives all classes equal mass. With two
        classes and ``balance=1``, "balanced" makes the sums of squares cancel: class sums suffice, and fitting
        sparse data takes O(nnz).
    center : bool, default=False
        Score and project centred data. X itself is never centred, and sparse X stays sparse.
    replace : bool, default=True
        Whether "importance" draws with replacement and rescales, as the paper says; without, it does neither, as
        the authors' code does.
    sketch_size : int or "paper", default=None
        Put a count sketch of this size in front: the paper's way with sparse data ("paper" is twice
        ``n_components``). Not needed for sparse data here: None projects them exactly.
    n_score_samples : int, default=None
        Score the columns on so many rows, drawn at random, equally many of each class where ``y`` is given.
    random_state : int, RandomState instance or None, default=None
        Draws the signs, the columns and the rows to score on. The same seed gives the same model whatever the
        number of jobs, the kernels, and the blocks of :meth:`partial_fit`.
    n_jobs : int, default=None
        Threads, as in scikit-learn: None is 1, -1 all cores.
    verbose : int, default=0
        1 shows how far the fit is, on standard error: a bar in a notebook or on a terminal, lines elsewhere.

    Attributes
    ----------
    signs_ : ndarray of shape (n_features,), int8
        The diagonal of D (of the sketched features if there is a sketch).
    selected_columns_ : ndarray of shape (n_components_,)
        The kept columns, increasing; "importance" with replacement may repeat one.
    column_scales_ : ndarray of shape (n_components_,)
        Their factors. Together with ``selected_columns_`` this is S.
    column_scores_ : ndarray of shape (n_features_padded_,)
        What they were selected by; higher is better ("supervised" stores -b of eq. 11).
    score_histogram_ : ScoreHistogram or None
        How they are spread; it is kept in model files, where the scores themselves are not.
    selection_probabilities_ : ndarray of shape (n_features_padded_,) or None
        The probabilities p, where columns are drawn.
    statistics_ : ColumnStatistics or None
        Sums over the training rows, per class, mergeable; None where nothing had to be measured.
    n_components_, n_features_padded_, n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has string column names
    mean_ : ndarray of shape (n_features,) or None
        With ``center=True``, the mean that is subtracted (of the sketched features if there is a sketch).
    embedding_ : SparseEmbedding or None
        The sketch.

    Notes
    -----
    Cost, for n rows, d features and r columns: dense data are rotated in O(n d log d), fused, in blocks that stay in
    the cache. Sparse data are projected in O(nnz r / 16) vector steps and measured either by pairs of nonzeros,
    O(sum of nnz_i**2 / 2), or rotated in dense blocks, O(n d log d), whichever is less; class sums take O(nnz).
    Beyond input and output, memory is O(block + K d) for K classes. The fitted projection without statistics and
    scores, ``nbytes``, is O(d + r).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from isrht import ISRHT
    >>> X, y = load_digits(return_X_y=True)
    >>> ISRHT(16, random_state=0).fit(X, y % 2).transform(X).shape
    (1797, 16)
    """

    signs_: Array
    statistics_: Any
    n_features_padded_: int
    n_features_in_: int
    feature_names_in_: Array
    embedding_: SparseEmbedding | None

    def __init__(
        self,
        n_components: float | Literal["auto"] = "auto",
        *,
        selection: Selection = "supervised",
        balance: float = 1.0,
        class_weight: ClassWeight = None,
        center: bool = False,
        replace: bool = True,
        sketch_size: int | Literal["paper"] | None = None,
        n_score_samples: int | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.selection = selection
        self.balance = balance
        self.class_weight = class_weight
        self.center = center
        self.replace = replace
        self.sketch_size = sketch_size
        self.n_score_samples = n_score_samples
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @whole_or_unchanged
    @shows_progress
    def fit(self, X: Rows, y: Labels = None, sample_weight: Weights = None) -> Self:
        """Draw the signs, measure the rotated columns of X and select.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), RowSource or Dask collection
        y : array of shape (n_samples,), default=None
            Class labels. They are needed by "supervised" and by ``class_weight``, and ignored otherwise.
        sample_weight : array of shape (n_samples,), default=None
            A row of weight 2 counts as two rows in the statistics, one of weight 0 not at all.

        Returns
        -------
        ISRHT
        """
        X, labels = self._validate(X, y, reset=True)
        return self.fit_checked(X, labels, checked_sample_weight(sample_weight, X))

    def fit_checked(self, X, labels=None, weights=None):
        """Fit rows, coded labels and weights that have been checked, for an estimator that has them already."""
        labels = labels if self._needs_labels() else None
        rng = self._start(X)
        if self.n_score_samples is not None:
            X, labels, weights = sampled_rows(X, labels, weights, self.n_score_samples, rng)
        with one_blas_thread():
            return self._keep_measured(self._measure(X, labels, weights))

    def _keep_measured(self, statistics):
        self.statistics_ = statistics
        self._check_classes()
        self._selected = self._select()
        return self

    def fit_folds(self, X, labels, folds, weights=None):
        """Return one fitted copy per fold, from its training rows, where one pass over X can serve all; else None.

        Where every row is held out once, the statistics of what each fold holds out are the parts of which those of
        all training sets are sums: the rows are measured once, and not once per fold.
        """
        n_classes, numbers = labels.n_classes, folds.numbers
        size = len(folds) * n_classes * 2 * next_power_of_two(X.shape[1])
        if numbers is None or self.n_score_samples is not None or size > FOLD_ELEMENTS:
            return None
        cells = derived(lambda codes, numbers: codes + numbers * np.int64(n_classes), labels.codes, numbers)
        cells = CodedLabels(np.arange(len(folds) * n_classes), cells)
        model = clone(self)
        model._start(X)
        measured = model._measure(X, cells, weights, range(n_classes))
        copies = [clone(self) for _ in range(len(folds))]
        for k, copy in enumerate(copies):
            copy._start(X)
            copy._keep_measured(measured.without_fold(k, n_classes))
        return copies

    @available_if(_scores_all_rows)
    @whole_or_unchanged
    def partial_fit(
        self, X: Rows, y: Labels = None, classes: ArrayLike | None = None, sample_weight: Weights = None
    ) -> Self:
        """Add the rows of one block to the statistics. Columns are selected anew when they are next needed.

        The parameters are those that the estimator had at the first block. There is no such method with
        ``n_score_samples``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), default=None
            Class labels of the rows of the block, as :meth:`fit` takes them.
        classes : array of shape (n_classes,), default=None
            All labels that will come; without it, they are learned as they come.
        sample_weight : array of shape (n_samples,), default=None
            Weights of the rows of the block, as :meth:`fit` takes them.

        Returns
        -------
        ISRHT
        """
        first = not hasattr(self, "signs_")
        if not first and self._selected is not None and self._selected.scores is None:
            raise ValueError("a model from a file has no statistics to add to: use fit instead of partial_fit")
        X, labels = self._validate(X, y, reset=first)
        weights = checked_sample_weight(sample_weight, X)
        if first:
            self._start(X)
        if classes is not None and labels is not None:
            _check_known(labels.classes, classes)
        statistics = self._measure(X, labels, weights, classes)
        known = getattr(self, "statistics_", None)
        self.statistics_ = statistics if known is None else known.merge(statistics)
        self._selected = None
        return self

    def transform(self, X: Rows) -> ArrayOrLazy:
        """Project the rows of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features), RowSource or Dask collection

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            It is dense, also where X is sparse; of a Dask collection it is a lazy Dask array.
        """
        check_is_fitted(self)
        if (rows := fitted_rows(self, X)) is not None:
            return rows.collect(self.project, self.n_jobs)
        return self.project(checked_data(self, X, reset=False))

    def project(self, X):
        """Project an array or CSR matrix that has been checked, as :meth:`transform` does."""
        projected = self._rotation.project(self._front(X), self.selected_columns_, self.column_scales_, self.n_jobs)
        if self.mean_ is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                projected -= self.offsets_.astype(projected.dtype)
        return checked_finite(projected)

    def inverse_transform(self, X: Rows) -> Array:
        """Go back to the features by the least-squares inverse of the projection (and add the mean again).

        Of all rows that project to a row of X this is the one of smallest norm, or nearest to the mean:
        ``transform(inverse_transform(Z))`` is Z, up to rounding, for every Z that :meth:`transform` can give, and
        ``inverse_transform(transform(X))`` is the orthogonal projection of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_components_)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        Z = checked_components(X, self.n_components_)
        with np.errstate(over="ignore", invalid="ignore"):
            back = self.to_features((Z @ self._inverse_of_gram()).astype(Z.dtype, copy=False))
            if self.mean_ is not None:
                back += self._mean_of_features().astype(back.dtype)
        return checked_finite(back)

    def _inverse_of_gram(self):
        """Return the pseudo-inverse of ``R'R``, which has no inverse where there are more columns than features."""
        gram = self._gram()
        return np.linalg.pinv(gram, rcond=len(gram) * np.finfo(gram.dtype).eps, hermitian=True)

    def _gram(self):
        """Return the products of the kept columns with each other, as they are on the features: ``R'R``, (r, r)."""
        if self.embedding_ is None:
            return self._rotation.gram(self.selected_columns_, self.column_scales_)
        columns = self._rotation.project_back(np.eye(self.n_components_), self.selected_columns_, self.column_scales_)
        return (columns * self.embedding_.component_sizes) @ columns.T

    def _mean_of_features(self):
        return self.mean_ if self.embedding_ is None else self.embedding_.inverse_transform(self.mean_[None])[0]

    def to_features(self, weights):
        """Turn weights of components into weights of features.

        ``transform(X) @ w.T == X @ to_features(w).T - offsets_ @ w.T``.
        """
        back = self._rotation.project_back(weights, self.selected_columns_, self.column_scales_)
        return back if self.embedding_ is None else self.embedding_.to_features(back)

    @property
    def selected_columns_(self) -> Array:
        return self._selection.columns

    @property
    def column_scales_(self) -> Array:
        return self._selection.scales

    @property
    def column_scores_(self) -> Array | None:
        return self._selection.scores

    @property
    def score_histogram_(self) -> ScoreHistogram | None:
        """How the scores are spread, over all columns and the kept ones: what a model file keeps of them."""
        return score_histogram(self._selection)

    @property
    def selection_probabilities_(self) -> Array | None:
        return self._selection.probabilities

    @property
    def mean_(self) -> Array | None:
        self._ensure_selected()
        return self._mean

    @property
    def offsets_(self) -> Array | None:
        """What is subtracted from each component: the projected mean, or zero without ``center``."""
        if self.mean_ is None:
            return np.zeros(self.n_components_)
        return self._rotation.project(self.mean_[None], self.selected_columns_, self.column_scales_)[0]

    @property
    def n_components_(self) -> int:
        return len(self._selection.columns)

    @property
    def _n_features_out(self):
        return self.n_components_

    @property
    def nbytes(self) -> int:
        """Bytes of the projection itself: signs, columns, scales, and the sketch and mean if there are any."""
        arrays = [self.signs_, self.selected_columns_, self.column_scales_]
        if self.embedding_ is not None:
            arrays += [self.embedding_.components_, self.embedding_.signs_]
        if self.mean_ is not None:
            arrays.append(self.mean_)
        return sum(array.nbytes for array in arrays)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = _sees_labels(self.selection)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _selection(self):
        self._ensure_selected()
        return self._selected

    def _ensure_selected(self):
        """Select when it is first needed after the last block."""
        if not hasattr(self, "signs_"):
            raise AttributeError(f"{type(self).__name__} is not fitted yet")
        if self._selected is None:
            self._check_classes()
            self._selected = self._select()

    @property
    def _rotation(self):
        return Rotation(self.signs_)

    def _validate(self, X, y, reset):
        """Check parameters and data; labels are None where no class is needed."""
        self.check_parameters()
        needs_labels = self._needs_labels()
        if (rows := as_rows(X)) is not None:
            return rows_to_fit(self, rows, y, needs_labels=needs_labels, reset=reset)
        X = checked_data(self, X, y if needs_labels else "no_validation", reset=reset)
        if not needs_labels:
            return X, None
        if y is None:
            raise ValueError(f"class_weight={self.class_weight!r} requires y to be passed, but the target y is None")
        X, labels = X
        return X, in_memory(labels)

    def _needs_labels(self):
        return _sees_labels(self.selection) or self.class_weight is not None

    def check_parameters(self) -> None:
        """Raise the error that ``fit`` would raise for a parameter that is wrong whatever the data are."""
        if not isinstance(self.selection, str) or self.selection not in RULES:
            raise ValueError(f"selection must be one of {', '.join(map(repr, RULES))}, got {self.selection!r}")
        if isinstance(self.n_components, Real) and not isinstance(self.n_components, Integral):
            if not 0 < self.n_components < 1:
                raise ValueError(f"n_components as a float must lie between 0 and 1, got {self.n_components!r}")
        else:
            check_n_components(self.n_components)
        check_positive_number("balance", self.balance)
        check_n_jobs(self.n_jobs)
        check_class_weight(self.class_weight)
        if self.n_score_samples is not None:
            check_positive_integer("n_score_samples", self.n_score_samples)
        if self.sketch_size not in (None, "paper"):
            check_positive_integer("sketch_size", self.sketch_size, MOST_COMPONENTS)
        if self.sketch_size == "paper" and isinstance(self.n_components, Real) and self.n_components < 1:
            raise ValueError(f"sketch_size='paper' needs an integer n_components, got {self.n_components!r}")

    def _start(self, X):
        """Draw everything random, once, and remember the parameters: changed later, they must not change the model."""
        rng = check_random_state(self.random_state)
        self.n_features_in_ = X.shape[1]
        self._settings = SimpleNamespace(**self.get_params(deep=False))
        self.embedding_ = self._make_embedding(X, rng)
        n_features = X.shape[1] if self.embedding_ is None else self.embedding_.n_components_
        self.signs_ = random_signs(rng, n_features)
        self.n_features_padded_ = self._rotation.length
        if isinstance(self.n_components, Integral) and self.n_components > self.n_features_padded_:
            raise ValueError(
                f"n_components={self.n_components} is more than the padded width {self.n_features_padded_} "
                f"of the data (n_features={n_features})"
            )
        self._seed = rng.randint(2**31 - 1)
        self.statistics_ = None
        self._selected = None
        return rng

    def _make_embedding(self, X, rng):
        if self.sketch_size is None:
            return None
        size = self.sketch_size
        if size == "paper":
            size = 2 * resolved_n_components(self.n_components, next_power_of_two(X.shape[1]))
        nothing = sp.csr_array((1, X.shape[1]))  # the sketch depends on the number of features alone
        return SparseEmbedding(size, random_state=rng.randint(2**31 - 1)).fit(nothing)

    def _front(self, X):
        if self.embedding_ is None:
            return X
        if isinstance(X, RowsElsewhere):
            return X.map(self.embedding_.project, self.embedding_.n_components_)
        return self.embedding_.project(X)

    def _measure(self, X, labels, weights, classes=None):
        """Return the column statistics of the rows of X, or None where nothing is needed of them."""
        settings = self._settings
        if not needs_statistics(settings):
            return None
        n_classes = 1 if labels is None else labels.n_classes
        n_classes = n_classes if classes is None else len(classes)
        return measure(
            self._front(X),
            labels,
            self._rotation,
            sample_weight=weights,
            with_squares=needs_squares(settings, n_classes),
            n_jobs=self.n_jobs,
        )

    def _check_classes(self):
        selection = self._settings.selection
        if _sees_labels(selection) and len(self.statistics_.classes) < 2:
            only = self.statistics_.classes[0]
            raise ValueError(f'selection="{selection}" needs at least two classes, but y holds one class: {only}')

    def _select(self):
        settings, rng = self._settings, check_random_state(self._seed)
        self._mean = weighted_mean(settings.class_weight, self.statistics_) if settings.center else None
        return chosen_columns(settings, self.statistics_, self._rotation, rng)


def _sees_labels(selection):
    """Say whether a selection is known and made with the labels. A wrong one is an error only of ``fit``."""
    return isinstance(selection, str) and selection in RULES and RULES[selection].sees_labels


def _check_known(labels, classes):
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(f"y holds labels that are not in classes: {unknown[:5].tolist()}")
