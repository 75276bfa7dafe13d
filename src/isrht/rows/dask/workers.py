"""The protocol of workers, done by Dask: a call for every piece is one task, and what is kept are futures."""

from __future__ import annotations

import dask
from dask import delayed

from isrht.rows.dask import cluster
from isrht.rows.dask._stranded import given_up_when_stranded
from isrht.rows.workers.protocol import Workers
from isrht.rows.workers.tree import TreeSum

# So few sums of pieces come to the client as they are: to send one of them to the worker of another takes longer.
FEW = 2


class DaskWorkers(Workers):
    """The workers of a Dask cluster, or threads of this process.

    Parameters
    ----------
    layout : Layout
    partitions : list of delayed objects
        By which errors of Dask are told apart.
    """

    def __init__(self, layout, partitions):
        super().__init__(layout.pieces)
        self._layout, self._partitions = layout, partitions

    def spread(self, values):
        """Send an object of its own to every piece."""

        def send(i):
            return delayed(values[i], name=cluster.named("spread", i), traverse=False)

        return list(dask.persist(*self._at_home(send)))

    def keep(self, what, function, *kept):
        """Call a function for every piece, and keep the results in the memory of the worker that has it."""
        return list(dask.persist(*self._calls(what, function, kept)))

    def gather(self, what, function, *kept):
        """Call a function for every piece, and return the results."""
        return self._compute(self._calls(what, function, kept))

    def total(self, what, function, *kept):
        """Call a function for every piece, and return the sum, which the workers add up."""
        sums = self._calls(what, function, kept)
        if len(sums) <= FEW:
            return TreeSum.merged(self._compute(sums)).result()
        return self._compute(cluster.tree_sum(sums)).result()

    def _calls(self, what, function, kept):
        send = cluster.sent(function, len(self.pieces))

        def call(i):
            values = [None if some is None else some[i] for some in kept]
            return delayed(_call)(send, *values, dask_key_name=cluster.named(what, i))

        return self._at_home(call)

    def _at_home(self, make):
        return [cluster.at(home, lambda i=i: make(i)) for i, home in enumerate(self._layout.homes)]

    def _compute(self, what):
        """Return the result of delayed objects; an error says in which block it happened."""
        with given_up_when_stranded(what, self._layout.homes):
            try:
                return cluster.compute(what)
            except Exception as error:
                if not str(error).startswith("block "):
                    self._find_fault(error)
                raise

    def _find_fault(self, error):
        """Raise an error that says in which block another one happened, by loading the blocks one after the other."""
        if type(error).__name__ == "KilledWorker":
            raise MemoryError(
                f"{self._blocks_of(error.task)}: workers died again and again at {error.task}: does it need more "
                "memory than a worker has?"
            ) from error
        if type(error).__name__ in ("FutureCancelledError", "CancelledError"):
            raise ConnectionError("the Dask client was closed, or lost its scheduler, while it waited") from error
        for i, part in enumerate(self._partitions):
            try:
                cluster.compute(delayed(_n_rows)(part))
            except Exception as fault:
                if type(fault) is type(error):
                    kind = OSError if isinstance(fault, OSError) else ValueError
                    raise kind(f"block {i}: {type(fault).__name__}: {fault}") from error
                raise

    def _blocks_of(self, task):
        piece = cluster.piece_of(task)
        if piece is None:
            guilty = [i for i, part in enumerate(self._partitions) if task in part.__dask_graph__()]
        else:
            guilty = [number for block in self.pieces[piece] for number in self._layout.blocks[block]]
        if not guilty:
            return "some block"
        return f"block {guilty[0]}" if len(guilty) == 1 else f"one of the blocks {guilty[0]} to {guilty[-1]}"


# What follows runs on the workers.


def _call(sent, *values):
    return sent.function(*values)


def _n_rows(X):
    return X.shape[0]
