"""Rows for the golden configurations, and the ways in which an estimator can be given them.

The numbers must be the same on every machine and under every NumPy. They come from ``RandomState``, whose streams never
change, and are rounded to hundredths, so that the last bit of a logarithm does not matter. Multiples of a power of two
would not do: their sums are exact, and would hide that they are taken in another order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

import isrht
from isrht.rows import sources

sources.HELD_BYTES = 0  # or fits would hold these few rows in memory, and not read them block by block
N_HELD_OUT = 6
TREES = np.array(["alder", "ash", "beech", "birch", "cedar", "elm", "larch", "oak", "pine", "yew"])
# Where rows are cut into blocks that are of very different sizes, as shares of all rows.
CUTS = (0, 0.1, 0.55, 0.56, 1)


class Rows(NamedTuple):
    """Rows, their labels, and their weights or None."""

    X: object
    y: object
    weights: np.ndarray | None = None


@dataclass(frozen=True)
class Sample:
    """Some rows of classes that overlap, so that C and columns are a choice; the last few rows are held out."""

    n_samples: int = 240
    n_features: int = 40
    n_classes: int = 2
    dtype: str = "float64"
    sparse: bool = False
    named_classes: bool = False
    weighted: bool = False

    @property
    def training(self):
        return self._part(slice(None, self.n_samples))

    @property
    def held_out(self):
        return self._part(slice(self.n_samples, None))

    def _part(self, rows):
        X, y, weights = self._drawn
        X = X[rows].astype(self.dtype)
        return Rows(sp.csr_array(X) if self.sparse else X, y[rows], weights[rows] if self.weighted else None)

    @cached_property
    def _drawn(self):
        rng = np.random.RandomState(2020)
        shape = self.n_samples + N_HELD_OUT, self.n_features
        codes = rng.randint(self.n_classes, size=shape[0]).astype(np.int64)
        centres = rng.standard_normal((self.n_classes, self.n_features)) * (rng.uniform(size=self.n_features) < 0.3)
        X = np.round(100 * (rng.standard_normal(shape) + 0.7 * centres[codes] + 0.2)) / 100
        X *= 2.0 ** rng.randint(-2, 3, size=self.n_features)
        if self.sparse:
            X[rng.uniform(size=shape) > max(0.1, 15 / self.n_features)] = 0
        weights = rng.choice([0.0, 0.3, 1.0, 2.2], size=shape[0])
        return X, TREES[codes] if self.named_classes else codes, weights


def in_memory(rows, folder):
    return rows


def from_blocks(rows, folder):
    """Give a source of blocks, which bring their labels."""
    blocks = [(rows.X[block], rows.y[block]) for block in _blocks(rows)]
    return Rows(isrht.RowSource(blocks), None, rows.weights)


def from_npz(rows, folder):
    """Give a source that reads an NPZ file."""
    path = Path(folder, "rows.npz")
    if sp.issparse(rows.X):
        sp.save_npz(path, rows.X)
        return Rows(isrht.RowSource(path), rows.y, rows.weights)
    np.savez(path, X=rows.X, y=rows.y)
    return Rows(isrht.RowSource(path), None, rows.weights)


def from_libsvm(rows, folder):
    """Give a source that reads LIBSVM text, which has the labels."""
    path = Path(folder, "rows.svm")
    isrht.files.write_rows(path, rows.X, rows.y)
    opened = isrht.files.open_rows(path, n_features=rows.X.shape[1]).in_blocks(50)
    return Rows(isrht.RowSource(opened), None, rows.weights)


def from_dask(rows, folder):
    """Give Dask arrays of uneven chunks, or delayed blocks of sparse rows; without a cluster, threads compute them."""
    import dask
    import dask.array as da

    blocks = _blocks(rows)
    if sp.issparse(rows.X):
        return Rows([dask.delayed(rows.X[block]) for block in blocks], rows.y, rows.weights)
    chunks = tuple(block.stop - block.start for block in blocks)
    X = da.from_array(rows.X, chunks=(chunks, rows.X.shape[1]))
    return Rows(X, da.from_array(rows.y, chunks=(chunks,)), rows.weights)


def _blocks(rows):
    cuts = [round(share * len(rows.y)) for share in CUTS]
    return [slice(first, last) for first, last in pairwise(cuts) if first < last]
