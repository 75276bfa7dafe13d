"""The bits of bzip2: where blocks begin, and how a block, or all that is left of a stream, becomes a stream of its own.

A stream is ``BZh`` and a digit, then blocks, then an end. A block begins at any bit with a mark of 48 bits and its CRC
of 32. The end has another mark and the CRC of all blocks together, and is filled up to a whole byte. Nothing tells how
long a block is, but it needs nothing of those before it, and within a block a mark occurs by chance once in 2**48 bits,
which are 35 TB.

To unpack what begins in the midst of a stream, no bits are moved. A small block is put before it, the lead, which is so
long that it ends at the bit where the rest begins. Four bytes of its text can give it any CRC: with that of all blocks
before it together, the check at the end of the stream stays what it was.
"""

from __future__ import annotations

import bz2
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np

BLOCK, END = 0x314159265359, 0x177245385090
MARK_BITS, CRC_BITS = 48, 32
# What stands before a stream, and a stream without blocks.
MAGIC, MAGIC_BITS = b"BZh", 32
EMPTY = bz2.compress(b"")
# A block has at most 900,000 symbols of at most 20 bits, and tables of some kilobytes.
LONGEST = 2_400_000
POLYNOMIAL = 0x04C11DB7
# A mark that begins within a byte ends six bytes later.
REACH = 6


class Mark(NamedTuple):
    """A mark, and the bit at which it begins."""

    bit: int
    is_block: bool


def marks(data):
    """Return the marks in some bytes, in their order: all that begin at least ``REACH`` bytes before the last one ends.

    The second and third of the seven bytes that a mark may touch are its own, at whatever bit it begins. These two are
    looked up for every byte; the others are compared only where they fit, which is at one byte in 2,000.
    """
    octets, n_starts = np.frombuffer(data, dtype=np.uint8), len(data) - REACH
    if n_starts <= 0:
        return []
    # Pairs that begin at odd and at even bytes are both looked at where they lie.
    pairs = [np.frombuffer(data, "<u2", (n_starts - odd + 1) // 2, 1 + odd) for odd in (0, 1)]
    starts = np.concatenate([2 * np.flatnonzero(_PAIRS.take(pairs[odd])) + odd for odd in (0, 1)])
    sevens = octets[starts[:, None] + np.arange(REACH + 1)].astype(np.uint64)
    words = np.bitwise_or.reduce(sevens << np.arange(8 * REACH, -1, -8, dtype=np.uint64), axis=1)
    at_shifts = (words[:, None] >> np.arange(8, 0, -1, dtype=np.uint64)) & np.uint64(2**MARK_BITS - 1)
    found = [(kind, *np.nonzero(at_shifts == np.uint64(kind))) for kind in (BLOCK, END)]
    return sorted(
        Mark(8 * int(starts[row]) + int(shift), kind == BLOCK)
        for kind, rows, shifts in found
        for row, shift in zip(rows, shifts, strict=True)
    )


def _pairs_of_marks():
    """Return for each pair of bytes, the first being the lower one, whether a mark may have it after its first byte."""
    fits = np.zeros(2**16, dtype=bool)
    for mark in (BLOCK, END):
        for shift in range(8):
            _, first, second, *_ = (mark << (8 - shift)).to_bytes(REACH + 1)
            fits[first | second << 8] = True
    return fits


_PAIRS = _pairs_of_marks()


def bits(data, start, n_bits):
    """Return the number that some bits of bytes are, or None if there are not so many."""
    stop = -(-(start + n_bits) // 8)
    if stop > len(data):
        return None
    return int.from_bytes(data[start // 8 : stop]) >> (8 * stop - start - n_bits) & (2**n_bits - 1)


def together(combined, crc):
    """Return the CRC of some blocks, and of one more, together."""
    return ((combined << 1 | combined >> 31) & 0xFFFFFFFF) ^ crc


class Lead(NamedTuple):
    """The beginning of a stream, and how many bytes its one block unpacks to."""

    packed: bytes
    n_unpacked: int


@lru_cache(256)
def lead(level, bit, combined):
    """Return the beginning of a stream that ends at a bit of its last byte, and whose block has a given CRC.

    Which bit it ends at depends on the text, so texts are tried until it is the right one, about eight of them.

    Parameters
    ----------
    level : int
        The digit of the stream, from 1 to 9.
    bit : int
        The bit of its last byte at which what follows begins; with 0, all of the last byte belongs to the lead.
    combined : int
        The CRC of its block.
    """
    for size in count():
        text = bytes(number % 256 for number in range(size))
        text += _four_bytes(text, combined)
        stream = bz2.compress(text, 1)
        length = _bits_before_end(stream)
        if length % 8 == bit:
            return Lead(MAGIC + b"%d" % level + stream[len(MAGIC) + 1 : -(-length // 8)], len(text))


def _bits_before_end(stream):
    """Return at which bit the end of a stream begins, behind which it is filled up with less than a byte."""
    last = 8 * len(stream) - MARK_BITS - CRC_BITS
    return next(start for start in range(last, last - 8, -1) if bits(stream, start, MARK_BITS) == END)


def _four_bytes(text, crc):
    """Return the four bytes that have to follow a text to give it a CRC.

    A CRC is a register that is shifted once for each bit. Zeros in the place of the four bytes show by what the
    register differs at the end; shifted back, that is what has to be there.
    """
    register = _crc(text + bytes(4)) ^ crc
    for _ in range(32):
        register = (register ^ POLYNOMIAL) >> 1 | 1 << 31 if register & 1 else register >> 1
    return register.to_bytes(4)


def _crc(text):
    """Return the CRC of a text, which the block that it becomes has behind its mark."""
    return bits(bz2.compress(text, 1), MAGIC_BITS + MARK_BITS, CRC_BITS)


def stream_of(level, data, start, stop):
    """Return a stream of one block, and how many bytes it unpacks to before the text of the block begins.

    Parameters
    ----------
    level : int
        The digit of the stream that the block is of.
    data : bytes
        Whole bytes with the block.
    start, stop : int
        The bits of ``data`` from which on, and before which, the block lies, both in its first and last byte.
    """
    before = lead(level, start % 8, 0)
    crc = bits(data, start + MARK_BITS, CRC_BITS)
    used = stop % 8
    end = (END << CRC_BITS | crc) << (-(MARK_BITS + CRC_BITS) - used) % 8
    after = end.to_bytes(-(-(MARK_BITS + CRC_BITS + used) // 8))
    return joined(joined(before.packed, data, start % 8), after, used), before.n_unpacked


def joined(first, second, bit):
    """Return bytes and what follows them from a bit on, within the byte that they share, unless the bit is 0."""
    if bit == 0:
        return first + second
    rest = 0xFF >> bit
    shared = first[-1] & ~rest | second[0] & rest
    return b"".join((memoryview(first)[:-1], bytes((shared,)), memoryview(second)[1:]))
