"""The Hadamard matrix of a transform, written out for users, and the small factor of it that the kernels take.

The matrix of length ``m * 2**k`` is a Kronecker product of a small one, of order m, and Sylvester's matrices
``[[1, 1], [1, -1]]``. The small one is made by Williamson's construction (:mod:`isrht.transform.williamson`) or Paley's
(:mod:`isrht.transform.paley`).
"""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import DTypeLike

from isrht.kernels.records import NO_MATRIX, WILLIAMSON
from isrht.support.hints import Array
from isrht.transform.lengths import check_length, small_order
from isrht.transform.paley import paley_matrix, paley_written_out
from isrht.transform.williamson import williamson_written_out

# The kernels combine blocks of up to so many values by the small matrix and Sylvester's, and blocks by Sylvester's.
LARGEST_BLOCK = 4096


def hadamard_matrix(n: int, dtype: DTypeLike = np.int64) -> Array:
    """Return the matrix of the transform of length n: entries 1 and -1, symmetric, with orthogonal rows.

    Parameters
    ----------
    n : int
        A power of two, or a power of two times 12, 20, 28, 36, 44, 52 or 60.
    dtype : dtype, default=int64
        The type of the entries, which has to hold -1.

    Returns
    -------
    ndarray of shape (n, n)
        ``fwht(x)`` is ``x @ hadamard_matrix(n)``. For a power of two it is Sylvester's matrix, as
        :func:`scipy.linalg.hadamard` gives it. For ``m * 2**k`` up to 4096 it is the Kronecker product of a matrix of
        order m, Williamson's for 12 and Paley's for others, and Sylvester's; for more, that of Sylvester's and the
        largest such matrix of up to 4096 rows.

    Examples
    --------
    >>> import isrht
    >>> isrht.hadamard_matrix(2)
    array([[ 1,  1],
           [ 1, -1]])
    >>> H = isrht.hadamard_matrix(12)
    >>> bool((H @ H == 12 * isrht.hadamard_matrix(1) * [[i == j for i in range(12)] for j in range(12)]).all())
    True
    """
    n = operator.index(n)
    check_length(n)
    if np.dtype(dtype).kind in "ub":
        raise TypeError(f"dtype must be one that has -1, got {np.dtype(dtype)}")
    order = small_order(n)
    matrix, two = np.ones((1, 1), dtype=np.int8), np.array([[1, 1], [1, -1]], dtype=np.int8)
    if order > 1:
        matrix = williamson_written_out() if order == WILLIAMSON.order else paley_written_out(order)
        while len(matrix) < n and 2 * len(matrix) <= LARGEST_BLOCK:
            matrix = np.kron(matrix, two)
    while len(matrix) < n:
        matrix = np.kron(two, matrix)
    return matrix.astype(dtype)


def small_matrix(order):
    """Return the small matrix of an order as the kernels take it: of order 12 they know all; order 1 is none."""
    if order == 1:
        return NO_MATRIX
    return WILLIAMSON if order == WILLIAMSON.order else paley_matrix(order)
