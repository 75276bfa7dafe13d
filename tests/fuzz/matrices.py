"""Recipes of rows: arrays of every shape, type and layout, sparse matrices of every format, sound and damaged ones.

A recipe is ``faulty`` where every use of it as X must raise an error, and ``ordinary`` where every use must succeed.
Others may do either: the largest numbers may overflow, and it is for scikit-learn to say which strings are numbers.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from hypothesis import strategies as st

ORDINARY_VALUES = ("normal", "scattered", "whole")
ODD_VALUES = ("zeros", "ones", "equal rows", "huge", "tiny", "subnormal", "spread", "one huge")
NOT_FINITE_VALUES = ("nan", "inf", "-inf")

ORDINARY_TYPES = ("f8", "f4", "i4", "i8")
ODD_TYPES = ("f2", "g", "?", "i1", "u1", "u8", ">f8", ">f4", ">i2", "O", "U", "S", "M8[s]")
WRONG_TYPES = ("c16", "words", "none")

ORDINARY_LAYOUTS = ("C", "F", "reversed", "stepped", "part of wider", "misaligned", "read-only", "list")
ODD_LAYOUTS = (
    "broadcast",
    "tuple",
    "memmap",
    "masked",
    "pandas",
    "pandas numbers",
    "pandas sparse",
    "polars",
    "matrix",
)

SPARSE_FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dia", "dok")
QUIRKS = (
    "unsorted",
    "duplicates",
    "explicit zeros",
    "spare room",
    "read-only",
    "stepped",
    "misaligned",
    "mixed indices",
    "swapped indices",
    "unsigned indices",
    "short indices",
)


def numbers(shape, values, dtype, seed):
    """Return real numbers of a kind, which may be the largest or smallest that a type has, as that type or float64."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    floats = dtype if dtype.kind == "f" and dtype.itemsize <= 8 else np.dtype("f8")
    limits = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(floats)
    x = np.asarray(rng.standard_normal(shape))
    if values == "scattered":
        x = x * (rng.random(shape) < 0.4)
    elif values == "whole":
        x = rng.integers(-3, 4, shape).astype("f8")
    elif values in ("zeros", "ones"):
        x = np.full(shape, float(values == "ones"))
    elif values == "equal rows":
        x = np.broadcast_to(x[:1], shape).copy() if np.ndim(x) else x
    elif values == "huge":
        x = np.clip(x, -1, 1) * float(limits.max) * 0.99
    elif values == "tiny":
        x = x * float(np.finfo(floats).tiny)
    elif values == "subnormal":
        x = np.rint(x) * float(np.finfo(floats).smallest_subnormal)
    elif values == "spread":
        x = x * 10.0 ** rng.uniform(-30, 30, shape)
    return _with_one(x, values, float(limits.max), rng)


def _with_one(x, values, largest, rng):
    """Put one value that is not like the others somewhere."""
    if values in (*NOT_FINITE_VALUES, "one huge") and np.size(x):
        x = np.atleast_1d(x)
        x.reshape(-1)[rng.integers(x.size)] = largest if values == "one huge" else float(values)
    return x


def cast(x, dtype):
    """Return the numbers in a type; whole types take the nearest they have."""
    if dtype == "words":
        return np.where(x > 0, "yes", "no")
    if dtype == "none":
        x = np.asarray(x).astype(object)
        x.reshape(-1)[:1] = None
        return x
    dtype = np.dtype(dtype)
    with np.errstate(all="ignore"):
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            x = np.clip(np.nan_to_num(np.rint(x)), float(limits.min), np.nextafter(float(limits.max), 0))
        elif dtype.kind == "M":
            x = np.nan_to_num(x)
        elif dtype.kind == "c":
            return x + 1j
        return x.astype(dtype)


@dataclass(frozen=True)
class Dense:
    """An array, or a table that holds one."""

    shape: tuple[int, ...]
    dtype: str = "f8"
    values: str = "normal"
    layout: str = "C"
    seed: int = 0

    def make(self):
        array = cast(numbers(self.shape, self.values, _number_type(self.dtype), self.seed), self.dtype)
        return LAYOUTS[self.layout](np.asarray(array))

    @property
    def n_rows(self):
        return self.shape[0] if self.shape else 0

    @property
    def width(self):
        return self.shape[1] if len(self.shape) == 2 else None

    @property
    def faulty(self):
        not_finite = self.values in NOT_FINITE_VALUES and self.dtype not in WRONG_TYPES
        not_finite = not_finite and np.dtype(self.dtype).kind in "fOUS"
        wrong = self.dtype in WRONG_TYPES or (not_finite and self.layout not in ("broadcast", "pandas sparse"))
        return len(self.shape) != 2 or 0 in self.shape or wrong or self.layout == "matrix"

    @property
    def ordinary(self):
        usual = self.values in ORDINARY_VALUES and self.dtype in ORDINARY_TYPES and self.layout in ORDINARY_LAYOUTS
        return usual and len(self.shape) == 2 and 0 not in self.shape

    @property
    def in_single_precision(self):
        return self.dtype == "f4" and self.layout not in ("list", "tuple", "pandas sparse", "polars")

    @property
    def readable_rows(self):
        """Whether it is among those that the twin of a test can make an array of: numbers in two dimensions."""
        return not self.faulty and np.dtype(self.dtype).kind in "fiub"


def _number_type(dtype):
    """Return the type of the numbers before they are cast: NaN and infinity have no meaning in some."""
    return "f8" if dtype in WRONG_TYPES or np.dtype(dtype).kind not in "fiub" else dtype


def _reversed(array):
    return np.flip(np.flip(array).copy()) if array.ndim else array


def _stepped(array):
    if not array.ndim:
        return array
    wide = np.zeros([2 * size + 1 for size in array.shape], dtype=array.dtype)
    view = wide[tuple(slice(1, None, 2) for _ in array.shape)]
    view[...] = array
    return view


def _part_of_wider(array):
    if not array.ndim:
        return array
    wide = np.zeros([size + 3 for size in array.shape], dtype=array.dtype)
    view = wide[tuple(slice(2, 2 + size) for size in array.shape)]
    view[...] = array
    return view


def _misaligned(array):
    if array.dtype.hasobject:
        return array
    memory = np.zeros(array.nbytes + 1, dtype=np.uint8)
    view = np.ndarray(array.shape, array.dtype, buffer=memory, offset=1)
    view[...] = array
    return view


def _read_only(array):
    array = np.array(array)
    array.flags.writeable = False
    return array


def _broadcast(array):
    return np.broadcast_to(array[:1], array.shape) if array.ndim and len(array) else array


def _memory_map(array):
    if not array.size or array.dtype.hasobject:
        return array
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype=array.dtype, mode="w+", shape=array.shape)
    mapped[...] = array
    return mapped


def _named(array):
    if array.ndim != 2:
        return array
    return pd.DataFrame(array.astype(array.dtype.newbyteorder("=")), columns=[f"f{j}" for j in range(array.shape[1])])


def _pandas_numbers(array):
    return pd.DataFrame(array.astype(array.dtype.newbyteorder("="))) if array.ndim == 2 else array


def _pandas_sparse(array):
    if array.ndim != 2 or array.dtype.kind not in "fiu" or array.dtype.itemsize > 8 or 0 in array.shape:
        return array
    return pd.DataFrame.sparse.from_spmatrix(sp.csr_array(array.astype("f8")))


def _polars(array):
    if array.ndim != 2 or array.dtype.kind not in "fiub" or array.dtype.itemsize > 8 or array.dtype == "f2":
        return array
    array = array.astype(array.dtype.newbyteorder("="))
    return pl.DataFrame({f"f{j}": array[:, j] for j in range(array.shape[1])})


def _matrix(array):
    return np.asmatrix(array) if array.ndim <= 2 else array


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "reversed": _reversed,
    "stepped": _stepped,
    "part of wider": _part_of_wider,
    "misaligned": _misaligned,
    "read-only": _read_only,
    "list": np.ndarray.tolist,
    "broadcast": _broadcast,
    "tuple": lambda array: tuple(map(tuple, array.tolist())) if array.ndim == 2 else tuple(np.atleast_1d(array)),
    "memmap": _memory_map,
    "masked": np.ma.masked_array,
    "pandas": _named,
    "pandas numbers": _pandas_numbers,
    "pandas sparse": _pandas_sparse,
    "polars": _polars,
    "matrix": _matrix,
}


@dataclass(frozen=True)
class Sparse:
    """A sparse matrix or array, which may have something unusual about it (``quirk``) or wrong with it (``damage``)."""

    shape: tuple[int, int]
    format: str = "csr"
    array: bool = True
    dtype: str = "f8"
    values: str = "scattered"
    indices: str = "i4"
    quirk: str | None = None
    damage: str | None = None
    seed: int = 0

    def make(self):
        filled = cast(numbers(self.shape, self.values, self.dtype, self.seed), self.dtype.replace(">", "<"))
        if self.damage and filled.size:
            filled[0, 0] = filled[-1, -1] = 1
        X = sp.csr_array(filled) if self.array else sp.csr_matrix(filled)
        X = X.asformat(self.format)
        for name in ("indices", "indptr", "offsets"):
            if hasattr(X, name):
                setattr(X, name, getattr(X, name).astype(self.indices))
        if self.dtype.startswith(">") and self.format not in ("lil", "dok"):
            X.data = X.data.astype(self.dtype)  # SciPy makes no such matrix, but lets one be made of another
        if self.damage:
            DAMAGES[self.format][self.damage](X)
        elif self.quirk and self.format in ("csr", "csc"):
            _with_quirk(X, self.quirk, self.seed)
        return X

    @property
    def n_rows(self):
        return self.shape[0]

    @property
    def width(self):
        return self.shape[1]

    @property
    def faulty(self):
        not_finite = self.values in NOT_FINITE_VALUES and np.dtype(self.dtype).kind == "f"
        return 0 in self.shape or not_finite or bool(self.damage) or self.dtype == "c16"

    @property
    def ordinary(self):
        usual = self.values in ORDINARY_VALUES and self.dtype in ORDINARY_TYPES and not self.damage
        return (
            usual and 0 not in self.shape and self.quirk not in ("swapped indices", "unsigned indices", "short indices")
        )

    @property
    def in_single_precision(self):
        return self.dtype == "f4"

    @property
    def readable_rows(self):
        return not self.faulty


def _with_quirk(X, quirk, seed):
    """Change the arrays of a CSR or CSC matrix in a way that leaves its values what they are."""
    if quirk == "unsorted":
        for start, stop in zip(X.indptr, X.indptr[1:], strict=False):
            X.indices[start:stop] = X.indices[start:stop][::-1].copy()
            X.data[start:stop] = X.data[start:stop][::-1].copy()
        X.has_sorted_indices = X.has_canonical_format = False
    elif quirk == "duplicates":
        X.indices, X.data = np.repeat(X.indices, 2), np.repeat(X.data, 2)
        X.data[1::2] = 0 if X.data.dtype.kind in "biuf" else X.data[1::2]
        X.indptr = X.indptr * 2
        X.has_canonical_format = False
    elif quirk == "explicit zeros" and X.nnz:
        X.data[np.random.default_rng(seed).integers(X.nnz, size=2)] = 0
    elif quirk == "spare room":
        X.indices = np.append(X.indices, 2**31 - 1).astype(X.indices.dtype)
        X.data = np.append(X.data, np.zeros(1, dtype=X.data.dtype))
    elif quirk in ("read-only", "stepped", "misaligned"):
        for name in ("data", "indices", "indptr"):
            setattr(X, name, LAYOUTS[quirk](getattr(X, name)))
    elif quirk == "mixed indices":
        X.indptr = X.indptr.astype("i8" if X.indices.dtype == np.int32 else "i4")
    elif quirk == "swapped indices":
        X.indices = X.indices.astype(X.indices.dtype.newbyteorder(">"))
    elif quirk == "unsigned indices":
        X.indices, X.indptr = X.indices.astype("u8"), X.indptr.astype("u8")
    elif quirk == "short indices":
        X.indices = X.indices.astype("i2")


def _put(name, place, value):
    """Return a function that changes one number in an array of a matrix."""

    def damage(X):
        array = getattr(X, name).copy()
        array[place] = value(X) if callable(value) else value
        setattr(X, name, array)

    return damage


def _replace(name, make):
    """Return a function that replaces an array of a matrix by another one."""
    return lambda X: setattr(X, name, make(getattr(X, name)))


COMPRESSED_DAMAGES = {
    "index too large by one": _put("indices", 0, lambda X: X.shape[X.format == "csr"]),
    "index far too large": _put("indices", -1, 2**31 - 1),
    "index somewhat too large": _put("indices", -1, lambda X: X.shape[X.format == "csr"] + 1000),
    "negative index": _put("indices", 0, -1),
    "very negative index": _put("indices", -1, -(2**31)),
    "pointer negative": _put("indptr", 1, -5),
    "pointer too large": _put("indptr", -1, 10**7),
    "pointer too large by one": _put("indptr", -1, lambda X: len(X.data) + 1),
    "pointer too large within": _put("indptr", 1, 2**31 - 1),
    "pointers begin late": _put("indptr", 0, 1),
    "pointer that wraps": _replace("indptr", lambda array: array + np.array([0] * (len(array) - 1) + [2**32])),
    "pointers too few": _replace("indptr", lambda array: array[:-1]),
    "pointers too many": _replace("indptr", lambda array: np.append(array, array[-1]).astype(array.dtype)),
    "no pointers": _replace("indptr", lambda array: array[:0]),
    "values too few": _replace("data", lambda array: array[:-1]),
    "no values": _replace("data", lambda array: array[:0]),
    "indices too few": _replace("indices", lambda array: array[:-1]),
    "indices floats": _replace("indices", lambda array: array.astype("f8")),
    "pointers floats": _replace("indptr", lambda array: array.astype("f8")),
    "indices truth values": _replace("indices", lambda array: array.astype(bool)),
    "indices objects": _replace("indices", lambda array: array.astype(object)),
    "indices strings": _replace("indices", lambda array: array.astype(str)),
    "indices two-dimensional": _replace("indices", lambda array: array[:, None]),
    "pointers two-dimensional": _replace("indptr", lambda array: array[:, None]),
    "values two-dimensional": _replace("data", lambda array: array[:, None]),
    "values a scalar": _replace("data", lambda array: np.array(1.0)),
    "values complex": _replace("data", lambda array: array + 1j),
    "values words": _replace("data", lambda array: np.full(len(array), "yes")),
    "indices a list": _replace("indices", list),
    "pointers a list": _replace("indptr", list),
    "values a list": _replace("data", list),
    "no indices at all": _replace("indices", lambda array: None),
    "no pointers at all": _replace("indptr", lambda array: None),
}
DAMAGES = {
    "csr": COMPRESSED_DAMAGES,
    "csc": COMPRESSED_DAMAGES,
    "bsr": {
        name: COMPRESSED_DAMAGES[name]
        for name in (
            "index far too large",
            "negative index",
            "pointer negative",
            "pointer too large",
            "pointers begin late",
            "pointers too few",
            "no values",
            "indices too few",
            "indices floats",
        )
    }
    | {
        "blocks of nothing": _replace("data", lambda array: array[:, :0]),
        "blocks too high": _replace("data", lambda array: np.zeros((len(array), 999, 1))),
        "values two-dimensional": _replace("data", lambda array: array[:, :, 0]),
    },
    "coo": {
        "row too large": _put("row", 0, lambda X: X.shape[0]),
        "row far too large": _put("row", -1, 2**31 - 1),
        "negative column": _put("col", 0, -1),
        "column too large": _put("col", -1, lambda X: X.shape[1]),
        "values too few": _replace("data", lambda array: array[:-1]),
        "rows too few": lambda X: setattr(X, "coords", (X.coords[0][:-1], X.coords[1])),
        "columns floats": lambda X: setattr(X, "coords", (X.coords[0], X.coords[1] + 0.5)),
        "columns missing": lambda X: setattr(X, "coords", X.coords[:1]),
        "values two-dimensional": _replace("data", lambda array: array[:, None]),
    },
    "lil": {
        "column too large": lambda X: (X.rows.__setitem__(0, [X.shape[1]]), X.data.__setitem__(0, [1.0])),
        "negative column": lambda X: (X.rows.__setitem__(0, [-1]), X.data.__setitem__(0, [1.0])),
        "lists of different length": lambda X: X.rows.__setitem__(0, [0] * 999),
        "columns floats": lambda X: (X.rows.__setitem__(0, [0.5]), X.data.__setitem__(0, [1.0])),
        "columns words": lambda X: (X.rows.__setitem__(0, ["a"]), X.data.__setitem__(0, [1.0])),
        "values words": lambda X: (X.rows.__setitem__(0, [0]), X.data.__setitem__(0, ["a"])),
        "lists too few": _replace("rows", lambda array: array[:-1]),
        "no list": lambda X: X.rows.__setitem__(0, None),
    },
    "dia": {
        "offsets too many": _replace("offsets", lambda array: np.append(array, array).astype(array.dtype)),
        "offsets two-dimensional": _replace("offsets", lambda array: array[:, None]),
        "offsets floats": _replace("offsets", lambda array: array + 0.5),
        "values one-dimensional": _replace("data", lambda array: array[0]),
    },
    "dok": {
        "row too large": lambda X: X._dict.__setitem__((X.shape[0], 0), 1.0),
        "negative column": lambda X: X._dict.__setitem__((0, -1), 1.0),
        "keys words": lambda X: X._dict.__setitem__(("a", 0), 1.0),
    },
}


N_ROWS = st.sampled_from([30, 33, 40, 30, 36, 64, 0, 1, 2, 3, 5, 8, 13, 150])
WIDTHS = st.sampled_from([2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 1, 64, 100, 0])
RARE_WIDTHS = st.sampled_from([130, 257, 450])
SEEDS = st.integers(0, 999)


def mostly(usual, *others, often=4):
    """Draw from the usual values so many times as often as from each group of others."""
    return st.sampled_from([group for group in (usual,) * often + others if group]).flatmap(st.sampled_from)


@st.composite
def dense(draw, n_rows=N_ROWS, width=WIDTHS, dimensions=2):
    shape = (draw(n_rows), draw(width), 3)[:dimensions]
    return Dense(
        shape,
        draw(mostly(ORDINARY_TYPES, ODD_TYPES, WRONG_TYPES, often=6)),
        draw(mostly(ORDINARY_VALUES, ODD_VALUES, NOT_FINITE_VALUES, often=7)),
        draw(mostly(ORDINARY_LAYOUTS, ODD_LAYOUTS, often=2)),
        draw(SEEDS),
    )


@st.composite
def sparse(draw, n_rows=N_ROWS, width=WIDTHS, damaged=None):
    format = draw(mostly(("csr", "csc"), SPARSE_FORMATS, often=2))
    shape = draw(n_rows), draw(width)
    damaged = draw(st.integers(0, 3)) == 0 if damaged is None else damaged
    return Sparse(
        shape,
        format,
        draw(st.booleans()),
        draw(mostly(ORDINARY_TYPES, ("?", "u1", ">f4", ">f8"), often=6)),
        draw(mostly(ORDINARY_VALUES, ODD_VALUES, NOT_FINITE_VALUES, often=7)),
        draw(st.sampled_from(["i4", "i8"])),
        draw(st.none() | st.sampled_from(QUIRKS)),
        draw(st.sampled_from(sorted(DAMAGES[format]))) if damaged and 0 not in shape else None,
        draw(SEEDS),
    )


def matrices(n_rows=N_ROWS, width=WIDTHS):
    """Anything that might be given for X, most often something sound of two dimensions."""
    odd_dimensions = st.sampled_from([0, 1, 3]).flatmap(lambda ndim: dense(n_rows, width, ndim))
    return st.sampled_from([dense(n_rows, width)] * 8 + [sparse(n_rows, width)] * 7 + [odd_dimensions]).flatmap(
        lambda chosen: chosen
    )


def ordinary_matrices(n_rows, width):
    """Rows that every estimator must take."""
    arrays = st.builds(
        Dense,
        st.tuples(n_rows, width),
        st.sampled_from(ORDINARY_TYPES),
        st.sampled_from(ORDINARY_VALUES),
        st.sampled_from(ORDINARY_LAYOUTS),
        SEEDS,
    )
    return arrays | sparse(n_rows, width, damaged=False).filter(lambda recipe: recipe.ordinary)


def as_numbers(X):
    """Return the numbers in rows that are readable, as a float64 array of their own: the twin's way."""
    if sp.issparse(X):
        return X.toarray().astype(np.float64)
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    return np.array(X, dtype=np.float64)
