"""The protocol of a cluster: keep something beside every piece of the rows, and gather or sum a function of pieces.

The rows of a cluster are in *blocks*, which are numbered, and a worker has a *piece*: some of the blocks. What a fit
asks of a cluster is that a function is called once for every piece, with what the workers keep of that piece. The
results stay with the pieces, or come to the client, or their sum does. Whoever writes these three methods (and gives
the rows as something that is kept) has ported every algorithm of the package.

A function must not write to what it is given, because a cluster may call it twice, when a worker is lost, say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isrht.rows.workers.tree import TreeSum

# What is kept of all pieces, as the cluster refers to it: delayed objects of Dask, an RDD of Spark.
Kept = Any


class Workers:
    """A cluster that has the rows of one data set. Subclasses write the first three methods.

    Parameters
    ----------
    pieces : list of list of int
        The numbers of the blocks of each piece. The order of sums follows from these numbers, never from the pieces, so
        a fit has the same bits however the blocks are dealt to workers.
    """

    def __init__(self, pieces: list[list[int]]):
        self.pieces = pieces

    def spread(self, values: list) -> Kept:
        """Send an object of its own to every piece, and return what is kept."""
        raise NotImplementedError

    def keep(self, what: str, function: Callable, *kept: Kept) -> Kept:
        """Call ``function(*values)`` for every piece, and keep the results there.

        Parameters
        ----------
        what : str
            A word for what is done, to be seen by those who watch the cluster.
        function : callable
            It is given what is kept of a piece, one value for each of ``kept``.
        *kept : Kept or None
            None is given to the function as it is.
        """
        raise NotImplementedError

    def gather(self, what: str, function: Callable, *kept: Kept) -> list:
        """Call ``function(*values)`` for every piece, and return the list of results."""
        raise NotImplementedError

    def total(self, what: str, function: Callable, *kept: Kept) -> Any:
        """Return the sum over all blocks, of which the function returns the :class:`TreeSum` of a piece.

        A cluster may add the sums of pieces on its workers (:meth:`TreeSum.merged`) before they come to the client.
        """
        return TreeSum.merged(self.gather(what, function, *kept)).result()
