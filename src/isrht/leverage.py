"""Deterministic leverage score selection (DLSS; Papailiopoulos, Kyrillidis & Boutsidis 2014).

The leverage of a feature is the squared norm of its row in the matrix of the leading right singular vectors: how much
of it the best low-rank approximation explains. The features of largest leverage are kept as they are.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.validation import check_is_fitted, validate_data

from isrht.selection import rank
from isrht.validation import FLOATS, check_positive_integer


class LeverageScoreSelection(SelectorMixin, BaseEstimator):
    """Keep the features of largest leverage in the best approximation of given rank, by a randomized SVD.

    Parameters
    ----------
    n_components : int, default=256
        The number of features to keep.
    rank : int, default=None
        The rank of the approximation; None is ``n_components``, or the largest possible if that is less.
    random_state : int, RandomState instance or None, default=None
        For the randomized SVD.

    Attributes
    ----------
    leverage_ : ndarray of shape (n_features,)
        The leverage scores, between 0 and 1; they sum to the rank.
    """

    def __init__(self, n_components=256, *, rank=None, random_state=None):
        self.n_components = n_components
        self.rank = rank
        self.random_state = random_state

    def fit(self, X, y=None):
        """Compute the leverage scores of the features of X. ``y`` is ignored."""
        check_positive_integer("n_components", self.n_components)
        X = validate_data(self, X, accept_sparse=["csr", "csc"], dtype=FLOATS)
        if self.n_components > X.shape[1]:
            raise ValueError(f"n_components={self.n_components} is more than n_features={X.shape[1]}")
        k = self.n_components if self.rank is None else self.rank
        check_positive_integer("rank", k)
        k = min(k, *X.shape)
        _, _, directions = randomized_svd(X, n_components=k, random_state=self.random_state)
        self.leverage_ = (directions**2).sum(axis=0)
        self._kept = np.sort(rank(self.leverage_)[: self.n_components])
        return self

    def _get_support_mask(self):
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self._kept] = True
        return mask

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
