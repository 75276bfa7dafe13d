"""Random signs: the diagonal D of the paper, drawn in Python, so that all kernels are given the same ones."""

from __future__ import annotations

import numpy as np


def random_signs(rng, size):
    """Return independent signs, +1 and -1 with equal chance, one byte each.

    Parameters
    ----------
    rng : numpy.random.RandomState
    size : int or tuple of int

    Returns
    -------
    ndarray of int8
    """
    return (2 * rng.randint(2, size=size) - 1).astype(np.int8)


def counted_signs(seed, stream, size):
    """Return the first signs of a stream that follows from a seed, whatever the version, the machine or the size.

    They are the bits of Philox4x64-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), a function
    of a key and a counter. With the key (seed, 0), the counters (1, 0, 0, stream), (2, 0, 0, stream), ... give four
    words of 64 bits each. Sign number k is -1 where bit ``k % 64``, counted from the lowest, of word ``k // 64`` is
    set, else +1.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1.
    stream : int
        The number of the stream, from 0 to 2**64 - 1.
    size : int

    Returns
    -------
    ndarray of int8
    """
    generator = np.random.Philox(key=seed, counter=stream << 192)
    words = np.asarray(generator.random_raw(-(-size // 64)), dtype="<u8")
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")[:size]
    return 1 - 2 * bits.astype(np.int8)
