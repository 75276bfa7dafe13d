"""Sparse embedding: the count sketch (Clarkson & Woodruff), the paper's first step for sparse data.

Every feature is added, with a random sign, to one random component: a matrix with one nonzero per row, so that a
sparse matrix is embedded in O(nnz) and stays sparse.

The paper leaves data-dependent sparse embedding to the future. Here the sign, or the sign and a weight, can be learned:
features that meet in one component then add up what they say of the classes, where random signs make them cancel. It
is the first diagonal of :class:`BoostedISRHT`, z: the gradient of the class labels over its standard error.
"""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isrht.projections.diagonals import Candidate, first_diagonal
from isrht.rows.labels import in_memory
from isrht.support.doc_links import DocLinkMixin
from isrht.support.hints import Array, ArrayOrLazy, Labels, RandomState, Rows
from isrht.support.validation import (
    check_n_components,
    checked_components,
    checked_data,
    checked_finite,
    resolved_n_components,
    whole_or_unchanged,
)
from isrht.transform.signs import random_signs

DIAGONALS = ("random", "signs", "z")


class SparseEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DocLinkMixin, BaseEstimator):
    """Count sketch: project by a matrix with one sign per feature, in one random column.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        The number of components; "auto" makes 256, or as many as there are features if these are fewer.
    diagonal : {"random", "signs", "z"}, default="random"
        With which factor a feature is added: a random sign; the sign with which it speaks for the classes in y; or
        that sign times how surely it does, z. The latter two need y and have then seen it: cross-validate them together
        with what is trained on the components, in one pipeline.
    dense_output : bool, default=False
        Return a dense array even for sparse input.
    random_state : int, RandomState instance or None, default=None
        Draws the components and the random signs of the features.

    Attributes
    ----------
    n_components_ : int
        The number of components.
    components_ : ndarray of shape (n_features,)
        The component that each feature is added to.
    signs_ : ndarray of shape (n_features,), int8
        The sign with which it is added.
    magnitudes_ : ndarray of shape (n_features,), float32, or None
        With ``diagonal="z"``, the size of the factor, 1 in the mean square.

    Examples
    --------
    >>> import numpy as np
    >>> from isrht import SparseEmbedding
    >>> X = np.random.default_rng(0).standard_normal((200, 1000))
    >>> y = X[:, :300].sum(axis=1) > 0
    >>> learned = SparseEmbedding(8, diagonal="signs", random_state=0).fit(X, y)
    >>> int((learned.signs_[:300] == 1).sum())
    230
    """

    components_: Array
    signs_: Array
    magnitudes_: Array | None
    n_components_: int
    n_features_in_: int
    feature_names_in_: Array

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        *,
        diagonal: Literal["random", "signs", "z"] = "random",
        dense_output: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.diagonal = diagonal
        self.dense_output = dense_output
        self.random_state = random_state

    @whole_or_unchanged
    def fit(self, X: Rows, y: Labels = None) -> Self:
        """Draw the sketch for the features of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), default=None
            Class labels, which are used only where the diagonal is learned.

        Returns
        -------
        SparseEmbedding
        """
        check_n_components(self.n_components)
        if self.diagonal not in DIAGONALS:
            raise ValueError(f"diagonal must be one of {', '.join(map(repr, DIAGONALS))}, got {self.diagonal!r}")
        rng = check_random_state(self.random_state)
        if self.diagonal == "random":
            X = checked_data(self, X, accept_sparse=["csr", "csc"])
        else:
            X, y = checked_data(self, X, y)
        self.n_components_ = resolved_n_components(self.n_components, X.shape[1])
        self.components_ = rng.randint(self.n_components_, size=X.shape[1]).astype(np.int32)
        self._dense_output = self.dense_output
        self.magnitudes_ = None
        if self.diagonal == "random":
            self.signs_ = random_signs(rng, X.shape[1])
        else:
            self._learn(X, y)
        return self

    def _learn(self, X, y):
        labels = in_memory(y)
        if labels.n_classes < 2:
            raise ValueError(f"diagonal={self.diagonal!r} needs at least two classes, but y holds one class: {y[0]}")
        z = first_diagonal(X, labels, Candidate(self.diagonal, 0.0))
        self.signs_ = np.where(z < 0, -1, 1).astype(np.int8)
        if self.diagonal == "z":
            size = np.sqrt(np.mean(z.astype(np.float64) ** 2))
            self.magnitudes_ = np.abs(z) / np.float32(size if size > 0 else 1)

    def transform(self, X: Rows) -> ArrayOrLazy:
        """Embed the rows of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_components_)
            It is sparse where X is, unless ``dense_output`` asks for an array.
        """
        check_is_fitted(self)
        return self.project(checked_data(self, X, reset=False))

    def project(self, X):
        """Embed rows as :meth:`transform` does, after they have been checked."""
        with np.errstate(over="ignore", invalid="ignore"):
            embedded = X @ self.matrix(X.dtype)
        checked_finite(embedded.data if sp.issparse(embedded) else embedded)
        return embedded.toarray() if sp.issparse(embedded) and self._dense_output else embedded

    def inverse_transform(self, X: Rows) -> Array:
        """Go back to the features by the least-squares inverse: dense rows of smallest norm that embed to X.

        The features of a component share its value. A component to which no feature was added says nothing.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_components_)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = checked_components(X, self.n_components_)
        sizes = np.where(self.component_sizes > 0, self.component_sizes, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            return checked_finite(self.to_features(X / sizes.astype(X.dtype)))

    def to_features(self, weights):
        """Turn weights of components into weights of features: ``transform(X) @ w.T`` is ``X @ to_features(w).T``."""
        return weights[:, self.components_] * self._factors(weights.dtype)

    @property
    def component_sizes(self):
        """The sum of the squared factors of each component's features: the diagonal of the sketch's Gram matrix."""
        return np.bincount(self.components_, self._factors(np.float64) ** 2, minlength=self.n_components_)

    def matrix(self, dtype=np.float64):
        """Return the sketch as a sparse array (n_features, n_components_)."""
        indptr = np.arange(len(self.signs_) + 1, dtype=np.int32)
        shape = (len(self.signs_), self.n_components_)
        return sp.csr_array((self._factors(dtype), self.components_, indptr), shape)

    def _factors(self, dtype):
        signs = self.signs_.astype(dtype)
        return signs if self.magnitudes_ is None else signs * self.magnitudes_.astype(dtype)

    @property
    def _n_features_out(self):
        return self.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.diagonal != "random"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
