"""Rotate rows of any width without padding them: rounds of random signs and an orthonormal Walsh-Hadamard transform.

A width of ``m * 2**k`` (:mod:`isrht.transform.lengths`) takes one step a round: the signs, then the transform. Of
another width the greatest such length within, which is more than 8/9 of it, takes two steps: over the first values of a
row, and over the last. They overlap in all but a few, so that what one step leaves apart the other mixes. Every step is
an orthogonal map, and so are all of them together; the inverse takes them backwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isrht import kernels
from isrht.kernels.records import NO_MATRIX, RotationSteps
from isrht.transform.lengths import last_fast_len, paley_order
from isrht.transform.paley import paley_matrix
from isrht.transform.signs import counted_signs


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
        """Return a rotation by a seed, whose step number s has stream s of signs, by default of the greatest length."""
        length = last_fast_len(n_features) if length is None else length
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
        """
        kernels.engine.rotate_rows(X, self.steps(X.dtype), out, inverse, workers)

    def steps(self, dtype):
        """Return the steps as the kernels take them, in the precision of the rows."""
        length = self.signs.shape[1]
        starts = step_starts(self.n_features, length)
        order = paley_order(length)
        return RotationSteps(
            np.tile(np.array(starts, dtype=np.int64), len(self.signs) // len(starts)),
            self.signs.astype(dtype),
            NO_MATRIX if order == 1 else paley_matrix(order),
        )
