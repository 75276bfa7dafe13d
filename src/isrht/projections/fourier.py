"""Nonlinear features: random Fourier features by Hadamard rotations, and the best of them by the paper's scores.

A Gaussian kernel ``exp(-gamma |x - y|**2)`` is the expectation of ``2 cos(w.x + b) cos(w.y + b)`` over normal w and
uniform phases b (Rahimi & Recht). Three rounds of random signs and a Walsh-Hadamard transform make all d frequencies of
a block at once, in O(d log d) instead of O(d**2), orthogonal to each other, which approximates the kernel better than
independent ones (Yu et al. 2016). More features than the padded width are further blocks.

This is the paper's first item of future work: draw more features than wanted and keep those in which the classes are
farthest apart and members of a class closest together.
"""

from __future__ import annotations

from numbers import Real
from typing import Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isrht import kernels
from isrht.projections.scores import separation
from isrht.projections.selection import rank
from isrht.rows.blocks import RowBlocks
from isrht.rows.labels import in_memory
from isrht.support.doc_links import DocLinkMixin
from isrht.support.hints import Array, Labels, RandomState, Rows
from isrht.support.matrices import BLOCK_ELEMENTS
from isrht.support.validation import (
    MOST_COMPONENTS,
    check_n_jobs,
    check_positive_integer,
    check_positive_number,
    checked_data,
    checked_finite,
    whole_or_unchanged,
)
from isrht.transform.lengths import next_power_of_two
from isrht.transform.signs import random_signs

ROTATIONS = 3
# Angles are multiplied in float64 where their scale, or its inverse, is less than this.
LEAST_SCALE = 1e-25


class HadamardFourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DocLinkMixin, BaseEstimator):
    """Features of a Gaussian kernel, by stacked signed Walsh-Hadamard rotations.

    Parameters
    ----------
    n_components : int, default=256
        The number of features, which may be more than those of X.
    gamma : float or "scale", default="scale"
        The kernel is ``exp(-gamma * |x - y|**2)``; "scale" is ``1 / (n_features * X.var())``.
    candidates : int, default=1
        Draw so many times ``n_components`` features and keep the best by the supervised score; needs ``y`` above 1.
    balance : float, default=1.0
        The weight of distances between classes in that score, as in :class:`ISRHT`.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None
        Threads; the features do not depend on it.

    Attributes
    ----------
    n_components_ : int
        The number of features that are made.
    signs_ : ndarray of shape (n_blocks, 3, n_features_padded_), int8
    phases_ : ndarray of shape (n_blocks * n_features_padded_,)
    selected_columns_ : ndarray of shape (n_components,)
        Which of the candidates are kept.
    gamma_ : float
    n_features_padded_, n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from isrht import HadamardFourierFeatures, LinearSVM
    >>> X, y = load_digits(return_X_y=True)
    >>> features = HadamardFourierFeatures(512, random_state=0).fit(X)
    >>> model = LinearSVM().fit(features.transform(X[:1000]), y[:1000])
    >>> bool(model.score(features.transform(X[1000:]), y[1000:]) > 0.93)
    True
    """

    signs_: Array
    phases_: Array
    selected_columns_: Array
    gamma_: float
    n_features_padded_: int
    n_features_in_: int
    feature_names_in_: Array

    def __init__(
        self,
        n_components: int = 256,
        *,
        gamma: float | Literal["scale"] = "scale",
        candidates: int = 1,
        balance: float = 1.0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.candidates = candidates
        self.balance = balance
        self.random_state = random_state
        self.n_jobs = n_jobs

    @whole_or_unchanged
    def fit(self, X: Rows, y: Labels = None) -> Self:
        """Draw the frequencies, and with ``candidates`` above 1 choose among them by the labels.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), default=None
            Class labels, which only ``candidates`` above 1 need.

        Returns
        -------
        HadamardFourierFeatures
        """
        X, labels = self._validate(X, y)
        rng = check_random_state(self.random_state)
        self.gamma_ = _variance_scale(X) if self.gamma == "scale" else float(self.gamma)
        self.n_features_padded_ = next_power_of_two(X.shape[1])
        n_candidates = self.candidates * self.n_components
        n_blocks = -(-n_candidates // self.n_features_padded_)
        self.signs_ = random_signs(rng, (n_blocks, ROTATIONS, self.n_features_padded_))
        self.phases_ = rng.uniform(0, 2 * np.pi, n_blocks * self.n_features_padded_)
        drawn = np.sort(rng.permutation(len(self.phases_))[:n_candidates])
        self.selected_columns_ = drawn if labels is None else self._best(X, labels, drawn)
        return self

    def transform(self, X: Rows) -> Array:
        """Compute the features ``sqrt(2 / n_components) * cos(w.x + b)`` of each row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        X = checked_data(self, X, reset=False)
        out = np.empty((X.shape[0], self.n_components_), dtype=X.dtype)
        scale = X.dtype.type(np.sqrt(2 / self.n_components_))

        def fill(block):
            np.multiply(self._cosines(block.X, self.selected_columns_), scale, out=out[block.rows])

        for _ in self._blocks(X).map(fill, self.n_jobs):
            pass
        return checked_finite(out)

    @property
    def n_components_(self) -> int:
        return len(self.selected_columns_)

    @property
    def _n_features_out(self):
        return self.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.candidates != 1
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _validate(self, X, y):
        check_positive_integer("n_components", self.n_components, MOST_COMPONENTS)
        check_positive_integer("candidates", self.candidates, MOST_COMPONENTS)
        check_positive_number("balance", self.balance)
        check_n_jobs(self.n_jobs)
        if self.gamma != "scale":
            if not isinstance(self.gamma, Real):
                raise ValueError(f"gamma must be a positive number or 'scale', got {self.gamma!r}")
            check_positive_number("gamma", self.gamma)
        if self.candidates == 1:
            return checked_data(self, X), None
        X, y = checked_data(self, X, y)
        return X, in_memory(y)

    def _blocks(self, X, y=None):
        return RowBlocks(X, y, block_rows=max(1, BLOCK_ELEMENTS // len(self.phases_)))

    def _cosines(self, X, columns):
        """Return ``cos(w.x + b)`` for the chosen frequencies."""
        angles = np.empty((X.shape[0], len(self.phases_)), dtype=X.dtype)
        width = self.n_features_padded_
        for k, signs in enumerate(self.signs_):
            angles[:, k * width : (k + 1) * width] = self._rotate(X, signs)
        scale = np.sqrt(2 * self.gamma_ * width)
        chosen = angles[:, columns].astype(X.dtype if LEAST_SCALE < scale < 1 / LEAST_SCALE else np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):  # transform tells of angles that are not finite
            chosen *= chosen.dtype.type(scale)
            chosen += self.phases_[columns].astype(chosen.dtype)
            return np.cos(chosen, out=chosen)

    def _rotate(self, X, signs):
        """Return ``H D1 H D2 H D3 x``, orthonormal, of each row."""
        rotated = np.zeros((X.shape[0], self.n_features_padded_), dtype=X.dtype)
        rotated[:, : X.shape[1]] = X.toarray() if sp.issparse(X) else X
        for diagonal in signs:
            rotated *= diagonal.astype(X.dtype)
            kernels.engine.transform(rotated[:, :, None], 1 / np.sqrt(self.n_features_padded_))
        return rotated

    def _best(self, X, labels, drawn):
        """Return the ``n_components`` of the drawn frequencies with the best supervised scores."""
        if labels.n_classes < 2:
            raise ValueError(f"candidates={self.candidates} needs at least two classes, but y holds one class")

        def measure(block):
            cosines = self._cosines(block.X, drawn).astype(np.float64)
            members = (block.y == np.arange(labels.n_classes)[:, None]).astype(np.float64)
            return members @ cosines, members @ cosines**2

        sums, squares = self._blocks(X, labels.codes).sum(measure, self.n_jobs)
        scores = separation(labels.counts.astype(np.float64), sums, squares, self.balance)
        return np.sort(drawn[rank(scores)[: self.n_components]])


def _variance_scale(X):
    """Return ``1 / (n_features * variance)``, as scikit-learn's ``SVC(gamma="scale")``; 1 for constant data."""
    values = X.data if sp.issparse(X) else X
    unit = float(np.abs(values).max(initial=0.0)) or 1.0  # squares of very large or small values would be lost
    size, values = X.shape[0] * X.shape[1], values.astype(np.float64) / unit
    variance = float((values**2).sum() / size - (values.sum() / size) ** 2) if sp.issparse(X) else float(values.var())
    if variance <= 0:
        return 1.0
    gamma = 1.0 / (X.shape[1] * variance) / unit / unit
    if not 0 < gamma < np.inf:
        raise ValueError(f"gamma='scale' is out of bounds, because the largest value of X is {unit:g}: scale X")
    return gamma
