"""Malformed sparse matrices are told before anybody follows their indices."""

import numpy as np
import pytest
import scipy.sparse as sp

from isrht.sparse_structure import check_sparse


def csr(rng=0):
    return sp.random_array((6, 10), density=0.4, format="csr", random_state=rng)


def spoiled(format, **arrays):
    """Return a matrix whose arrays were changed after it was made, which SciPy does not notice."""
    X = csr().asformat(format)
    for name, (place, value) in arrays.items():
        array = getattr(X, name).copy()
        array[place] = value
        setattr(X, name, array)
    return X


MALFORMED = {
    "csr: index too large": (lambda: spoiled("csr", indices=(0, 10)), "row 0 has column index 10.*10 columns"),
    "csr: index far too large": (lambda: spoiled("csr", indices=(-1, 2**30)), "row 5 has column index 1073741824"),
    "csr: negative index": (lambda: spoiled("csr", indices=(0, -1)), "row 0 has column index -1"),
    "csr: decreasing pointer": (lambda: spoiled("csr", indptr=(2, 0)), "indptr decreases at row 1"),
    "csr: pointer too large": (lambda: spoiled("csr", indptr=(-1, 10**6)), "row 5 points to 1000000"),
    "csr: pointer begins late": (lambda: spoiled("csr", indptr=(0, 1)), "begin with 0, got 1"),
    "csc: index too large": (lambda: spoiled("csc", indices=(0, 6)), "column 0 has row index 6.*6 rows"),
    "csc: pointer too large": (lambda: spoiled("csc", indptr=(-1, 99)), "column 9 points to 99"),
    "csc: decreasing pointer": (lambda: spoiled("csc", indptr=(2, -5)), "indptr decreases at column 1"),
    "bsr: index too large": (lambda: spoiled("bsr", indices=(0, 10)), "row of blocks 0"),
    "coo: row too large": (lambda: spoiled("coo", row=(0, 6)), "entry 0 lies in row 6"),
    "coo: negative column": (lambda: spoiled("coo", col=(3, -2)), "entry 3 .*column -2"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_named(name):
    make, message = MALFORMED[name]
    with pytest.raises(ValueError, match=f"X is malformed: .*{message}"):
        check_sparse(make())


def test_lists_and_diagonals():
    X = csr().tolil()
    X.rows[3] = [10]
    X.data[3] = [1.0]
    with pytest.raises(ValueError, match="row 3 has column index 10"):
        check_sparse(X)
    X.rows[3] = [1, 2]
    with pytest.raises(ValueError, match="row 3 has 2 indices, 1 values"):
        check_sparse(X)
    X = sp.dia_array((np.ones((2, 4)), [0, 1]), shape=(4, 4))
    X.offsets = np.zeros(3, dtype=int)
    with pytest.raises(ValueError, match="3 offsets for 2 diagonals"):
        check_sparse(X)


def test_arrays_that_are_too_short_or_of_the_wrong_type():
    X = csr()
    X.indptr = X.indptr[:-1]
    with pytest.raises(ValueError, match="indptr must be 7 integers"):
        check_sparse(X)
    X = csr()
    X.data = X.data[:3]
    with pytest.raises(ValueError, match="only 3 stored values"):
        check_sparse(X)
    X = csr()
    X.indices = X.indices.astype(float)
    with pytest.raises(ValueError, match="indices must be 1-D integers, got float64"):
        check_sparse(X)


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_what_is_well_formed_passes(format):
    check_sparse(csr().asformat(format))
    check_sparse(sp.csr_matrix(csr()).asformat(format))
    check_sparse(sp.csr_array((0, 5)).asformat(format))


def test_spare_room_behind_the_last_value_is_allowed():
    X = csr()
    X.data, X.indices = np.append(X.data, 1.0), np.append(X.indices, 99)
    check_sparse(X)


def test_what_is_not_sparse_is_not_looked_at():
    check_sparse(np.eye(3))
    check_sparse(None)


WRONG_PARTS = {
    "csr: a list": ("csr", "indices", list, "indices must be 1-D integers, got list"),
    "csr: nothing": ("csr", "indptr", lambda array: None, "indptr must be 1-D integers, got NoneType"),
    "csr: values in two dimensions": ("csr", "data", lambda array: array[:, None], "data must be 1-D numbers"),
    "csc: words": ("csc", "data", lambda array: array.astype(str), "data must be 1-D numbers, got <U"),
    "bsr: values in two dimensions": ("bsr", "data", lambda array: array[:, 0], "data must be 3-D numbers"),
    "coo: one coordinate": ("coo", "coords", lambda coords: coords[:1], "1 arrays of coordinates"),
    "coo: fractions": ("coo", "coords", lambda coords: (coords[0], coords[1] / 2), "col must be 1-D integers"),
    "dia: fractions": ("dia", "offsets", lambda array: array + 0.5, "offsets must be 1-D integers, got float64"),
    "dia: offsets that wrap": ("dia", "offsets", lambda array: array.astype(np.int64) + 2**32, "offset 429496"),
    "dia: equal offsets": ("dia", "offsets", lambda array: array * 0, "offsets are equal"),
    "dok: beyond": ("dok", "_dict", lambda entries: {(6, 0): 1.0}, r"key \(6, 0\)"),
    "dok: words": ("dok", "_dict", lambda entries: {"ab": 1.0}, "key 'ab'"),
}


@pytest.mark.parametrize("name", WRONG_PARTS)
def test_parts_that_are_no_arrays_or_hold_something_else(name):
    """SciPy corrupts memory when it converts some of these: diagonals with offsets that are not integers, say."""
    format, part, spoil, message = WRONG_PARTS[name]
    X = csr().asformat(format)
    setattr(X, part, spoil(getattr(X, part)))
    with pytest.raises(ValueError, match=f"X is malformed: .*{message}"):
        check_sparse(X)


@pytest.mark.parametrize("columns", [None, [0.5], ["a"]])
def test_lists_of_something_else(columns):
    X = csr().tolil()
    X.rows[3], X.data[3] = columns, [1.0]
    with pytest.raises(ValueError, match="row 3 must be a list of integers"):
        check_sparse(X)


def test_sparse_arrays_have_two_dimensions():
    with pytest.raises(ValueError, match=r"X must be two-dimensional, got a sparse array of shape \(3,\)"):
        check_sparse(sp.coo_array(np.ones(3)))
