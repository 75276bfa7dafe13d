"""Consecutive rows cut anew into blocks of one size, whatever pieces they come in.

A file yields its rows in pieces of its own choice. Cut anew, they make the blocks that the same rows have in memory, so
that sums over blocks have the same order, and a model has the same bits.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht.support.matrices import rows_of
from isrht.support.threads import PAUSE


def recut(pieces, block_rows):
    """Yield the rows of all pieces in their order, ``block_rows`` at a time (fewer in the last part).

    Parameters
    ----------
    pieces : iterable of ndarray or CSR array
        All of them are dense, or all are sparse. Some may have no rows. After a piece whose memory will be written to
        again comes ``PAUSE``.
    block_rows : int

    Yields
    ------
    ndarray, CSR array or ``PAUSE``
        A view of a piece where one piece has all rows of the part. ``PAUSE`` asks for views that were yielded before.
    """
    part, viewed = None, False
    for piece in pieces:
        if piece is PAUSE:
            if part is not None:
                part.keep()
            if viewed:
                yield PAUSE
            viewed = False
            continue
        start, size = 0, piece.shape[0]
        while start < size:
            if part is None and size - start >= block_rows:
                yield rows_of(piece, slice(start, start + block_rows))
                start, viewed = start + block_rows, True
                continue
            part = _new_part(piece, block_rows) if part is None else part
            stop = min(size, start + block_rows - part.count)
            part.add(rows_of(piece, slice(start, stop)))
            start = stop
            if part.count == block_rows:
                yield part.pop()
                part = None
        del piece
    if part is not None:
        yield part.pop()


def _new_part(piece, block_rows):
    return _SparsePart() if sp.issparse(piece) else _DensePart(block_rows, piece)


class _DensePart:
    """Dense rows of several pieces, gathered in one array, so that they never are in memory twice."""

    def __init__(self, block_rows, piece):
        self.rows, self.count = np.empty((block_rows, piece.shape[1]), dtype=piece.dtype), 0

    def add(self, piece):
        self.rows[self.count : self.count + len(piece)] = piece
        self.count += len(piece)

    def keep(self):
        """Do nothing: all rows are copies."""

    def pop(self):
        rows, self.rows = self.rows[: self.count], None
        return rows


class _SparsePart:
    """Sparse rows of several pieces, which are put together when all of them have come."""

    def __init__(self):
        self.pieces, self.count, self.own = [], 0, 0

    def add(self, piece):
        self.pieces.append(piece)
        self.count += piece.shape[0]

    def keep(self):
        """Copy what has come since the last time, whose memory will be written to again."""
        self.pieces[self.own :] = [piece.copy() for piece in self.pieces[self.own :]]
        self.own = len(self.pieces)

    def pop(self):
        pieces, self.pieces = self.pieces, None
        return sp.vstack(pieces, format="csr") if len(pieces) > 1 else pieces[0]
