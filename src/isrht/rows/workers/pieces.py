"""What a worker sees of a piece of the rows: its blocks, one after the other, each loaded when its turn comes."""

from __future__ import annotations

import numpy as np


class Piece:
    """Blocks of rows, of which only one need be in memory.

    Parameters
    ----------
    numbers : list of int
        The number of each block.
    blocks : callable
        It returns an iterator over the blocks, arrays or CSR arrays.
    """

    def __init__(self, numbers, blocks):
        self.numbers, self.blocks = numbers, blocks

    @classmethod
    def held(cls, numbers, blocks):
        """Return a piece whose blocks are in memory."""
        return cls(numbers, lambda: iter(blocks))

    def __iter__(self):
        blocks = self.blocks()
        for number in self.numbers:
            yield number, next(blocks)  # nothing here holds on to a block while the next one is loaded

    def mapped(self, function):
        """Return the piece as a function changes its blocks whenever they are loaded."""
        return Piece(self.numbers, lambda: map(lambda X: applied(function, X), self.blocks()))

    def taken(self, chosen):
        """Return the piece with some of the rows of each block."""
        return Piece(self.numbers, lambda: map(lambda X, rows: X[rows], self.blocks(), chosen))


def applied(function, X):
    """Return what a function makes of the rows of a block; of no rows it makes no rows of the right width."""
    if X.shape[0] == 0:
        return function(np.zeros((1, X.shape[1]), dtype=X.dtype))[:0]
    return function(X)
