"""Random signs: the diagonal D of the paper, drawn in Python so that every kernel sees the same ones."""

from __future__ import annotations

import numpy as np


def random_signs(rng, size):
    """Independent fair signs, one byte each."""
    return (2 * rng.randint(2, size=size) - 1).astype(np.int8)
