"""Which rows are drawn for X: how often an array or a sparse matrix, sound or damaged, and of which shape."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from fuzz.dense import (
    NOT_FINITE_VALUES,
    ODD_LAYOUTS,
    ODD_TYPES,
    ODD_VALUES,
    ORDINARY_LAYOUTS,
    ORDINARY_TYPES,
    ORDINARY_VALUES,
    WRONG_TYPES,
    Dense,
)
from fuzz.sparse import DAMAGES, QUIRKS, SPARSE_FORMATS, Sparse

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
