"""Copies of arrays in memory that is used again, as soon as nobody refers to a copy any longer.

Fresh memory is dear: the system clears every page of it when it is first written to, and threads wait for each other
meanwhile. A pass that copies block after block, and lets go of each, needs the memory of a few of them only.
"""

from __future__ import annotations

import sys

import numpy as np


class ReusedMemory:
    """Memory for copies. A view of a copy, of whatever kind, keeps its memory from being used again."""

    def __init__(self):
        self._buffers = [np.empty(0, dtype=np.uint8)]
        self._references_of_unused = self._references(0)

    def copy(self, X):
        """Return a copy of an array, in C order."""
        buffer = self._unused(X.nbytes)
        copied = buffer[: X.nbytes].view(X.dtype).reshape(X.shape)
        copied[...] = X
        return copied

    def _unused(self, size):
        """Return an unused buffer of at least so many bytes; unused ones that are smaller are let go of."""
        unused = [number for number in range(len(self._buffers)) if self._is_unused(number)]
        found = next((number for number in unused if self._buffers[number].nbytes >= size), None)
        if found is not None:
            return self._buffers[found]
        for number in reversed(unused):
            del self._buffers[number]
        self._buffers.append(np.empty(size, dtype=np.uint8))
        return self._buffers[-1]

    def _is_unused(self, number):
        return self._references(number) <= self._references_of_unused

    def _references(self, number):
        """Return how many refer to a buffer, as Python counts them here: the list, and perhaps this very call."""
        return sys.getrefcount(self._buffers[number])
