"""Sparse embedding: the count sketch (Clarkson & Woodruff), the paper's first step for sparse data.

Every feature is added, with a random sign, to one random component: a matrix with one nonzero per row, so that a
sparse matrix is embedded in O(nnz) and stays sparse.

The paper leaves data-dependent sparse embedding to the future. Here the sign, or the sign and a weight, can be learned:
features that meet in one component then add up what they say of the classes, where random signs make them cancel. It
is the first diagonal of :class:`BoostedISRHT`, z: the gradient of the class labels over its standard error.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isrht.coded_labels import in_memory
from isrht.learned_columns import Candidate, first_diagonal
from isrht.validation import FLOATS, check_positive_integer

DIAGONALS = ("random", "signs", "z")


class SparseEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Count sketch: project by a matrix with one sign per feature, in one random column.

    Parameters
    ----------
    n_components : int, default=256
        The number of components.
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

    def __init__(self, n_components=256, *, diagonal="random", dense_output=False, random_state=None):
        self.n_components = n_components
        self.diagonal = diagonal
        self.dense_output = dense_output
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw the sketch for the features of X. ``y``, class labels, is used only where the diagonal is learned."""
        check_positive_integer("n_components", self.n_components)
        if self.diagonal not in DIAGONALS:
            raise ValueError(f"diagonal must be one of {', '.join(map(repr, DIAGONALS))}, got {self.diagonal!r}")
        rng = check_random_state(self.random_state)
        if self.diagonal == "random":
            X = validate_data(self, X, accept_sparse=["csr", "csc"], dtype=FLOATS)
        else:
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        self.components_ = rng.randint(self.n_components, size=X.shape[1]).astype(np.int32)
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
        z = first_diagonal(X, labels.codes, labels.n_classes, Candidate(self.diagonal, 0.0))
        self.signs_ = np.where(z < 0, -1, 1).astype(np.int8)
        if self.diagonal == "z":
            size = np.sqrt(np.mean(z.astype(np.float64) ** 2))
            self.magnitudes_ = np.abs(z) / np.float32(size if size > 0 else 1)

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
        return X[:, self.components_] * self._factors(X.dtype)

    def matrix(self, dtype=np.float64):
        """The sketch as a sparse array (n_features, n_components)."""
        indptr = np.arange(len(self.signs_) + 1, dtype=np.int32)
        shape = (len(self.signs_), self.n_components)
        return sp.csr_array((self._factors(dtype), self.components_, indptr), shape)

    def _factors(self, dtype):
        signs = self.signs_.astype(dtype)
        return signs if self.magnitudes_ is None else signs * self.magnitudes_.astype(dtype)

    @property
    def _n_features_out(self):
        return self.n_components

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.diagonal != "random"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def random_signs(rng, size):
    """Independent fair signs, one byte each."""
    return (2 * rng.randint(2, size=size) - 1).astype(np.int8)
