"""Recipes of arrays and tables: numbers of every kind, shape, type and layout.

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
