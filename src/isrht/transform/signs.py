"""Random signs: the diagonal D of the paper, drawn in Python, so that all kernels are given the same ones."""

from __future__ import annotations

import numpy as np


def random_signs(rng, size):
    """Return independent signs, +1 and -1 with equal chance, one byte each.

    Parameters
    ----------
    rng : numpy.random.RandomState
    size : int or tuple of int

    Returns
    -------
    ndarray of int8
    """
    return (2 * rng.randint(2, size=size) - 1).astype(np.int8)
