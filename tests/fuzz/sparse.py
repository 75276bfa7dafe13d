"""Recipes of sparse matrices of every format: sound ones, unusual ones, and damaged ones that must be refused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from fuzz.dense import LAYOUTS, NOT_FINITE_VALUES, ORDINARY_TYPES, ORDINARY_VALUES, cast, numbers

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
    """Change the arrays of a CSR or CSC matrix in a way that leaves it as sound, or as faulty, as it is."""
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
    elif quirk == "explicit zeros":
        finite = np.flatnonzero(np.isfinite(X.data))  # a matrix that is meant to have a NaN keeps it
        X.data[np.random.default_rng(seed).permutation(finite)[:2]] = 0
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
