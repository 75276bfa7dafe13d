"""The layout of partitions for a pass: tiny ones are joined to blocks, and blocks are dealt to threads.

A task of Dask costs milliseconds, so a pass should be one task for every thread that a cluster has, however many
partitions there are. Which partitions make a block follows from their sizes alone, because the order of sums follows
from the blocks; which thread works on which blocks changes no bit of a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

# Partitions are joined until a block has as many bytes, so that a block is worth the calls that are made for it.
BLOCK_BYTES = 2**22


@dataclass(frozen=True)
class Layout:
    """A plan of the rows: the partitions of each block, the blocks of each piece, and the worker that has each piece.

    ``homes`` has addresses of workers, or None where Dask may choose.
    """

    blocks: list[list[int]]
    pieces: list[list[int]]
    homes: list[str | None]


def first_layout(n_partitions, threads, located=None):
    """Return the layout for the first pass, in which nothing is known of the sizes of partitions.

    Parameters
    ----------
    n_partitions : int
    threads : list of str or None
        For each thread of the cluster, the address of its worker.
    located : list of str or None, default=None
        For each partition the address of the worker that has it in memory, if they are in memory.

    Returns
    -------
    Layout
    """
    return layout([[i] for i in range(n_partitions)], np.ones(n_partitions), threads, located)


def layout(blocks, weights, threads, located=None):
    """Return blocks dealt to threads: neighbours go together, or those that one worker has in memory already.

    Parameters
    ----------
    blocks : list of list of int
        The partitions of each block.
    weights : array
        How much work each block is.
    threads, located
        As :func:`first_layout` has them.

    Returns
    -------
    Layout
    """
    if located is None:
        pieces = dealt(np.arange(len(blocks)), np.asarray(weights, dtype=float), len(threads))
        places = [threads[i * len(threads) // len(pieces)] for i in range(len(pieces))]
        return Layout(blocks, pieces, _homes(places, threads))
    homes = [located[block[0]] for block in blocks]
    pieces, places = [], []
    for home in sorted(set(homes)):
        mine = np.flatnonzero([one == home for one in homes])
        dealt_here = dealt(mine, np.asarray(weights, dtype=float)[mine], max(1, list(threads).count(home)))
        pieces, places = pieces + dealt_here, places + [home] * len(dealt_here)
    return Layout(blocks, pieces, _homes(places, threads))


def _homes(places, threads):
    """Return where pieces are at home. One worker alone needs no address, and what comes in its place has another."""
    return places if len(set(threads)) > 1 else [None] * len(places)


def dealt(numbers, weights, count):
    """Return consecutive numbers in at most ``count`` lists of about the same weight, none of them empty."""
    if count >= len(numbers):
        return [[number] for number in numbers.tolist()]
    ends = np.cumsum(weights) - np.asarray(weights) / 2
    whole = max(float(np.sum(weights)), 1e-300)
    owner = np.minimum((ends / whole * count).astype(int), count - 1)
    cuts = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(numbers)]
    return [numbers[first:last].tolist() for first, last in pairwise(cuts)]


def joined_partitions(n_bytes):
    """Return which partitions make each block: neighbours are joined until they are large enough together."""
    blocks, size = [[]], 0
    for number, some in enumerate(n_bytes):
        if size >= BLOCK_BYTES or (blocks[-1] and size + some > 2 * BLOCK_BYTES):
            blocks, size = [*blocks, []], 0
        blocks[-1].append(number)
        size += some
    return blocks
