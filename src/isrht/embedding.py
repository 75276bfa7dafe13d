"""Sparse embedding: the count sketch (Clarkson & Woodruff), the paper's first step for sparse data.

Every feature is added, with a random sign, to one random component: a matrix with one nonzero per row, so that a
sparse matrix is embedded in O(nnz) and stays sparse.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isrht.validation import FLOATS, check_positive_integer


class SparseEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Count sketch: project by a matrix with one random sign per feature, in one random column.

    Parameters
    ----------
    n_components : int, default=256
        The number of components.
    dense_output : bool, default=False
        Return a dense array even for sparse input.
    random_state : int, RandomState instance or None, default=None
        Draws the components and signs of the features.

    Attributes
    ----------
    components_ : ndarray of shape (n_features,)
        The component that each feature is added to.
    signs_ : ndarray of shape (n_features,), int8
        The sign with which it is added.
    """

    def __init__(self, n_components=256, *, dense_output=False, random_state=None):
        self.n_components = n_components
        self.dense_output = dense_output
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw the sketch for the number of features of X. ``y`` is ignored."""
        check_positive_integer("n_components", self.n_components)
        X = validate_data(self, X, accept_sparse=["csr", "csc"], dtype=FLOATS)
        rng = check_random_state(self.random_state)
        self.components_ = rng.randint(self.n_components, size=X.shape[1]).astype(np.int32)
        self.signs_ = random_signs(rng, X.shape[1])
        return self

    def transform(self, X):
        """Embed the rows of X: sparse as they are, or a dense array."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        embedded = X @ self.matrix(X.dtype)
        return embedded.toarray() if sp.issparse(embedded) and self.dense_output else embedded

    def inverse_transform(self, X):
        """The transpose of the embedding, dense: each feature takes the signed value of its component."""
        check_is_fitted(self)
        X = np.asarray(X.toarray() if sp.issparse(X) else X)
        return X[:, self.components_] * self.signs_.astype(X.dtype)

    def matrix(self, dtype=np.float64):
        """The sketch as a sparse array (n_features, n_components)."""
        indptr = np.arange(len(self.signs_) + 1, dtype=np.int32)
        shape = (len(self.signs_), self.n_components)
        return sp.csr_array((self.signs_.astype(dtype), self.components_, indptr), shape)

    @property
    def _n_features_out(self):
        return self.n_components

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def random_signs(rng, size):
    """Independent fair signs, one byte each."""
    return (2 * rng.randint(2, size=size) - 1).astype(np.int8)
