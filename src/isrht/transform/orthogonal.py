"""Rotate rows of any width without padding them: rounds of random signs and an orthonormal Walsh-Hadamard transform.

A width of ``m * 2**k`` (:mod:`isrht.transform.lengths`) takes one step a round: the signs, then the transform. Of
another width a length within, at least three quarters of it from 12 on, takes two steps: over the first values of a
row, and over the last. From 12 on they overlap in half of the row or more, so that what one step leaves apart the other
mixes.
Every step is an orthogonal map, and so are all of them together; the inverse takes them backwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isrht import kernels
from isrht.kernels.records import WILLIAMSON, RotationSteps
from isrht.transform.lengths import FAST_LENGTHS, last_fast_len, small_order
from isrht.transform.matrices import small_matrix
from isrht.transform.signs import counted_signs


def step_length(n_features):
    """Return the length of the steps: the width itself if it is fast, else one within.

    That is the greatest of ``2**k`` and ``12 * 2**k``, whose transforms are the fastest, if it is at least three
    quarters of the width; else the greatest fast length, which is more than 8/9 of it.
    """
    length = last_fast_len(n_features)
    if length == n_features:
        return length
    fastest = max(one for one in FAST_LENGTHS if one <= n_features and small_order(one) in (1, WILLIAMSON.order))
    return fastest if 4 * fastest >= 3 * n_features else length


def step_starts(n_features, length):
    """Return where the steps of one round begin: at the first value, and at that from which the last is reached."""
    return [0] if length == n_features else [0, n_features - length]


@dataclass(frozen=True)
class OrthogonalRotation:
    """The steps by which rows are rotated.

    Parameters
    ----------
    n_features : int
        The width of the rows.
    signs : ndarray of shape (n_steps, length), int8
        Of every step. The steps of a round are those of :func:`step_starts`.
    """

    n_features: int
    signs: np.ndarray

    @classmethod
    def drawn(cls, n_features, n_rounds, seed, length=None):
        """Return a rotation by a seed, whose step number s has stream s of signs, of a length of its own by default."""
        length = step_length(n_features) if length is None else length
        n_steps = n_rounds * len(step_starts(n_features, length))
        return cls(n_features, np.stack([counted_signs(seed, step, length) for step in range(n_steps)]))

    def apply(self, X, out, *, inverse=False, workers=1):
        """Write rotated rows, or those that were before they were rotated, to ``out``, which may be X itself.

        Parameters
        ----------
        X, out : ndarray of shape (n_samples, n_features), float32 or float64
            The values of a row lie side by side.
        inverse : bool, default=False
        workers : int, default=1
            Threads.

        Returns
        -------
        bool
            Whether all of ``out`` is finite.
        """
        return kernels.engine.rotate_rows(X, self.steps(X.dtype), out, inverse, workers)

    def steps(self, dtype):
        """Return the steps as the kernels take them, in the precision of the rows."""
        length = self.signs.shape[1]
        starts = step_starts(self.n_features, length)
        return RotationSteps(
            np.tile(np.array(starts, dtype=np.int64), len(self.signs) // len(starts)),
            self.signs.astype(dtype),
            small_matrix(small_order(length)),
        )
