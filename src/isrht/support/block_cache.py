"""A cache keeps what was dear to read for the next pass, in a file without a name, as far as there is room for it.

A cache is never needed: where the disk has no room for it, or more is to be kept than is allowed, it is given up with a
warning, and rows are read from where they came. The file vanishes with the cache, after errors and kills, too
(:mod:`isrht.support.spill_file`).
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
import warnings

import numpy as np

from isrht.support.spill_file import SpillFile

# The files of a cache may take so much of what the disk has left.
SHARE_OF_DISK = 0.5
# Buffers begin at multiples of this.
ALIGNMENT = 64


class Room:
    """The bytes that may still be kept: as many as are allowed, and a share of what the disk has left.

    Parameters
    ----------
    limit : int or None, default=None
        None is as much as the disk has room for.
    """

    def __init__(self, limit=None):
        self.limit, self.left = limit, None
        self.given_up = False

    def append(self, file, array):
        """Write an array at the end of a file, and say whether there was room for it."""
        if self.given_up:
            return False
        if self.left is None:
            free = int(SHARE_OF_DISK * shutil.disk_usage(tempfile.gettempdir()).free)
            self.left = free if self.limit is None else min(free, self.limit)
        if not array.nbytes:
            return True
        self.left -= array.nbytes
        if self.left < 0:
            self.give_up("they take more bytes than are allowed, or than half of what the disk has left")
            return False
        try:
            file.append(array)
        except OSError as error:
            self.give_up(str(error))
            return False
        return True

    def give_up(self, why):
        """Keep nothing more, and say so."""
        self.given_up = True
        warnings.warn(
            f"rows are not kept for the next pass, but read again: {why}. TMPDIR names another folder; cache=None "
            "keeps none, and does not warn",
            UserWarning,
            stacklevel=2,
        )


class BlockCache:
    """Blocks in the order in which they were added. A block is anything that can be pickled."""

    def __init__(self, limit=None):
        self.complete = False
        self._room, self._file, self._blocks, self._written = Room(limit), SpillFile("rows that were read"), [], 0

    def append(self, block):
        """Keep a block, if there is room for it."""
        buffers = []
        head = pickle.dumps(block, protocol=5, buffer_callback=buffers.append)
        parts = [np.frombuffer(part, dtype=np.uint8) for part in (head, *(buffer.raw() for buffer in buffers))]
        sizes = [len(part) for part in parts]
        packed = np.zeros(sum(map(_aligned, sizes)), dtype=np.uint8)
        for start, part in zip(np.cumsum([0, *map(_aligned, sizes[:-1])]), parts, strict=True):
            packed[start : start + len(part)] = part
        if self._room.append(self._file, packed):
            self._blocks.append((self._written, sizes))
            self._written += len(packed)
        else:
            self._blocks = []
            self._file.close()

    def __iter__(self):
        for start, sizes in self._blocks:
            packed = np.empty(sum(map(_aligned, sizes)), dtype=np.uint8)
            self._file.read_into(packed, start)
            starts = np.cumsum([0, *map(_aligned, sizes[:-1])])
            parts = [packed[first : first + size] for first, size in zip(starts, sizes, strict=True)]
            yield pickle.loads(parts[0], buffers=parts[1:])

    def keep(self, blocks):
        """Yield blocks, and keep them; the cache is complete when all of them were kept."""
        for block in blocks:
            self.append(block)
            yield block
            del block
        self.complete = not self._room.given_up


def _aligned(size):
    return -(-size // ALIGNMENT) * ALIGNMENT
