"""A cluster in ten lines: everything is pickled, as if it went to another machine, and pieces are worked on in turn."""

import numpy as np
import pytest

from isrht.rows.workers.pieces import Piece
from isrht.rows.workers.protocol import Workers
from isrht.rows.workers.rows import WorkerRows

cloudpickle = pytest.importorskip("cloudpickle")


class HereWorkers(Workers):
    """The three calls of the protocol."""

    def spread(self, values):
        return [cloudpickle.dumps(value) for value in values]

    def keep(self, what, function, *kept):
        return self.spread(self.gather(what, function, *kept))

    def gather(self, what, function, *kept):
        sent = cloudpickle.dumps(function)
        by_piece = [
            [None if one is None else cloudpickle.loads(one[i]) for one in kept] for i in range(len(self.pieces))
        ]
        return [cloudpickle.loads(sent)(*values) for values in by_piece]


def rows_of(X, cuts, pieces):
    blocks = np.split(X, cuts)
    workers = HereWorkers(pieces)
    kept = workers.spread([(piece, [blocks[number] for number in piece]) for piece in pieces])
    return WorkerRows.surveyed(workers, [kept], lambda kept: Piece.held(*kept))
