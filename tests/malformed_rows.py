"""Sparse rows whose indices or pointers lead outside of their arrays, as no constructor of SciPy would make them."""

import numpy as np
import scipy.sparse as sp


def altered(X, **arrays):
    """Return a copy of a sparse matrix with other arrays, which SciPy does not look at any more."""
    bad = X.copy()
    for name, value in arrays.items():
        setattr(bad, name, value)
    return bad


def with_value(array, place, value):
    array = array.astype(type(value), copy=True) if isinstance(value, np.integer) else array.copy()
    array[place] = value
    return array


def malformed(n_rows):
    """Return by name sparse rows of 21 columns whose last row is wrong, or which are wrong as a whole."""
    csr = sp.csr_array(np.arange(1.0, 21 * n_rows + 1).reshape(n_rows, 21))
    csc, coo, last = csr.tocsc(), csr.tocoo(), 21 * n_rows - 1
    return {
        "index too large": altered(csr, indices=with_value(csr.indices, last, 21)),
        "index far too large": altered(csr, indices=with_value(csr.indices, last, 2**30)),
        "index negative": altered(csr, indices=with_value(csr.indices, last, -1)),
        "matrix": altered(sp.csr_matrix(csr), indices=with_value(csr.indices, last, 2**30)),
        "float32": altered(csr.astype(np.float32), indices=with_value(csr.indices, last, 2**30)),
        "integers": altered(csr.astype(np.int64), indices=with_value(csr.indices, last, 2**30)),
        "pointers decrease": altered(csr, indptr=with_value(csr.indptr, n_rows, -5)),
        "pointer too large": altered(csr, indptr=with_value(csr.indptr, n_rows, 2**30)),
        "pointer past 32 bits": altered(csr, indptr=with_value(csr.indptr, n_rows, np.int64(2**32 + last))),
        "too few pointers": altered(csr, indptr=csr.indptr[:-1]),
        "too few values": altered(csr, data=csr.data[:-3]),
        "no pointers": altered(csr, indptr=None),
        "a list of pointers": altered(csr, indptr=csr.indptr.tolist()),
        "CSC": altered(csc, indices=with_value(csc.indices, last, 2**30)),
        "CSC pointers": altered(csc, indptr=with_value(csc.indptr, 20, 2**30)),
        "COO": altered(coo, coords=(coo.coords[0], with_value(coo.coords[1], last, 2**30))),
        "COO rows": altered(coo, coords=(with_value(coo.coords[0], last, -(2**30)), coo.coords[1])),
    }
