"""The partitions of a Dask collection as what workers keep of every piece: recipes, or the partitions themselves."""

from __future__ import annotations

from functools import partial

import dask
import numpy as np
from dask import delayed

from isrht.rows.dask import cluster
from isrht.rows.dask._recipes import HasFutures, future_of, loaded, recipes
from isrht.rows.workers import _tasks
from isrht.rows.workers.pieces import Piece


class Partitions:
    """Partitions of rows, or of what belongs to rows, which are delayed objects.

    Parameters
    ----------
    parts : list of delayed objects
    """

    def __init__(self, parts):
        self.parts, self.in_memory = parts, False
        try:
            self.recipes = recipes(parts, cluster.current() is not None)
        except HasFutures:
            self.recipes, self.in_memory = None, True

    def located(self):
        """Return the address of a worker that has each partition in memory, or None where they are not in memory."""
        client = cluster.current()
        if not self.in_memory or client is None:
            return None
        futures = [future_of(part) for part in self.parts]
        if None in futures:
            return None
        from distributed import wait

        wait(futures)
        where = client.who_has(futures)
        homes = [next(iter(where.get(future.key, ())), None) for future in futures]
        return homes if all(homes) else None

    def threads(self):
        """Return the worker of every thread that may have a piece; partitions that only Dask can load go one by one."""
        if self.recipes is None and not self.in_memory:
            return [None] * len(self.parts)
        return cluster.threads()

    def kept(self, layout):
        """Return for each piece a list of its blocks, which are lists of ``(number, partition)``, on its worker."""
        by_piece = [
            [[(number, self._source(number)) for number in layout.blocks[block]] for block in piece]
            for piece in layout.pieces
        ]
        if self.recipes is None:
            return [[[[number, part] for number, part in block] for block in piece] for piece in by_piece]

        def send(i):
            return delayed(by_piece[i], name=cluster.named("recipes", i), traverse=False)

        sent = [cluster.at(home, partial(send, i)) for i, home in enumerate(layout.homes)]
        return list(dask.persist(*sent)) if cluster.current() is not None else sent

    def _source(self, number):
        return self.parts[number] if self.recipes is None else self.recipes[number]


# What follows runs on the workers, and is given what Partitions.kept returns for a piece.


def rows_of(dtype, numbers, blocks):
    """Return a piece whose blocks are put together from partitions, in this precision, when they are needed."""
    return Piece(numbers, partial(map, partial(_block, dtype), blocks))


def _block(dtype, partitions):
    parts = [_tasks.converted(loaded(number, part), number, dtype) for number, part in partitions]
    with_rows = [part for part in parts if part.shape[0]] or parts[:1]
    return _tasks.joined(with_rows)


def facts(blocks):
    """Check all partitions, and return what is to be known of each, with its number."""
    return [[_checked(number, part) for number, part in partitions] for partitions in blocks]


def _checked(number, part):
    return _tasks.checked(loaded(number, part), number)


def values_of(blocks):
    """Return what belongs to the rows of every partition: a list of ``(number, array)`` for each block."""
    return [[(number, np.asarray(loaded(number, part))) for number, part in partitions] for partitions in blocks]
