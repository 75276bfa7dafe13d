"""What the workers of a Dask cluster do with a partition of rows, and with the values that belong to them.

Functions of the package come to the workers as data of the graph (:func:`isrht.rows.dask.cluster.sent`): what is called
``sent`` below has the function in its attribute ``function``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, column_or_1d

from isrht.rows.blocks import RowBlocks, pairs_of
from isrht.rows.dask._facts import Partition
from isrht.rows.labels import codes_in, different
from isrht.rows.weights import check_not_negative
from isrht.support.matrices import without_duplicates
from isrht.support.threads import one_blas_thread
from isrht.support.validation import checked_block


def checked(X, number):
    """Check a block of rows, and return what is to be known of it."""
    try:
        X = checked_block(X, ensure_min_samples=0)
    except (ValueError, TypeError) as error:
        raise ValueError(f"block {number}: {error}") from error
    if not sp.issparse(X):
        return Partition(*X.shape, X.dtype, False, X.size, 0.0)
    X = without_duplicates(X)
    return Partition(*X.shape, X.dtype, True, X.nnz, pairs_of(X))


def converted(X, number, dtype):
    """Return a block as an array or CSR array of this precision, or of its own if ``dtype`` is None."""
    try:
        X = checked_block(X, ensure_all_finite=dtype is None, ensure_min_samples=0)
    except (ValueError, TypeError) as error:
        raise ValueError(f"block {number}: {error}") from error
    return without_duplicates(X).astype(X.dtype if dtype is None else dtype, copy=False)


def width_and_dtype(X):
    """Return the number of features of a block, and its precision if it has one."""
    return X.shape[1], getattr(X, "dtype", None)


def n_rows(X):
    """Return the number of rows of a block."""
    return X.shape[0]


def apply(sent, X):
    """Return what a function makes of the rows of a block; of no rows it makes no rows of the right width."""
    if X.shape[0] == 0:
        return sent.function(np.zeros((1, X.shape[1]), dtype=X.dtype))[:0]
    return sent.function(X)


def sum_part(sent, block_rows, X, y, weights, values):
    """Return the sum of a function of blocks over the rows of a partition, or None if there are none."""
    if X.shape[0] == 0:
        return None
    with one_blas_thread():
        return RowBlocks(X, y, weights, values=values, block_rows=block_rows).sum(sent.function)


def different_labels(y, number):
    """Return the different labels of a block in the order in which they appear."""
    try:
        return different(column_or_1d(y, warn=True))
    except ValueError as error:
        raise ValueError(f"block {number}: {error}") from error


def codes(y, classes):
    """Return the number of each label of a block in ``classes``."""
    return codes_in(classes, column_or_1d(y))


def checked_weights(values, number):
    """Return the weights of a block in float64, checked."""
    try:
        weights = check_array(
            values, ensure_2d=False, dtype=np.float64, input_name="sample_weight", ensure_min_samples=0
        )
        check_not_negative(weights)
    except ValueError as error:
        raise ValueError(f"block {number}: {error}") from error
    return weights


def largest(weights):
    """Return the largest of some weights, or 0 if there are none."""
    return weights.max(initial=0.0)


def of_values(sent, *values):
    """Return what a function makes of the values of some rows."""
    return sent.function(*values)


def sum_of_values(sent, *values):
    """Return what a function makes of the values of some rows, or None if there are no rows."""
    return sent.function(*values) if len(values[0]) else None


def rows_where(sent, codes, ranks):
    """Return the numbers, in their partition, of the rows for which a function of codes and ranks is true."""
    return np.flatnonzero(sent.function(codes, ranks))


def code_counts(codes, length):
    """Return how often each code below ``length`` occurs."""
    return np.bincount(codes, minlength=length)


def taken(values, rows):
    """Return the rows of these numbers."""
    return values[rows]


def widened(values, dtype):
    """Return numbers in the type that they had before :func:`compact` made them small to travel."""
    return values.astype(dtype, copy=False)


def compact(values):
    """Return the same numbers in as few bytes as hold them, if they are whole and not negative, to be sent."""
    if values.size == 0 or values.dtype.kind not in "iuf" or values.min() < 0:
        return values
    for smaller in (np.uint8, np.uint16, np.uint32):
        if values.itemsize > np.dtype(smaller).itemsize and values.max() <= np.iinfo(smaller).max:
            small = values.astype(smaller)
            return small if np.array_equal(small, values) else values
    return values
