"""A random rotation of vectors of any size: all coordinates alike, distances kept, and a way back.

Vectors that are quantised, coordinate by coordinate, lose most where few coordinates carry all, or where each has a
range of its own. A random rotation makes every coordinate a sum over all, near to normal with the same variance,
whatever the data. A dense orthogonal matrix takes O(d**2) per vector for it; rounds of signs and transforms take O(d
log d).

:mod:`isrht.transform.orthogonal` has the steps; this estimator validates, remembers, and goes back.
"""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isrht.support.doc_links import DocLinkMixin
from isrht.support.hints import Array, ArrayOrLazy, Labels, RandomState, Rows
from isrht.support.matrices import contiguous_rows, empty_rows, rows_are_apart
from isrht.support.threads import job_count
from isrht.support.validation import (
    check_n_jobs,
    check_positive_integer,
    checked_components,
    checked_data,
    checked_finite,
    whole_or_unchanged,
)
from isrht.transform.foreign import take
from isrht.transform.hadamard import WORTH_A_THREAD
from isrht.transform.orthogonal import OrthogonalRotation

MOST_ROUNDS = 3


class HadamardRotation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DocLinkMixin, BaseEstimator):
    """A random orthogonal map of vectors of any size, by signs and Walsh-Hadamard transforms.

    Parameters
    ----------
    n_rounds : int, default=2
        Rounds of signs and transform, from 1 to 3. One is enough for dense vectors; two bring vectors with few nonzeros
        near to normal, too.
    random_state : int, RandomState instance or None, default=None
        The signs follow from an integer by a documented generator (see Notes), so that vectors rotated by one version,
        on one machine, match those of any other.
    copy : bool, default=True
        False allows ``transform`` and ``inverse_transform`` to overwrite the rows that they are given. They do where
        these are a writeable float32 or float64 array whose rows have no gaps. Rows that are not finite are refused
        before, but those that overflow are overwritten.
    n_jobs : int, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    signs_ : ndarray of shape (n_steps, length), int8
        The signs of every step. There is one step a round, or two where the number of features is no
        length of a fast transform (:func:`isrht.next_fast_len`).
    seed_ : int
        What the signs follow from: ``random_state`` if that is an integer.
    n_features_in_ : int

    Notes
    -----
    Sign k of step s is -1 where bit ``k % 64`` of word ``k // 64`` of Philox4x64-10 is set, with the key ``(seed_, 0)``
    and the counters ``(1, 0, 0, s)``, ``(2, 0, 0, s)`` and so on for four words each.

    See Also
    --------
    isrht.fwht : The transform alone.
    isrht.ISRHT : Keep the columns that tell most.

    Examples
    --------
    >>> import numpy as np
    >>> from isrht import HadamardRotation
    >>> X = np.eye(1000)[:3]
    >>> rotation = HadamardRotation(random_state=0).fit(X)
    >>> Z = rotation.transform(X)
    >>> Z.shape, bool(np.abs(Z).max() < 0.2)
    ((3, 1000), True)
    >>> np.allclose(rotation.inverse_transform(Z), X)
    True
    """

    signs_: Array
    seed_: int
    n_features_in_: int
    feature_names_in_: Array

    def __init__(
        self,
        n_rounds: int = 2,
        *,
        random_state: RandomState = None,
        copy: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.random_state = random_state
        self.copy = copy
        self.n_jobs = n_jobs

    @whole_or_unchanged
    def fit(self, X: Rows, y: Labels = None) -> Self:
        """Draw the signs.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows, of which only the number of features is used.
        y : object, default=None
            It is ignored.

        Returns
        -------
        self : HadamardRotation
        """
        check_positive_integer("n_rounds", self.n_rounds, MOST_ROUNDS)
        check_n_jobs(self.n_jobs)
        X = checked_data(self, _as_numpy(X))
        rng = check_random_state(self.random_state)
        given = self.random_state
        self.seed_ = int(given) if isinstance(given, Integral) else rng.randint(2**31 - 1)
        self.signs_ = OrthogonalRotation.drawn(X.shape[1], self.n_rounds, self.seed_).signs
        return self

    def transform(self, X: Rows) -> ArrayOrLazy:
        """Rotate rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows. Once rotated, sparse rows are not sparse any more.

        Returns
        -------
        array of shape (n_samples, n_features)
            float32 where X is (in native byte order), else float64 (of halves and integers, too), and the kind of
            array that X is.
        """
        check_is_fitted(self)
        taken = _taken(X)
        checked = partial(checked_data, self, X if taken is None else taken.array, reset=False)
        return self._give_back(taken, self._rotated(checked, inverse=False))

    def inverse_transform(self, X: Rows) -> ArrayOrLazy:
        """Return the rows that were before they were rotated, to rounding.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rotated rows.

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        taken = _taken(X)
        rows = X if taken is None else taken.array
        checked = partial(checked_components, rows, self.n_features_in_, name="n_features_in_")
        return self._give_back(taken, self._rotated(checked, inverse=True))

    @property
    def _n_features_out(self):
        return self.n_features_in_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _rotated(self, checked, *, inverse):
        """Rotate the rows that ``checked`` returns once it has validated them.

        What is not finite stays so. The kernels tell it of rotated rows while these are in the cache, so nobody looks
        at all rows before, unless they are overwritten and could not be asked any more whether they were finite.
        """
        rows = checked(ensure_all_finite=not self.copy)
        is_ours = sp.issparse(rows) or (not self.copy and rows.flags.writeable and rows_are_apart(rows))
        rows = rows.toarray() if sp.issparse(rows) else contiguous_rows(rows)
        out = rows if is_ours else empty_rows(rows.shape, rows.dtype)
        workers = max(1, min(job_count(self.n_jobs), rows.size // WORTH_A_THREAD))
        rotation = OrthogonalRotation(self.n_features_in_, self.signs_)
        with np.errstate(over="ignore", invalid="ignore"):
            finite = rotation.apply(rows, out, inverse=inverse, workers=workers)
        if not finite and self.copy:
            checked(ensure_all_finite=True)
        return out if finite else checked_finite(out)

    @staticmethod
    def _give_back(taken, rotated):
        return rotated if taken is None else taken.give_back(rotated)


def _taken(X):
    """Return an array of another library as NumPy sees it, or None for what scikit-learn knows."""
    return take(X) if hasattr(X, "__dlpack_device__") and not isinstance(X, np.ndarray) else None


def _as_numpy(X):
    taken = _taken(X)
    return X if taken is None else taken.array
