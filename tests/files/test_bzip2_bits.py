import bz2
import re
from itertools import pairwise

import numpy as np
import pytest

from isrht.files._bzip2_bits import (
    BLOCK,
    CRC_BITS,
    EMPTY,
    END,
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

TEXT = b"".join(b"%d 1:%d 7:%d\n" % (row % 2, row, row * row) for row in range(30_000))


def marks_slowly(data):
    """Return what :func:`marks` does, by a search in the text of all bits."""
    digits = "".join(f"{byte:08b}" for byte in data)
    found = [
        Mark(match.start(), mark == BLOCK)
        for mark in (BLOCK, END)
        for match in re.finditer(f"(?={mark:048b})", digits)
        if match.start() // 8 + REACH < len(data)
    ]
    return sorted(found)


def with_marks(rng, places, n_bytes):
    """Return random bytes with marks, alternately of both kinds, at some bits."""
    number = int.from_bytes(rng.bytes(n_bytes))
    for count, place in enumerate(places):
        shift = 8 * n_bytes - place - MARK_BITS
        number &= ~((2**MARK_BITS - 1) << shift)
        number |= (BLOCK, END)[count % 2] << shift
    return number.to_bytes(n_bytes)


@pytest.mark.parametrize("first", range(16))
def test_marks_are_found_at_every_bit(first, rng):
    places = [first, first + 48, first + 115, 3456 + first]
    data = with_marks(rng, places, 600)
    assert [mark.bit for mark in marks(data)] == places
    assert marks(data) == marks_slowly(data)


def test_of_few_bytes_nothing_is_a_mark(rng):
    data = with_marks(rng, [0], 20)
    for length in range(20):
        assert marks(data[:length]) == ([Mark(0, True)] if length > REACH else [])


def test_marks_that_overlap_are_found_as_the_twin_finds_them(rng):
    for seed in range(50):
        places = np.random.default_rng(seed).integers(0, 300, size=6)
        data = with_marks(rng, places.tolist(), 50)
        assert marks(data) == marks_slowly(data)


def test_pieces_that_overlap_by_the_reach_of_a_mark_have_each_mark_once(rng):
    data = with_marks(rng, [60, 200, 333], 80)
    for length in range(1, 60):
        found = []
        for start in range(0, len(data), length):
            piece = marks(data[start : start + length + REACH])
            found += [mark._replace(bit=mark.bit + 8 * start) for mark in piece]
        assert found == marks(data)


def test_bits(rng):
    data = rng.bytes(30)
    digits = "".join(f"{byte:08b}" for byte in data)
    for start in range(0, 208):
        assert bits(data, start, CRC_BITS) == int(digits[start : start + CRC_BITS], 2)
    assert bits(data, 209, CRC_BITS) is None


def test_bytes_that_share_one_are_joined():
    assert joined(b"ab", b"cd", 0) == b"abcd"
    assert joined(b"\x01\xf0", b"\xff\x02", 3) == b"\x01\xff\x02"
    assert joined(b"\xf0", b"\x0f", 1) == b"\x8f"


@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("combined", [0, 1, 0x80000000, 0xFFFFFFFF, 0x12345678])
def test_a_lead_ends_at_its_bit_and_has_its_crc(bit, combined):
    before = lead(9, bit, combined)
    end = END << CRC_BITS | combined
    after = (end << (-80 - bit) % 8).to_bytes(10 + (bit > 0))
    assert before.packed[:4] == b"BZh9"
    assert len(bz2.decompress(joined(before.packed, after, bit))) == before.n_unpacked  # which checks the CRC


def test_every_block_is_a_stream_of_its_own():
    packed = bz2.compress(TEXT, 1)
    found = marks(packed)
    assert len(found) > 5
    assert len({mark.bit % 8 for mark in found}) > 2
    texts, combined = [], 0
    for mark, following in pairwise(found):
        shift = mark.bit // 8 * 8
        data = packed[mark.bit // 8 : -(-following.bit // 8)]
        stream, n_before = stream_of(1, data, mark.bit - shift, following.bit - shift)
        texts.append(bz2.decompress(stream)[n_before:])
        combined = together(combined, bits(packed, mark.bit + MARK_BITS, CRC_BITS))
    assert b"".join(texts) == TEXT
    assert bits(packed, found[-1].bit + MARK_BITS, CRC_BITS) == combined


def test_the_rest_of_a_stream_goes_on_behind_a_lead():
    packed = bz2.compress(TEXT, 1)
    combined = 0
    for mark in marks(packed):
        before = lead(1, mark.bit % 8, combined)
        text = bz2.decompress(joined(before.packed, packed[mark.bit // 8 :], mark.bit % 8))
        assert TEXT.endswith(text[before.n_unpacked :])
        combined = together(combined, bits(packed, mark.bit + MARK_BITS, CRC_BITS))
    assert len(text) == before.n_unpacked, "behind the end there is nothing"


def test_an_empty_stream():
    assert marks(EMPTY) == [Mark(MAGIC_BITS, False)]
    assert bz2.decompress(EMPTY) == b""
