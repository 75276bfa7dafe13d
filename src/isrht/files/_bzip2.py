"""Archives packed by bzip2, unpacked by several threads: each takes a block, which needs nothing of those before it.

The thread that reads cuts the packed bytes at the marks with which blocks begin (:mod:`~isrht.files._bzip2_bits`).
Whatever is not as it should be (a block that cannot be unpacked, a mark that is missing, a wrong CRC, bytes after the
last stream) is left to the standard library: from there on, one thread unpacks what is left by
:class:`bz2.BZ2File`, which tells whether and how an archive is damaged. It does so, too, where a mark occurs by chance
within a block, which is then cut in two, and where a block unpacks to much more than blocks do.
"""

from __future__ import annotations

import bz2
import io
from collections import deque
from contextlib import closing
from typing import NamedTuple

from isrht.files._bzip2_bits import (
    CRC_BITS,
    EMPTY,
    LONGEST,
    MAGIC,
    MAGIC_BITS,
    MARK_BITS,
    REACH,
    Mark,
    bits,
    joined,
    lead,
    marks,
    stream_of,
    together,
)
from isrht.support.threads import PAUSE, stream_in_threads

# So many packed bytes are searched for marks at once.
PIECE_BYTES = 2**18
# A block is 900 kB of text, but for runs of one byte, of which it may hold 46 MB. Several of these would be too much.
LARGEST = 2**22
# A mark and a CRC: an end of a stream, or what a block begins with.
HEAD_BITS = MARK_BITS + CRC_BITS
# The standard library reads an archive in parts of so many bytes, and is asked for up to so many unpacked ones.
PART_BYTES, ASKED_BYTES = io.DEFAULT_BUFFER_SIZE, 2**20


class Bzip2Reader(io.RawIOBase):
    """The unpacked bytes of an archive, in the place of :class:`bz2.BZ2File`.

    Parameters
    ----------
    file : binary file object
        The archive, which is read by one thread at a time.
    threads : int
        How many threads unpack; the one that reads is among them.
    """

    def __init__(self, file, threads):
        self._packed = PackedBytes(file)
        self._texts, self._text = self._texts_of_blocks(threads), memoryview(b"")
        self._rest = None  # what one thread unpacks when there are no more texts

    def readable(self):
        return True

    def readinto(self, buffer):
        # As much as is asked for is given, or an error, so that an error comes where it comes without threads.
        count = 0
        while count < len(buffer) and self._has_text():
            part = self._text[: len(buffer) - count]
            buffer[count : count + len(part)] = part
            self._text, count = self._text[len(part) :], count + len(part)
        return count if count == len(buffer) else count + self._rest.readinto(memoryview(buffer)[count:])

    def close(self):
        if not self.closed:
            self._texts.close()
            if self._rest is not None:
                self._rest.close()
        super().close()

    def _has_text(self):
        """Take the text of the next block, if there is none, and say whether there is one now."""
        while not self._text and self._rest is None:
            text = next(self._texts, None)
            if text is not None:
                self._text = text
            elif self._rest is None:
                raise OSError("reading has failed before, and cannot go on")
        return len(self._text) > 0

    def _texts_of_blocks(self, threads):
        """Yield the texts of blocks up to the first that is none, and open what is left."""
        cutter, place = Cutter(self._packed), None
        with closing(stream_in_threads(unpack, cutter.blocks(), threads)) as results:
            for unpacked in results:
                if unpacked.text is None:
                    place = unpacked.place
                    break
                self._packed.forget(unpacked.stop // 8)
                yield unpacked.text
        self._rest = _rest(self._packed, place or cutter.trouble)


class Place(NamedTuple):
    """A place in an archive from which on it can be unpacked: a block, an end, or the beginning of a stream.

    Within a stream its level is known, and the CRC of all blocks before the place together.
    """

    bit: int
    level: int | None = None
    combined: int = 0

    def lead(self):
        """Return what to put before the rest of the archive, and how many bytes that unpacks to."""
        if self.level is not None:
            return lead(self.level, self.bit % 8, self.combined)
        # What follows a whole stream, and is none, is no error.
        return (EMPTY if self.bit else b""), 0


class Block(NamedTuple):
    """A block of an archive, and the place from which to go on if it is none."""

    place: Place
    level: int
    start: int
    stop: int
    packed: bytes


class Unpacked(NamedTuple):
    """The text of a block, or None if that is for others to find out, and where the block begins and ends."""

    place: Place
    stop: int
    text: memoryview | None


def unpack(block):
    """Return the text of a block. Nothing of it is given away before its CRC was compared."""
    shift = block.start // 8 * 8
    stream, n_before = stream_of(block.level, block.packed, block.start - shift, block.stop - shift)
    decompressor = bz2.BZ2Decompressor()
    try:
        text = decompressor.decompress(stream, LARGEST)
    except OSError:
        return Unpacked(block.place, block.stop, None)
    return Unpacked(block.place, block.stop, memoryview(text)[n_before:] if decompressor.eof else None)


class Cutter:
    """Cuts packed bytes into blocks.

    Attributes
    ----------
    trouble : Place or None
        When there are no more blocks: where others have to go on, or None at the end of the archive.
    """

    def __init__(self, packed):
        self.packed, self.trouble = packed, Place(0)

    def blocks(self):
        """Yield the blocks of all streams."""
        start = 0
        while start is not None:
            self.trouble = Place(8 * start)
            header = self.packed.between(start, start + MAGIC_BITS // 8)
            if not header and start and self.packed.fault is None:
                self.trouble = None
                return
            if header[:-1] != MAGIC or header[-1:] not in b"123456789":
                return
            start = yield from self._blocks_of_stream(8 * start + MAGIC_BITS, int(header[-1:]))

    def _is_stream(self, first):
        """Say whether a mark is the first of a stream, and not of what follows one and is ignored.

        The standard library ignores whatever follows a stream and is damaged within the part of the archive in which it
        begins, in which there may be several blocks, or a block and an end that do not go together.
        """
        start = (first - MAGIC_BITS) // 8
        stop = start + PART_BYTES - start % PART_BYTES
        second = self.packed.mark_from(first + HEAD_BITS) if start else None
        if second is None or second.bit >= 8 * stop:
            return True
        if not second.is_block and self.packed.crc_at(second.bit) == self.packed.crc_at(first):
            return True
        try:
            bz2.BZ2Decompressor().decompress(self.packed.between(start, stop), ASKED_BYTES)
        except OSError:
            return False
        return True

    def _blocks_of_stream(self, start, level):
        """Yield the blocks of a stream, and return the byte at which it ends, or None if something is wrong."""
        mark, combined = self.packed.mark_from(start), 0
        if mark is None or mark.bit != start or not self._is_stream(start):
            return None
        if not mark.is_block:
            yield PAUSE  # or an archive of nothing but empty streams would be read into memory
            self.packed.forget(self.trouble.bit // 8)
        while mark.is_block:
            following = self.packed.mark_from(mark.bit + HEAD_BITS)
            if following is None:
                return None
            combined = together(combined, self.packed.crc_at(mark.bit))
            place, self.trouble = self.trouble, Place(following.bit, level, combined)
            data = self.packed.between(mark.bit // 8, -(-following.bit // 8))
            yield Block(place, level, mark.bit, following.bit, data)
            mark = following
        return -(-(mark.bit + HEAD_BITS) // 8) if self.packed.crc_at(mark.bit) == combined else None


class PackedBytes:
    """The packed bytes of an archive that were read, until they are forgotten, and the marks in them.

    Attributes
    ----------
    fault : Exception or None
        Why no more could be read. Whoever needs these bytes raises it.
    """

    def __init__(self, file):
        self._file, self.fault = file, None
        self._pieces, self._start, self._stop = deque(), 0, 0
        self._marks, self._searched = deque(), 0

    def between(self, start, stop):
        """Return the bytes between two places, as far as the archive has them."""
        while self._stop < stop and self._read():
            pass
        parts, place = [], self._start
        for piece in self._pieces:
            parts.append(piece[max(0, start - place) : max(0, stop - place)])
            place += len(piece)
        return b"".join(parts)

    def forget(self, start):
        """Let go of what was read before a place."""
        while self._pieces and self._start + len(self._pieces[0]) <= start:
            self._start += len(self._pieces.popleft())

    def crc_at(self, bit):
        """Return the CRC behind the mark that begins at a bit, or None if the archive ends before it."""
        head = self.between(bit // 8, -(-(bit + HEAD_BITS) // 8))
        return bits(head, bit % 8 + MARK_BITS, CRC_BITS)

    def mark_from(self, bit) -> Mark | None:
        """Return the first mark that begins at a bit or later, or None if there is none where a block could end.

        Marks before the bit are forgotten.
        """
        while True:
            while self._marks:
                if self._marks[0].bit >= bit:
                    return self._marks[0]
                self._marks.popleft()
            if self._searched > bit // 8 + LONGEST or not self._search():
                return None

    def _search(self):
        """Search some more bytes for marks; return False if there are none."""
        data = self.between(self._searched, self._searched + PIECE_BYTES)
        if len(data) <= REACH:
            return False
        self._marks.extend(mark._replace(bit=8 * self._searched + mark.bit) for mark in marks(data))
        self._searched += len(data) - REACH
        return True

    def _read(self):
        """Read some more bytes; return False if there are none."""
        if self.fault is not None:
            return False
        try:
            piece = self._file.read(PIECE_BYTES)
        except Exception as error:  # the text that has been read before it comes first
            self.fault = error
            return False
        self._pieces.append(piece)
        self._stop += len(piece)
        return bool(piece)


def _rest(packed, place):
    """Open the text of an archive from a place on; None means that it is at its end."""
    if place is None:
        return io.BytesIO()
    start, n_before = place.lead()
    file = bz2.BZ2File(Rest(packed, place.bit, start))
    file.read(n_before)
    return file


class Rest:
    """What is left of packed bytes from a bit on, as a file object, with other bytes before it.

    It is read in the parts in which a file is read from its beginning, on which it depends what is taken for a stream.
    """

    def __init__(self, packed, bit, before):
        self._packed, self._place = packed, bit // 8
        self._before = before
        if bit % 8:
            self._before = joined(before, packed.between(self._place, self._place + 1), bit % 8)
            self._place += 1

    def read(self, count):
        """Return up to so many bytes."""
        if self._before:
            before, self._before = self._before, b""
            return before
        data = self._packed.between(self._place, self._place + count - self._place % count)
        if not data and self._packed.fault is not None:
            raise self._packed.fault
        self._place += len(data)
        self._packed.forget(self._place)
        return data
