"""The checks that keep malformed arrays out of the twins, with the messages of the compiled kernels."""

from __future__ import annotations

import numpy as np


def check_csr(x, width):
    """Raise an error unless x are CSR rows of this width."""
    if len(x.indptr) < 1 or len(x.data) != len(x.indices):
        raise ValueError("data, indices and indptr do not fit together")
    check_range(x.indices, width, "a column index of the sparse matrix is out of range")
    if x.indptr[0] < 0 or x.indptr[-1] > len(x.data) or (np.diff(x.indptr) < 0).any():
        raise ValueError("indptr of the sparse matrix is not increasing, or points past its entries")


def check_range(indices, end, message):
    """Raise an error with this message unless all indices are within [0, end)."""
    if len(indices) and (indices.min() < 0 or indices.max() >= end):
        raise ValueError(message)
