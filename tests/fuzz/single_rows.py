"""Recipes of one row, as a Predictor takes it: in every form that is a row, and in many that are none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


def _row(width, seed):
    return np.random.default_rng(seed).standard_normal(width)


def _frame(row):
    import pandas as pd

    return pd.DataFrame([row])


ORDINARY_ROWS = {
    "array": lambda row: row,
    "list": list,
    "tuple": tuple,
    "single precision": lambda row: row.astype("f4"),
    "reversed": lambda row: row[::-1],
    "matrix of one row": lambda row: row[None],
    "pair": lambda row: (np.arange(len(row)), row),
    "pair of lists": lambda row: (list(range(len(row)))[::-1], list(row)),
    "pair of nothing": lambda row: (np.array([], dtype=int), np.array([])),
    "pair that repeats": lambda row: ([0, 0], [1.0, 2.0]),
    "csr": lambda row: sp.csr_array(row[None]),
    "coo": lambda row: sp.coo_matrix(row[None]),
    "whole": lambda row: np.rint(row).astype(int),
    "frame": _frame,
}
ODD_ROWS = {
    "huge": lambda row: row * 1e300,
    "objects": lambda row: row.astype(object),
    "numbers as words": lambda row: row.astype(str),
    "long doubles": lambda row: row.astype("g"),
    "sparse and one-dimensional": lambda row: sp.coo_array(row),
    "other byte order": lambda row: row.astype(">f8"),
    "pair of unsigned": lambda row: (np.arange(len(row), dtype="u8"), row),
}
WRONG_ROWS = {
    "nan": lambda row: row * np.nan,
    "inf": lambda row: row + np.inf,
    "too long": lambda row: np.append(row, 1.0),
    "too short": lambda row: row[:-1],
    "nothing": lambda row: None,
    "a number": lambda row: 3.0,
    "a word": lambda row: "row",
    "words": lambda row: ["a"] * len(row),
    "complex": lambda row: row + 1j,
    "three dimensions": lambda row: row[None, None],
    "two rows": lambda row: np.stack([row, row]),
    "two sparse rows": lambda row: sp.csr_array(np.stack([row, row])),
    "index out of range": lambda row: ([len(row)], [1.0]),
    "index far out of range": lambda row: ([2**40], [1.0]),
    "negative index": lambda row: (np.array([-1]), np.array([1.0])),
    "pair of different lengths": lambda row: ([0, 0], [1.0]),
    "index that is a float": lambda row: ([0.5], [1.0]),
    "pair of matrices": lambda row: (np.array([[0]]), np.array([[1.0]])),
    "nan in a pair": lambda row: ([0], [np.nan]),
    "a dict": lambda row: {0: 1.0},
    "malformed": lambda row: _malformed_row(row),
    "truth values out of place": lambda row: ([True], ["a"]),
}
ROWS = ORDINARY_ROWS | ODD_ROWS | WRONG_ROWS


def _malformed_row(row):
    X = sp.csr_array(np.append(row[1:], 1.0)[None])
    X.indices[-1] = 2**30
    return X


@dataclass(frozen=True)
class Row:
    """A recipe of one row."""

    kind: str
    width: int
    seed: int

    def make(self):
        return ROWS[self.kind](_row(self.width, self.seed))
