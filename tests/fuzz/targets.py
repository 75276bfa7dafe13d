"""Recipes of what belongs to the rows: labels of every kind and weights of every size, for any number of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from hypothesis import strategies as st

from fuzz.matrices import SEEDS, mostly


def _codes(n, n_classes):
    return np.arange(n) % n_classes


def _words(n):
    return np.array(["no", "yes", "perhaps"])[_codes(n, 3)]


def _rare(n):
    codes = np.zeros(n, dtype=int)
    codes[n // 2 : n // 2 + 1] = 1
    return codes


def _with_one(array, value):
    array[:1] = value
    return array


ORDINARY_LABELS = {
    "two": lambda n: _codes(n, 2),
    "signs": lambda n: 2 * _codes(n, 2) - 1,
    "three": lambda n: _codes(n, 3),
    "words": _words,
    "objects": lambda n: _words(n).astype(object),
    "whole floats": lambda n: _codes(n, 2) * 2.0,
    "truth values": lambda n: _codes(n, 2).astype(bool),
    "list": lambda n: _words(n).tolist(),
    "read-only": lambda n: _read_only(_codes(n, 2)),
    "stepped": lambda n: np.repeat(_codes(n, 2), 2)[::2],
    "reversed": lambda n: _codes(n, 2)[::-1],
    "other byte order": lambda n: _codes(n, 3).astype(">i4"),
    "pandas": lambda n: pd.Series(_words(n)),
}
ODD_LABELS = {
    "one class": lambda n: np.zeros(n, dtype=int),
    "one row of a class": _rare,
    "all different": np.arange,
    "many classes": lambda n: _codes(n, 9),
    "column": lambda n: _codes(n, 2)[:, None],
    "huge integers": lambda n: _codes(n, 2).astype(np.uint64) + np.uint64(2**63),
    "large and small": lambda n: np.where(_codes(n, 2), 2**62, -(2**62)),
    "halves": lambda n: _codes(n, 2).astype(np.float16),
    "bytes": lambda n: _words(n).astype("S"),
    "dates": lambda n: _codes(n, 2).astype("M8[D]"),
    "categories": lambda n: pd.Series(_words(n), dtype="category"),
    "nullable": lambda n: pd.Series(_codes(n, 2), dtype="Int64"),
    "polars": lambda n: pl.Series(_words(n).tolist(), dtype=pl.String),
    "frame": lambda n: pd.DataFrame({"y": _codes(n, 2)}),
    "empty words": lambda n: np.array(["", "a\0b"])[_codes(n, 2)],
    "mixed": lambda n: np.array(["a", 1], dtype=object)[_codes(n, 2)],
    "long doubles": lambda n: _codes(n, 2).astype(np.longdouble),
    "masked": lambda n: np.ma.masked_array(_codes(n, 2)),
    "nothing": lambda n: None,
}
WRONG_LABELS = {
    "fractions": lambda n: _codes(n, 5) + 0.5,
    "nan": lambda n: _with_one(_codes(n, 2).astype(float), np.nan),
    "inf": lambda n: _with_one(_codes(n, 2).astype(float), np.inf),
    "None among words": lambda n: _with_one(_words(n).astype(object), None),
    "too few": lambda n: _codes(max(0, n - 1), 2),
    "too many": lambda n: _codes(n + 1, 2),
    "two columns": lambda n: np.stack([_codes(n, 2), _codes(n, 3)], axis=1),
    "three dimensions": lambda n: _codes(n, 2)[:, None, None],
    "complex": lambda n: _codes(n, 2) + 1j,
    "sparse": lambda n: sp.csr_array(_codes(n, 2)[:, None]),
    "scalar": lambda n: 1,
    "a word": lambda n: "yes",
    "a dict": lambda n: dict.fromkeys(range(n), 0),
    "lists of lists": lambda n: [[0, 1][: 1 + i % 2] for i in range(n)],
    "iterator": lambda n: iter(range(n)),
}
LABELS = ORDINARY_LABELS | ODD_LABELS | WRONG_LABELS


def _read_only(array):
    array.flags.writeable = False
    return array


@dataclass(frozen=True)
class Labels:
    kind: str

    def make(self, n_rows):
        return LABELS[self.kind](n_rows)

    @property
    def ordinary(self):
        return self.kind in ORDINARY_LABELS

    @property
    def faulty(self):
        return self.kind in WRONG_LABELS


def _uniform(n, seed=0, low=0.5, high=2.0):
    return np.random.default_rng(seed).uniform(low, high, n)


ORDINARY_WEIGHTS = {
    "none": lambda n, seed: None,
    "ones": lambda n, seed: np.ones(n),
    "uniform": _uniform,
    "one number": lambda n, seed: 2.0,
    "single precision": lambda n, seed: _uniform(n, seed).astype("f4"),
    "whole": lambda n, seed: 1 + np.arange(n) % 3,
    "list": lambda n, seed: _uniform(n, seed).tolist(),
    "of a share": lambda n, seed: _uniform(n, seed) / max(1, n),
    "read-only": lambda n, seed: _read_only(_uniform(n, seed)),
    "stepped": lambda n, seed: _uniform(2 * n, seed)[::2],
    "series": lambda n, seed: pd.Series(_uniform(n, seed)),
}
ODD_WEIGHTS = {
    "some zero": lambda n, seed: np.random.default_rng(seed).integers(0, 2, n).astype(float),
    "one of all": lambda n, seed: _with_one(np.zeros(n), 1.0),
    "one dominates": lambda n, seed: _with_one(np.full(n, 1e-6), 1e6),
    "of every size": lambda n, seed: 10.0 ** np.random.default_rng(seed).uniform(-90, 90, n),
    "tiny": lambda n, seed: _uniform(n, seed) * 1e-99,
    "huge": lambda n, seed: _uniform(n, seed) * 1e99,
    "almost zero": lambda n, seed: np.where(np.arange(n) % 2, 1.0, 5e-324),
    "truth values": lambda n, seed: np.arange(n) % 3 > 0,
    "objects": lambda n, seed: np.ones(n, dtype=object),
    "numbers as words": lambda n, seed: np.full(n, "1.5"),
    "column": lambda n, seed: np.ones((n, 1)),
    "long doubles": lambda n, seed: np.ones(n, dtype=np.longdouble),
    "other byte order": lambda n, seed: np.ones(n, dtype=">f8"),
}
WRONG_WEIGHTS = {
    "zeros": lambda n, seed: np.zeros(n),
    "zero": lambda n, seed: 0,
    "negative": lambda n, seed: _with_one(np.ones(n), -1.0),
    "minus one": lambda n, seed: -1.0,
    "nan": lambda n, seed: _with_one(np.ones(n), np.nan),
    "inf": lambda n, seed: _with_one(np.ones(n), np.inf),
    "not a number": lambda n, seed: float("nan"),
    "below all bounds": lambda n, seed: np.full(n, 1e-300),
    "above all bounds": lambda n, seed: np.full(n, 1e300),
    "too few": lambda n, seed: np.ones(max(0, n - 1)),
    "too many": lambda n, seed: np.ones(n + 1),
    "two columns": lambda n, seed: np.ones((n, 2)),
    "words": lambda n, seed: np.full(n, "heavy"),
    "a word": lambda n, seed: "balanced",
    "complex": lambda n, seed: np.ones(n) + 1j,
    "a dict": lambda n, seed: {0: 1.0},
    "sparse": lambda n, seed: sp.csr_array(np.ones((n, 1))),
    "complex number": lambda n, seed: 1j,
}
WEIGHTS = ORDINARY_WEIGHTS | ODD_WEIGHTS | WRONG_WEIGHTS


@dataclass(frozen=True)
class Weights:
    kind: str = "none"
    seed: int = 0

    def make(self, n_rows):
        return WEIGHTS[self.kind](n_rows, self.seed)

    @property
    def ordinary(self):
        return self.kind in ORDINARY_WEIGHTS

    @property
    def faulty(self):
        return self.kind in WRONG_WEIGHTS


def labels():
    return st.builds(Labels, mostly(tuple(ORDINARY_LABELS), tuple(ODD_LABELS), tuple(WRONG_LABELS), often=6))


def ordinary_labels():
    return st.builds(Labels, st.sampled_from(sorted(ORDINARY_LABELS)))


def weights():
    kinds = mostly(("none",), tuple(ORDINARY_WEIGHTS), tuple(ODD_WEIGHTS), tuple(WRONG_WEIGHTS), often=3)
    return st.builds(Weights, kinds, SEEDS)


def ordinary_weights():
    return st.builds(Weights, st.just("none") | st.sampled_from(sorted(ORDINARY_WEIGHTS)), SEEDS)
