"""Beyond the paper: diagonals that learn, and columns that work on what the others left unexplained.

The paper draws the signs D blindly and picks columns once. :class:`BoostedISRHT` keeps the structure ``R = D H S`` and
changes two things. The diagonal is learned: ``z_k``, how many standard errors the gradient of feature k is away from
zero, soft-thresholded, so that column 0 of H points along the class signal instead of cancelling it. And columns come
in rounds: each takes the residual of a small SVM on the columns so far as its labels (:mod:`isrht.learned_columns`).
How many rounds, which diagonal and which C is chosen on rows that the diagonals have not seen (:mod:`isrht.held_out`).

Several classes learn more columns than were asked for, which are then distilled to those that their SVMs use.
Components beyond the learned ones are Walsh contrasts of the same diagonals: other columns of H, along which the
gradient is largest. They are weighted down, so that they may correct the learned columns but not outvote them.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isrht.blocks import RowBlocks
from isrht.by_feature import ByFeature, worth_storing_by_feature
from isrht.coded_labels import check_two_classes, in_memory
from isrht.feature_moments import measure_features
from isrht.folds import check_classes_of_folds, held_out_fifths, make_folds, usable_folds
from isrht.hadamard import next_power_of_two
from isrht.held_out import CAUTIOUS_C, ROUND_GRID, Choice, Search
from isrht.learned_columns import Candidate, Path, grow, solve
from isrht.learned_rows import all_rows
from isrht.newton import one_blas_thread
from isrht.rotation import Rotation
from isrht.row_weights import in_units, typical_weight
from isrht.sources import as_rows, validate_rows
from isrht.validation import (
    check_n_jobs,
    check_positive_integer,
    checked_data,
    checked_finite,
    checked_sample_weight,
    whole_or_unchanged,
)

DIAGONALS = ("auto", "standard", "z", "signs")
# In this order: among equals the later one is preferred, and the last is the cautious one.
KINDS = {"auto": ("standard", "z"), "standard": ("standard",), "z": ("z",), "signs": ("signs",)}
THRESHOLDS = (0.0, 2.0)
# Learned columns for two classes and for three, how many per class where that is more, and the most rounds for them.
LEARNED = {2: 16, 3: 32}
LEARNED_PER_CLASS = 6
# Several classes learn at least so many columns each, which are distilled to as many as were asked for.
DISTILLED_PER_CLASS = 3
MOST_ROUNDS = 32
# A contrast weighs this much of a learned column, and all of them together at most four such.
CONTRAST_WEIGHT = 0.1
CONTRASTS_TOGETHER = 0.4
# Dense rows are multiplied by the projection as a matrix while it has at most so many elements.
MATRIX_ELEMENTS = 2**24
# Factors of features below this, or above its inverse, would lose digits in float32.
SMALLEST_FACTOR = 1e-25


class BoostedISRHT(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Columns of Hadamard transforms whose diagonals are learned from the labels, round by round.

    Parameters
    ----------
    n_components : int, default=16
        The number of columns. At most 16 of them are learned (32 for three to five classes, six per class for more);
        the rest are Walsh contrasts. With several classes, and at least as many columns, three per class are learned
        and distilled to these.
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
        What is held out to choose. "auto": stratified fifths, held out in turn until 12,500 rows have been, so that
        from there on one fifth serves.
    scaled : bool, default=True
        Multiply the columns by the root of ``C_``, so that a linear model with C=1 is about as cautious on them as the
        SVM that was chosen. That SVM itself is ``LinearSVM(C_)`` on columns that are not scaled: the two differ in how
        free the intercept is, which tells with many classes and few rows.
    random_state : int, RandomState instance or None, default=None
        Draws the fifths. Nothing else is random.
    n_jobs : int, default=None
        Threads. The model does not depend on it.

    Attributes
    ----------
    rounds_, threshold_, diagonal_ : int, float, str
        What was chosen, or given.
    C_ : float
        The C that was chosen, for columns that are not scaled, in units in which the mean squared row is 1. It is not
        to be cross-validated on the columns again.
    held_out_score_ : float
        The accuracy on held-out rows of what was chosen: an honest estimate, up to the choice among few.
    fold_scores_ : ndarray of shape (n_folds,)
        The same in each fold.
    has_signal_ : bool
        Whether the held-out scores were correlated with the labels beyond chance.
    weight_unit_ : float
        What counts as one row: the typical weight, 1 without weights. ``C_`` is for weights divided by it.
    diagonals_ : ndarray of shape (n_learned_, n_features)
        D_1 ... D_T.
    mixing_ : ndarray of shape (n_learned_, n_learned_)
        A, triangular: learned column t is ``mixing_[t] @ diagonals_``, times its scale.
    selected_columns_, column_rounds_, column_scales_ : ndarrays of shape (n_components_,)
        The column of H, whose diagonal, and the factor of every component. The learned ones, column 0 each, come first.
    mean_ : ndarray of shape (n_features,)
        The mean of the features, which is subtracted. ``transform`` needs only its projection, ``offsets_``.
    classes_ : ndarray of shape (n_classes,)
    n_learned_, n_components_, n_features_padded_, n_features_in_ : int
        ``n_components_`` is less than ``n_components`` where there are not so many columns: ``n_learned_`` diagonals
        have ``n_features_padded_`` columns each.
    feature_names_in_ : ndarray of str, where X has string column names

    Notes
    -----
    A round is two passes over the rows, O(nnz) each, shared by all candidates and folds, and O(d) work on the
    features. Beyond the data, ``fit`` holds O(d) totals, one diagonal in float32 per round, candidate and fold, and of
    each row the columns learned so far: in memory, or where the rows are (:mod:`isrht.learned_rows`). Sparse rows with
    more features than rows are stored once more, by feature.

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

    def __init__(
        self,
        n_components=16,
        *,
        rounds="auto",
        threshold="auto",
        diagonal="auto",
        cv="auto",
        scaled=True,
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.rounds = rounds
        self.threshold = threshold
        self.diagonal = diagonal
        self.cv = cv
        self.scaled = scaled
        self.random_state = random_state
        self.n_jobs = n_jobs

    @whole_or_unchanged
    def fit(self, X, y=None, sample_weight=None):
        """Choose diagonal, rounds and C on held-out rows, then learn the columns from all rows.

        A row of weight 2 counts as two rows, one of weight 0 not at all, in the columns and in the held-out scores,
        among rows of weight 1. A constant factor on all weights changes nothing: they are divided by ``weight_unit_``.
        """
        self._check_parameters()
        X, labels, weights = self._validate(X, y, sample_weight)
        self.weight_unit_ = typical_weight(weights)
        weights = in_units(weights, self.weight_unit_)
        counts = usable_folds(self._folds(X, labels).counts(), weights)
        check_classes_of_folds(counts[0], labels, weights)
        X = ByFeature(X) if worth_storing_by_feature(X) else X
        with one_blas_thread():
            choice = self._choose(X, labels.codes, counts, weights)
            features, path = self._learn(X, labels.codes, weights, choice)
        self._keep(choice, features, path)
        return self

    def transform(self, X):
        """Project the rows of X, dense or sparse, to a dense array (n_samples, n_components_)."""
        check_is_fitted(self)
        if (rows := as_rows(X)) is not None:
            validate_rows(self, rows, needs_labels=False, reset=False)
            return rows.collect(self.project, self.n_jobs)
        return self.project(checked_data(self, X, reset=False))

    def project(self, X):
        """:meth:`transform` of an array or CSR matrix that has been checked."""
        with np.errstate(over="ignore", invalid="ignore"):
            projected = self._project(X if self._fits(X.dtype) else X.astype(np.float64))
            projected -= self.offsets_.astype(projected.dtype)
            projected = projected.astype(X.dtype, copy=False)
        return checked_finite(projected)

    def _fits(self, dtype):
        """Say whether the diagonals can be had in ``dtype``: features of tiny or huge values have huge or tiny ones."""
        units = np.array([1.0]) if self._units is None else self._units
        sizes = self._row_scale * np.array([units.min() / self._norms.max(), units.max() / self._norms.min()])
        return dtype == np.float64 or (sizes.min() > SMALLEST_FACTOR and sizes.max() < 1 / SMALLEST_FACTOR)

    def fold(self, weights):
        """Weights on components as weights on features: ``transform(X) @ w`` is ``X @ fold(w)`` up to a constant."""
        weights = np.asarray(weights) * self.column_scales_
        learned = weights[:, : self.n_learned_] @ self.mixing_
        folded = np.zeros((len(weights), self.n_features_in_))
        for t, rotation, mine in self._rounds():
            columns = np.concatenate([[0], self.selected_columns_[mine]])
            pulls = np.column_stack([learned[:, t], weights[:, mine]])
            folded += rotation.project_back(pulls, columns, self._unnormalised(len(columns)))
        return folded

    @property
    def diagonals_(self):
        return np.stack([self._diagonal(t) for t in range(self.n_learned_)])

    @property
    def n_components_(self):
        return len(self.selected_columns_)

    @property
    def _n_features_out(self):
        return self.n_components_

    @property
    def nbytes(self):
        """Bytes of what ``transform`` needs: diagonals and their units, A, columns, scales and offsets."""
        arrays = [self._stored, self._support, self._units, self.mixing_, self.selected_columns_, self.column_rounds_]
        arrays += [self.column_scales_, self.offsets_]
        return sum(array.nbytes for array in arrays if array is not None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_parameters(self):
        check_positive_integer("n_components", self.n_components)
        check_n_jobs(self.n_jobs)
        if self.rounds != "auto":
            check_positive_integer("rounds", self.rounds)
        if self.diagonal not in DIAGONALS:
            raise ValueError(f"diagonal must be one of {', '.join(map(repr, DIAGONALS))}, got {self.diagonal!r}")
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

    def _validate(self, X, y, sample_weight):
        if (rows := as_rows(X)) is not None:
            X, labels = rows, validate_rows(self, rows, y)
        else:
            X, y = checked_data(self, X, y)
            labels = in_memory(y)
        weights = checked_sample_weight(sample_weight, X)
        self.classes_ = labels.classes
        check_two_classes(self, labels, weights)
        if sp.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X, labels, weights

    def _candidates(self):
        thresholds = THRESHOLDS if self.threshold == "auto" else (float(self.threshold),)
        if self.diagonal == "signs":
            thresholds = (0.0,)
        return [Candidate(kind, threshold) for kind in KINDS[self.diagonal] for threshold in thresholds]

    def _plan(self):
        """Rounds to try, columns to learn at most, and how many in a round."""
        n_classes, wanted = len(self.classes_), self.n_components
        if 2 < n_classes <= self.n_components and self.diagonal != "signs":
            wanted = max(wanted, DISTILLED_PER_CLASS * n_classes)
        n_learned = min(wanted, LEARNED.get(n_classes, max(LEARNED[3], LEARNED_PER_CLASS * n_classes)))
        per_round = -(-n_learned // MOST_ROUNDS)
        if self.rounds != "auto":
            return [self.rounds], min(wanted, self.rounds * per_round), per_round
        most = -(-n_learned // per_round)
        return [rounds for rounds in ROUND_GRID if rounds < most] + [most], n_learned, per_round

    def _folds(self, X, labels):
        if isinstance(self.cv, str) and self.cv == "auto":
            return held_out_fifths(labels, check_random_state(self.random_state).randint(2**31 - 1))
        return make_folds(self.cv, X, labels.numbered())

    def _choose(self, X, codes, counts, weights):
        candidates, (grid, n_columns, per_round) = self._candidates(), self._plan()
        if not counts[0].shape[1]:
            nowhere = np.full((len(candidates), len(grid), 0), np.nan)
            return Choice(candidates[-1], grid[0], CAUTIOUS_C, False, np.empty(0), nowhere, np.nan)
        n_classes = len(self.classes_)
        search = Search(X, codes, n_classes, counts, weights, candidates, grid, n_columns, per_round, self.n_jobs)
        search.run()
        return search.choice(may_be_noise=self.rounds == "auto")

    def _learn(self, X, codes, weights, choice):
        """The columns from all rows. Where no feature passes the threshold, there is none."""
        _, n_columns, per_round = self._plan()
        n_columns = min(n_columns, choice.rounds * per_round)
        rows = all_rows(X, codes, len(self.classes_), weights, n_columns)
        features = measure_features(X, rows, self.n_jobs)
        for threshold in sorted({choice.candidate.threshold, 0.0}, reverse=True):
            candidate = choice.candidate._replace(threshold=threshold)
            path = Path(0, candidate, 0, features, rows.mean_label(0), n_columns, n_contrasts=self.n_components)
            for _ in range(choice.rounds):
                grow(X, rows, features, [path], per_round, self.n_jobs)
            if path.size:
                break
        self.rounds_ = max(1, -(-path.size // per_round))
        if path.size > self.n_components:
            weights = solve(rows, [path], [choice.C], [path.solutions], self.n_jobs)[0].weights[:, :-1]
            path = path.distilled(weights, features, self.n_components)
        return features, path

    def _keep(self, choice, features, path):
        self.diagonal_, self.threshold_ = path.candidate
        self.C_, self.has_signal_ = choice.C, choice.has_signal
        self.held_out_score_, self.fold_scores_ = choice.accuracy, choice.fold_scores
        self.mean_ = features.mean[:, 0]
        self.n_features_padded_ = next_power_of_two(self.n_features_in_)
        self._keep_diagonals(features, path)
        self._keep_columns(path)
        self.offsets_ = self._project(self.mean_[None])[0]

    def _keep_diagonals(self, features, path):
        if not path.size:  # no feature differs between the classes at all: a diagonal of zeros, columns of zeros
            path.size, path.z[0], path.norms[0], path.mixing[0, 0] = 1, 0, 1, 1
            path.contrasts.append(np.arange(1, min(self.n_components, self.n_features_padded_)))
        self.n_learned_ = path.size
        self.mixing_ = np.ascontiguousarray(path.mixing[: path.size, : path.size])
        self._norms = path.norms[: path.size].copy()
        self._units = 1 / features.deviation[:, 0] if self.diagonal_ == "standard" else None
        self._support = np.packbits(path.z[0] != 0) if self.diagonal_ == "signs" else None
        z = path.z[: path.size]
        self._stored = np.packbits(z > 0, axis=1) if self.diagonal_ == "signs" else z.copy()
        self._row_scale = path.row_scale

    def _keep_columns(self, path):
        wanted = self.n_components - self.n_learned_
        each = [len(range(t, wanted, self.n_learned_)) for t in range(self.n_learned_)]
        contrasts = [columns[:count] for columns, count in zip(path.contrasts, each, strict=True)]
        learned = np.arange(self.n_learned_)
        sizes = [len(columns) for columns in contrasts]
        self.selected_columns_ = np.concatenate([np.zeros_like(learned), *contrasts])
        self.column_rounds_ = np.concatenate([learned, np.repeat(learned, sizes)])
        weight = min(CONTRAST_WEIGHT, CONTRASTS_TOGETHER / np.sqrt(max(1, sum(sizes))))
        relative = np.where(np.arange(len(self.selected_columns_)) < self.n_learned_, 1.0, weight)
        self.column_scales_ = relative * (np.sqrt(self.C_) if self.scaled else 1.0) * self._row_scale

    def _diagonal(self, t):
        if self.diagonal_ == "signs":
            positive = np.unpackbits(self._stored[t], count=self.n_features_in_).astype(np.float64)
            used = np.unpackbits(self._support, count=self.n_features_in_)
            return used * (2 * positive - 1) / self._norms[t]
        diagonal = self._stored[t].astype(np.float64) / self._norms[t]
        return diagonal if self._units is None else diagonal * self._units

    def _rounds(self):
        """For each diagonal: its number, its rotation, and which components are its contrasts."""
        contrast = np.arange(self.n_components_) >= self.n_learned_
        for t in range(self.n_learned_):
            yield t, Rotation(self._diagonal(t)), np.flatnonzero(contrast & (self.column_rounds_ == t))

    def _unnormalised(self, count):
        return np.full(count, np.sqrt(self.n_features_padded_))

    def _project(self, X):
        if not sp.issparse(X) and self.n_components_ * self.n_features_in_ <= MATRIX_ELEMENTS:
            return self._multiply(X)
        out = np.empty((X.shape[0], self.n_components_), dtype=X.dtype)
        learned = np.empty((X.shape[0], self.n_learned_), dtype=X.dtype)
        for t, rotation, mine in self._rounds():
            columns = np.concatenate([[0], self.selected_columns_[mine]])
            projected = rotation.project(X, columns, self._unnormalised(len(columns)), self.n_jobs)
            learned[:, t], out[:, mine] = projected[:, 0], projected[:, 1:]
        out[:, : self.n_learned_] = learned @ self.mixing_.T.astype(X.dtype)
        out *= self.column_scales_.astype(X.dtype)
        return out

    def _multiply(self, X):
        matrix = self.fold(np.eye(self.n_components_)).T.astype(X.dtype)

        def multiplied(block):
            with np.errstate(over="ignore", invalid="ignore"):  # also in a thread; project tells
                return block.X @ matrix

        return np.concatenate(list(RowBlocks(X).map(multiplied, self.n_jobs)))
