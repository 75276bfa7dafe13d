"""The transform along any axis by its twin in NumPy, and the types that are transformed."""

import numpy as np

from isrht.kernels import _reference
from isrht.transform.lengths import small_order
from isrht.transform.matrices import small_matrix

FLOATS = [np.float32, np.float64]
INTEGERS = [np.int32, np.int64]
COMPLEX = [np.complex64, np.complex128]


def slow_fwht(x, axis=-1):
    """The NumPy twin along any axis, always a copy."""
    moved = np.ascontiguousarray(np.moveaxis(x, axis, -1)).copy()
    rows, order = moved.reshape(-1, moved.shape[-1], 1), small_order(moved.shape[-1])
    if order == 1:
        _reference.transform(rows, 1)
    else:
        _reference.transform_streams(rows, small_matrix(order), 1)
    return np.moveaxis(moved, -1, axis)
