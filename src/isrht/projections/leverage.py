"""Deterministic leverage score selection (DLSS; Papailiopoulos, Kyrillidis & Boutsidis 2014).

The leverage of a feature is the squared norm of its row in the matrix of the leading right singular vectors: how much
of it the best low-rank approximation explains. The features of largest leverage are kept as they are.
"""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.validation import check_is_fitted

from isrht.projections.selection import rank
from isrht.support.doc_links import DocLinkMixin
from isrht.support.hints import Array, ArrayOrLazy, Labels, RandomState, Rows
from isrht.support.sparse_structure import check_sparse
from isrht.support.validation import (
    check_n_components,
    check_positive_integer,
    checked_data,
    plain,
    quiet_sums,
    resolved_n_components,
    whole_or_unchanged,
)


class LeverageScoreSelection(SelectorMixin, DocLinkMixin, BaseEstimator):
    """Keep the features of largest leverage in the best approximation of given rank, by a randomized SVD.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        The number of features to keep; "auto" keeps 256, or all of them if there are fewer.
    rank : int, default=None
        The rank of the approximation; None is ``n_components``, or the largest possible if that is less.
    random_state : int, RandomState instance or None, default=None
        For the randomized SVD.

    Attributes
    ----------
    leverage_ : ndarray of shape (n_features,)
        The leverage scores, between 0 and 1; they sum to the rank.
    n_components_ : int
        The number of features that are kept.

    References
    ----------
    D. Papailiopoulos, A. Kyrillidis and C. Boutsidis, "Provable deterministic leverage score sampling", KDD 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from isrht import LeverageScoreSelection
    >>> X, y = load_digits(return_X_y=True)
    >>> LeverageScoreSelection(16, random_state=0).fit(X).get_support(indices=True)[:3].tolist()
    [4, 5, 13]
    """

    leverage_: Array
    n_features_in_: int
    feature_names_in_: Array

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        *,
        rank: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.rank = rank
        self.random_state = random_state

    @whole_or_unchanged
    def fit(self, X: Rows, y: Labels = None) -> Self:
        """Compute the leverage scores of the features of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : None
            Labels are ignored.

        Returns
        -------
        LeverageScoreSelection
        """
        check_n_components(self.n_components)
        X = checked_data(self, X, accept_sparse=["csr", "csc"])
        n_components = resolved_n_components(self.n_components, X.shape[1])
        if n_components > X.shape[1]:
            raise ValueError(f"n_components={self.n_components} is more than n_features={X.shape[1]}")
        k = n_components if self.rank is None else self.rank
        check_positive_integer("rank", k)
        k = min(k, *X.shape)
        _, _, directions = randomized_svd(
            _near_one(X), n_components=k, power_iteration_normalizer="QR", random_state=self.random_state
        )
        self.leverage_ = (directions**2).sum(axis=0)
        self._kept = np.sort(rank(self.leverage_)[:n_components])
        return self

    @property
    def n_components_(self) -> int:
        return len(self._kept)

    def transform(self, X: Rows) -> ArrayOrLazy:
        """Return the kept features of the rows of X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array or sparse matrix of shape (n_samples, n_components_)
        """
        check_sparse(X)
        with quiet_sums():
            return super().transform(plain(X) if sp.issparse(X) and X.format == "csr" else X)

    def inverse_transform(self, X: Rows) -> ArrayOrLazy:
        """Return rows that have zeros for the features that are not kept.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_components_)

        Returns
        -------
        array or sparse matrix of shape (n_samples, n_features)
        """
        check_sparse(X)
        with quiet_sums():
            return super().inverse_transform(X)

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


def _near_one(X):
    """Return X times a power of two that brings its largest value near 1, where squares neither over- nor underflow."""
    largest = np.abs(X.data if sp.issparse(X) else X).max(initial=0.0)
    if largest == 0:
        return X
    exponent = -int(np.frexp(largest)[1])
    for part in (exponent // 2, exponent - exponent // 2):  # the whole power itself might overflow
        X = X * X.dtype.type(2.0**part)
    return X
