"""Archives of bzip2, unpacked by threads. The twin is the standard library, by which one thread unpacks them."""

import bz2
import io
import threading
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht import RowSource
from isrht.files import _bzip2
from isrht.files._bzip2 import Bzip2Reader, Cutter, PackedBytes, unpack
from isrht.files._bzip2_bits import BLOCK, END, Mark, marks
from isrht.files._trouble import RemoteError
from isrht.files.errors import FileError
from isrht.files.limits import Limits
from isrht.files.opening import open_rows, read_rows
from isrht.files.remote import file_system
from isrht.files.streams import open_bytes

# Blocks of 100 kB that are packed to 80 bytes, and of text that is not so even.
EVEN = b"1 1:1\n" * 40_000
UNEVEN = b"".join(b"%d 1:%d 7:%d\n" % (row % 2, row, row * row) for row in range(20_000))
EMPTY = bz2.compress(b"")


@pytest.fixture
def archive(tmp_path):
    """Write bytes to an archive."""

    def write(content, name="x.bz2"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def only_threads(monkeypatch):
    """Let nothing be left to one thread."""

    rest = _bzip2._rest

    def refuse(packed, place):
        assert place is None, "one thread was to unpack what is left"
        return rest(packed, place)

    monkeypatch.setattr(_bzip2, "_rest", refuse)


@pytest.fixture
def left_to_one(monkeypatch):
    """The places from which on one thread has unpacked."""
    places, rest = [], _bzip2._rest

    def note(packed, place):
        places.extend([place] * (place is not None))
        return rest(packed, place)

    monkeypatch.setattr(_bzip2, "_rest", note)
    return places


def outcome(path, threads, **options):
    """Return what is unpacked, and how it ends."""
    chunks = []
    try:
        with open_bytes(path, threads=threads, **options) as stream:
            while chunk := stream.read(2**20):
                chunks.append(chunk)
    except FileError as error:
        return b"".join(chunks), str(error)
    return b"".join(chunks), None


def assert_as_alone(path, threads=2, **options):
    """Compare threads with the standard library, and return how it ends."""
    expected = outcome(path, 1, **options)
    assert outcome(path, threads, **options) == expected
    return expected[1]


@pytest.mark.parametrize("level", [1, 9])
@pytest.mark.parametrize("size", [1, 899_980, 899_981, 899_999, 900_000, 900_001, 2_500_000])
@pytest.mark.parametrize("kind", ["numbers", "any"])
def test_texts_of_every_size(archive, only_threads, rng, size, level, kind):
    text = (UNEVEN * (size // len(UNEVEN) + 1))[:size] if kind == "numbers" else rng.bytes(size)
    assert outcome(archive(bz2.compress(text, level)), 2) == (text, None)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_streams_one_after_the_other(archive, only_threads, threads):
    texts = [EVEN, UNEVEN, b"", b"one", UNEVEN[:77_777], b""]
    content = b"".join(bz2.compress(text, 1 + 8 * (number % 2)) for number, text in enumerate(texts))
    assert outcome(archive(content), threads) == (b"".join(texts), None)
    assert outcome(archive(EMPTY + content), threads) == (b"".join(texts), None)


def test_nothing(archive, only_threads):
    assert outcome(archive(EMPTY), 2) == outcome(archive(EMPTY * 3), 2) == (b"", None)


@pytest.mark.parametrize("piece", [7, 8, 9, 64, 83, 1000])
def test_pieces_that_cut_marks_in_two(archive, only_threads, monkeypatch, piece):
    monkeypatch.setattr(_bzip2, "PIECE_BYTES", piece)
    content = bz2.compress(EVEN, 1) + bz2.compress(b"other") + bz2.compress(EVEN[1:], 1)
    assert outcome(archive(content), 2) == (EVEN + b"other" + EVEN[1:], None)


def test_runs_that_unpack_to_much_more_than_blocks_do_are_left_to_one_thread(archive, left_to_one):
    text = UNEVEN + bytes(20_000_000) + UNEVEN
    path = archive(bz2.compress(text, 1))
    assert assert_as_alone(path) is None
    assert len(left_to_one) == 1
    with open(path, "rb") as file:
        first, *_, last = [unpack(block).text for block in Cutter(PackedBytes(file)).blocks()]
    assert len(first) > 90_000
    assert last is not None


def alphabet_of(mark):
    """Return the bytes of a text whose blocks have a mark in them: what bytes they have is told in 16 bits for 16."""
    return bytes(32 + place for place, digit in enumerate(f"{mark:048b}") if digit == "1")


@pytest.mark.parametrize("mark", [BLOCK, END])
def test_a_mark_within_a_block(archive, left_to_one, rng, mark):
    letters = np.frombuffer(alphabet_of(mark), dtype=np.uint8)
    steps = rng.integers(1, len(letters), 250_000)  # runs would have other bytes in their place
    text = letters[steps.cumsum() % len(letters)].tobytes()
    content = bz2.compress(UNEVEN, 1) + bz2.compress(text, 1) + bz2.compress(UNEVEN, 1)
    expected = [Mark(121, mark == BLOCK)] * 3
    assert [found for found in in_blocks(bz2.compress(text, 1)) if found.bit == 121] == expected
    assert outcome(archive(content), 2) == (UNEVEN + text + UNEVEN, None)
    assert len(left_to_one) == 1
    content = content[:-1]
    assert assert_as_alone(archive(content)) == f"{archive(content)}: the archive is truncated"


def in_blocks(content):
    """Return the marks of an archive, at the bits of the blocks before them."""
    found = marks(content)
    return [mark._replace(bit=mark.bit - before.bit) for before, mark in pairwise(found)]


@pytest.mark.parametrize("bit", [333, 100_000, 100_007, 300_003])
def test_a_cut_too_many_within_a_stream(archive, monkeypatch, left_to_one, bit):
    search = PackedBytes._search

    def find_one_more(packed):
        begin, found = 8 * packed._searched, search(packed)
        if begin <= bit < 8 * packed._searched:
            packed._marks = _bzip2.deque(sorted([*packed._marks, Mark(bit, True)]))
        return found

    monkeypatch.setattr(PackedBytes, "_search", find_one_more)
    content = bz2.compress(UNEVEN, 1)
    assert len(content) * 8 > 300_003
    assert outcome(archive(content + bz2.compress(EVEN)), 2) == (UNEVEN + EVEN, None)
    assert len(left_to_one) == 1


def test_archives_that_end_at_every_byte(archive):
    content = bz2.compress(EVEN, 1) + bz2.compress(b"1 2:3\n")
    endings = {assert_as_alone(archive(content[:length])) for length in range(len(content) + 1)}
    assert endings == {None, f"{archive(b'')}: the archive is truncated"}


def test_archives_that_end_between_large_blocks(archive):
    content = bz2.compress(UNEVEN * 5)
    for length in range(50, len(content), len(content) // 12):
        assert "truncated" in assert_as_alone(archive(content[:length]))


@pytest.mark.parametrize("level", [1, 9])
def test_bits_that_are_wrong(archive, level):
    content = bytearray(bz2.compress(EVEN, level) + bz2.compress(b"1 2:3\n"))
    endings = set()
    for place in range(0, 8 * len(content), 11):
        content[place // 8] ^= 1 << place % 8
        endings.add(assert_as_alone(archive(content)))
        content[place // 8] ^= 1 << place % 8
    assert f"{archive(b'')}: the archive is damaged (Invalid data stream)" in endings


def test_bits_that_are_wrong_in_large_blocks(archive):
    content = bytearray(bz2.compress(UNEVEN * 5))
    for place in range(50, len(content), len(content) // 12):
        content[place] ^= 16
        assert "damaged" in assert_as_alone(archive(content))
        content[place] ^= 16


def test_the_crc_of_all_blocks_together(archive, left_to_one):
    first, second = bytearray(bz2.compress(UNEVEN, 1)), bz2.compress(EVEN)
    first[-2] ^= 1  # the blocks are as they should be
    assert "damaged (Invalid data stream)" in assert_as_alone(archive(first + second))
    assert len(left_to_one) == 1
    blocks = marks(first)
    assert left_to_one[0].bit == blocks[-1].bit


GARBAGE = [b"\0", b"B", b"BZh", b"BZh9", b"BZh0" + bytes(99), b"BZh91AY&SX" + bytes(99), b"BZh91AY&SY", bytes(30_000)]


@pytest.mark.parametrize("garbage", [*GARBAGE, b"1 1:2\n", EMPTY[:-1] + b"\1", bz2.compress(EVEN, 1)[:-3] + b"abc"])
@pytest.mark.parametrize("text", [b"", UNEVEN])
def test_what_follows_a_stream(archive, text, garbage):
    content = bz2.compress(text, 1) + garbage
    assert_as_alone(archive(content))
    assert_as_alone(archive(content + bz2.compress(text)))
    assert_as_alone(archive(garbage + content))


def test_what_is_no_stream_is_ignored_at_any_place(archive):
    broken = bytearray(bz2.compress(EVEN, 1))
    broken[-1] ^= 1
    for n_before in range(0, 2 * io.DEFAULT_BUFFER_SIZE, io.DEFAULT_BUFFER_SIZE // 12):
        before = bz2.compress(np.random.default_rng(0).bytes(n_before))
        assert_as_alone(archive(before + broken))


def test_marks_without_end(archive):
    mark = BLOCK.to_bytes(6)
    assert "damaged" in assert_as_alone(archive(b"BZh9" + mark * 100_000))
    assert "damaged" in assert_as_alone(archive(bz2.compress(UNEVEN)[:-10] + mark * 100_000))


def test_a_block_without_end_is_not_read_whole():
    file = io.BytesIO(bz2.compress(UNEVEN)[:-10] + bytes(20_000_000))
    with pytest.raises(OSError, match="Invalid data stream"):
        Bzip2Reader(file, 2).readall()
    assert file.tell() < 4_000_000


def test_a_text_that_is_longer_than_allowed(archive):
    path = archive(bz2.compress(UNEVEN, 1))
    assert assert_as_alone(path, limits=Limits(unpacked_bytes=len(UNEVEN))) is None
    for most in (1, 99_980, 200_000, len(UNEVEN) - 1):
        assert f"unpacks to more than {most:,} bytes" in assert_as_alone(path, limits=Limits(unpacked_bytes=most))


def test_a_bomb(archive):
    path = archive(bz2.compress(bytes(200_000_000)))
    assert path.stat().st_size < 1000
    assert "unpacks to more than" in assert_as_alone(path, limits=Limits(unpacked_bytes=2_000_000))


def test_two_threads_unpack_at_the_same_time(archive, monkeypatch):
    barrier, calls, stream_of = threading.Barrier(2), [], _bzip2.stream_of

    def meet(*block):
        calls.append(threading.get_ident())
        if len(calls) <= 2:
            barrier.wait(timeout=60)
        return stream_of(*block)

    monkeypatch.setattr(_bzip2, "stream_of", meet)
    assert outcome(archive(bz2.compress(UNEVEN, 1)), 2) == (UNEVEN, None)
    assert len(set(calls)) == 2
    assert len(calls) == len(marks(bz2.compress(UNEVEN, 1))) - 1


class Watched(io.BytesIO):
    """Bytes that know which threads have read them, and that can be read only up to a place."""

    def __init__(self, content, stop=None):
        super().__init__(content)
        self.stop, self.readers = stop, set()

    def read(self, count=-1):
        self.readers.add(threading.get_ident())
        if self.stop is not None and self.tell() + count > self.stop:
            raise RemoteError("the connection broke")
        return super().read(count)


def test_one_thread_reads_and_not_far_ahead(rng):
    content = bz2.compress(rng.bytes(3_000_000), 1)
    file = Watched(content)
    with Bzip2Reader(file, 2) as reader:
        reader.read(1)
        assert file.tell() < 10 * 100_000 + _bzip2.PIECE_BYTES
        reader.readall()
    assert file.readers == {threading.get_ident()}


def test_what_was_unpacked_is_forgotten(monkeypatch, rng):
    held, read = [], PackedBytes._read

    def note(packed):
        held.append(sum(map(len, packed._pieces)))
        return read(packed)

    monkeypatch.setattr(PackedBytes, "_read", note)
    monkeypatch.setattr(_bzip2, "PIECE_BYTES", 2**14)
    text = rng.bytes(3_000_000)
    with Bzip2Reader(io.BytesIO(bz2.compress(text, 1)), 2) as reader:
        assert reader.readall() == text
    assert max(held) < 1_200_000
    held.clear()
    with Bzip2Reader(io.BytesIO(EMPTY * 20_000), 2) as reader:
        assert reader.readall() == b""
    assert max(held) < 2**16


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_connection_that_breaks_is_told_after_the_text_before_it(n_threads, monkeypatch):
    monkeypatch.setattr(_bzip2, "PIECE_BYTES", io.DEFAULT_BUFFER_SIZE)
    file = Watched(bz2.compress(UNEVEN, 1), stop=80_000)
    with bz2.BZ2File(file) if n_threads == 1 else Bzip2Reader(file, n_threads) as reader:
        assert reader.read(90_000) == UNEVEN[:90_000]
        with pytest.raises(RemoteError, match="the connection broke"):
            reader.read()


def test_a_reader_that_has_failed_fails_again(monkeypatch):
    def fail(block):
        raise MemoryError

    monkeypatch.setattr(_bzip2, "unpack", fail)
    reader = Bzip2Reader(io.BytesIO(bz2.compress(UNEVEN)), 2)
    with pytest.raises(MemoryError):
        reader.read(1)
    for _ in range(2):
        with pytest.raises(OSError, match="reading has failed before, and cannot go on"):
            reader.read(1)


def test_a_reader_that_is_left_early(archive):
    path = archive(bz2.compress(UNEVEN, 1))
    with open_bytes(path, threads=2) as stream:
        assert stream.read(3) == UNEVEN[:3]
    with open_bytes(path, threads=2):
        pass
    reader = Bzip2Reader(io.BytesIO(path.read_bytes()), 2)
    reader.close()
    reader.close()


@pytest.mark.parametrize("name", ["rows.svm.bz2", "rows.csv.bz2"])
def test_rows_are_those_of_one_thread(archive, only_threads, name):
    text = UNEVEN if "svm" in name else b"a,b\n" + b"".join(b"%d,%d\n" % (row, row * row) for row in range(50_000))
    path = archive(bz2.compress(text, 1), name)
    expected, y, _ = read_rows(path)
    source = RowSource(str(path))
    source.survey(2)
    found = next(iter(source.read(len(UNEVEN))))
    assert source.shape == expected.shape
    if "svm" in name:
        assert (found != expected).nnz == 0
        assert_array_equal(source.labels, y)
    else:
        assert_array_equal(found, expected)


def test_the_line_at_which_an_archive_is_damaged_is_that_of_one_thread(archive):
    content = bytearray(bz2.compress(UNEVEN * 10, 1))
    content[len(content) * 3 // 4] ^= 1
    rows = open_rows(archive(content))
    found = []
    for threads in (1, 2):
        rows.threads = threads
        with pytest.raises(FileError, match="line .*, column .*: the archive is damaged") as raised:
            rows.scan()
        found.append((raised.value.line, raised.value.column))
    assert found[0] == found[1]
    assert found[0][0] > 100_000


def test_files_at_a_url(only_threads):
    pytest.importorskip("fsspec")
    system, path = file_system("memory://isrht-bzip2/rows.svm.bz2")
    system.pipe(path, bz2.compress(UNEVEN, 1))
    try:
        rows = open_rows("memory://isrht-bzip2/rows.svm.bz2")
        rows.threads = 2
        assert rows.scan().n_samples == 20_000
    finally:
        system.rm("/isrht-bzip2", recursive=True)
