"""What one fit is given: rows, labels and weights, which are drawn so that they must serve, or at random."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from fuzz.blocks import Blocks, blocks, ordinary_blocks, with_labels
from fuzz.dense import Dense
from fuzz.matrices import N_ROWS, RARE_WIDTHS, WIDTHS, matrices, ordinary_matrices
from fuzz.parameters import TAKES_SOURCES
from fuzz.sparse import Sparse
from fuzz.targets import Labels, Weights, labels, ordinary_labels, ordinary_weights, weights
from isrht import ISRHT, SparseEmbedding

# Rows of more than 2,048 features are rotated in two. An SVM with so many takes seconds.
VERY_WIDE = st.just(2100)


@dataclass(frozen=True)
class Data:
    """What one fit is given."""

    X: Dense | Sparse | Blocks
    labels: Labels
    weights: Weights

    @property
    def sure(self):
        enough = self.X.n_rows >= 30 and (self.X.width or 0) >= 2
        return enough and self.X.ordinary and self.labels.ordinary and self.weights.ordinary


def widths(cls, usual):
    """Draw a strategy for the number of features, which is seldom large."""
    return st.sampled_from([usual] * 9 + [VERY_WIDE if cls in (ISRHT, SparseEmbedding) else RARE_WIDTHS])


@st.composite
def any_data(draw, cls):
    width = draw(widths(cls, WIDTHS))
    as_source = cls in TAKES_SOURCES and draw(st.integers(0, 4)) == 0
    rows = draw(blocks(width) if as_source else matrices(N_ROWS, width))
    return Data(rows, draw(labels()), draw(weights()))


@st.composite
def sure_data(draw, cls):
    width = draw(widths(cls, st.integers(2, 40)))
    as_source = cls in TAKES_SOURCES and draw(st.integers(0, 4)) == 0
    rows = draw(ordinary_blocks(width) if as_source else ordinary_matrices(st.integers(30, 45), width))
    chosen = draw(ordinary_labels())
    rows = with_labels(rows, chosen) if as_source and draw(st.booleans()) else rows
    return Data(rows, chosen, draw(ordinary_weights()))
