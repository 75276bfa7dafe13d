"""The Hadamard matrix of order 12, by Williamson's construction from two matrices of order 4.

Let M be Sylvester's matrix of order 4, and P a symmetric matrix that permutes four values and changes some signs, such
that ``P M + M P = 2 I``. Then ``N = 2 P - M`` is a Hadamard matrix, too, with ``M N + N M = -4 I``, and blocks
``N, M, M``, ``M, N, M`` and ``M, M, N`` make a symmetric Hadamard matrix of order 12: a product of two rows of blocks
is ``N N + 2 M M = 12 I``, or ``N M + M N + M M = 0``. In this form a transform needs no field and no list of signs:
three parts of a row are treated alike, by the butterflies of Sylvester's matrix (``core/dense/williamson.hpp``), and
need fewer additions than by Paley's.

The signs of three rows and columns are changed, so that the first row is ones, and the first output the sum.
"""

from __future__ import annotations

import numpy as np


def williamson_written_out():
    """Return the Hadamard matrix of order 12: symmetric, with a first row of ones."""
    two = np.array([[1, 1], [1, -1]], dtype=np.int8)
    between = np.kron(two, two)
    within = 2 * _signed_permutation() - between
    matrix = np.kron(np.ones((3, 3), dtype=np.int8), between) + np.kron(np.eye(3, dtype=np.int8), within - between)
    first = matrix[0].copy()
    return first[:, None] * matrix * first


def _signed_permutation():
    """Return P: it keeps the first value, and the second with another sign, and swaps the others with other signs."""
    permutation = np.zeros((4, 4), dtype=np.int8)
    permutation[[0, 1, 2, 3], [0, 1, 3, 2]] = [1, -1, -1, -1]
    return permutation
