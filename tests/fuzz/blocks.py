"""Recipes of row sources: blocks of rows that fit each other, and blocks that do not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from fuzz.dense import Dense
from fuzz.matrices import as_numbers, dense, matrices, sparse
from fuzz.sparse import Sparse
from fuzz.targets import Labels, labels
from isrht import RowSource

ORDINARY_FORMS = ("list", "tuple", "function")
ODD_FORMS = ("one buffer", "longer the second time")
WRONG_FORMS = ("generator", "not blocks")


@dataclass(frozen=True)
class Blocks:
    """A RowSource over the parts; ``labels`` are those of all rows, in the blocks too, or None."""

    parts: tuple[Dense | Sparse, ...]
    labels: Labels | None = None
    form: str = "list"

    def make(self):
        return RowSource(FORMS[self.form](self.pairs()))

    def pairs(self):
        y, start, pairs = None if self.labels is None else self.labels.make(self.n_rows), 0, []
        for part in self.parts:
            stop = start + part.n_rows
            pairs.append(part.make() if y is None else (part.make(), _cut(y, start, stop)))
            start = stop
        return pairs

    def together(self):
        """Return all rows as one array or CSR array of float64."""
        rows = np.concatenate([as_numbers(part.make()) for part in self.parts])
        return sp.csr_array(rows) if isinstance(self.parts[0], Sparse) else rows

    @property
    def n_rows(self):
        return sum(part.n_rows for part in self.parts)

    @property
    def width(self):
        """The width of the first block that has rows; sources pass over blocks that have none."""
        return next((part.width for part in self.parts if part.n_rows), None)

    @property
    def faulty(self):
        return not self.n_rows or self.form in WRONG_FORMS or any(part.faulty for part in self.parts if part.n_rows)

    @property
    def ordinary(self):
        alike = len({(part.width, type(part)) for part in self.parts}) == 1
        sound = all(part.ordinary for part in self.parts)
        return alike and sound and self.form in ORDINARY_FORMS and (self.labels is None or self.labels.ordinary)

    @property
    def in_double_precision(self):
        return all(part.dtype != "f4" for part in self.parts)

    readable_rows = False


def _cut(y, start, stop):
    return y[start:stop] if hasattr(y, "__getitem__") and not isinstance(y, dict) else y


def _one_buffer(pairs):
    """Yield every block in the same memory, as readers of files do."""

    def blocks():
        for pair in pairs:
            X = pair[0] if isinstance(pair, tuple) else pair
            if isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.flags.writeable:
                X = X.copy()
            yield (X, *pair[1:]) if isinstance(pair, tuple) else X
            if isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.flags.writeable:
                X[...] = np.nan

    return blocks


def _longer_the_second_time(pairs):
    passes = []

    def blocks():
        passes.append(1)
        return iter(pairs * len(passes))

    return blocks


FORMS = {
    "list": list,
    "tuple": tuple,
    "function": lambda pairs: lambda: iter(pairs),
    "one buffer": _one_buffer,
    "generator": lambda pairs: (pair for pair in pairs),
    "not blocks": lambda pairs: 3,
    "longer the second time": _longer_the_second_time,
}


@st.composite
def blocks(draw, width, forms=ORDINARY_FORMS * 3 + ODD_FORMS):
    """Draw blocks, of which most fit each other."""
    d = draw(width)
    rows = st.sampled_from([12, 15, 30, 1, 0, 40])
    one = draw(st.sampled_from([dense(rows, st.just(d)), sparse(rows, st.just(d), damaged=False)]))
    like = one.filter(lambda part: part.ordinary or part.n_rows == 0)
    kinds = draw(st.lists(st.sampled_from([like] * 12 + [one, matrices(rows, st.just(d)), matrices(rows)]), max_size=4))
    parts = tuple(draw(kind) for kind in kinds)
    return Blocks(parts, draw(st.none() | labels()), draw(st.sampled_from(forms)))


@st.composite
def ordinary_blocks(draw, width):
    d = draw(width)
    rows, seeds = st.sampled_from([30, 31, 12]), st.integers(0, 999)
    types, values = st.sampled_from(["f8", "i4", "f4"]), st.sampled_from(["normal", "scattered", "whole"])
    array = st.builds(Dense, st.tuples(rows, st.just(d)), types, values, st.just("C"), seeds)
    matrix = st.builds(
        Sparse, st.tuples(rows, st.just(d)), st.sampled_from(["csr", "csc"]), st.booleans(), types, values
    )
    parts = tuple(draw(st.lists(draw(st.sampled_from([array, matrix])), min_size=3, max_size=4)))
    return Blocks(parts, None, draw(st.sampled_from(ORDINARY_FORMS)))


def with_labels(recipe, labels):
    """Return the same blocks with labels in them."""
    return replace(recipe, labels=labels)
