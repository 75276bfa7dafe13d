"""Say whether rows are smaller as an array than in CSR.

LIBSVM text is read in CSR, but it may hold dense data. In CSR such data take more memory than as an array, and
everything takes longer.
"""

from __future__ import annotations

import scipy.sparse as sp


def is_smaller_dense(nnz, shape, value_bytes=8, index_bytes=4):
    """Say whether an array would take no more memory than CSR.

    >>> is_smaller_dense(90, (10, 10)), is_smaller_dense(10, (10, 10))
    (True, False)
    """
    return nnz * (value_bytes + index_bytes) >= shape[0] * shape[1] * value_bytes


def smaller_form(X):
    """Return X itself, or an array of it if that is smaller."""
    if sp.issparse(X) and is_smaller_dense(X.nnz, X.shape, X.dtype.itemsize, X.indices.itemsize):
        return X.toarray()
    return X
