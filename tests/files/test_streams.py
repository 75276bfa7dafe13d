import bz2
import gzip
import io
import lzma
import os
import threading

import pytest

from isrht.files import limits, streams
from isrht.files.errors import FileError
from isrht.files.limits import Limits
from isrht.files.streams import PACKINGS, can_be_read_again, open_bytes, packed, packing, zstandard

TEXT = b"1 1:0.5 3:2\n-1 2:1\n" * 1000


@pytest.fixture(params=PACKINGS)
def archive(request, tmp_path):
    if request.param == ".zst":
        pytest.importorskip("backports.zstd" if zstandard_is_extra() else "compression.zstd")
    path = tmp_path / f"set{request.param}"
    with open(path, "wb") as file, packed(file, path) as out:
        out.write(TEXT)
    return path


def zstandard_is_extra():
    import sys

    return sys.version_info < (3, 14)


def read(path, **options):
    with open_bytes(path, **options) as stream:
        return stream.read()


def test_what_is_packed_is_unpacked(archive):
    assert read(archive) == TEXT
    assert archive.stat().st_size < len(TEXT) / 10


def test_archives_are_those_of_everyone(tmp_path):
    for extension, pack in {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.items():
        path = tmp_path / f"x{extension.upper()}"
        path.write_bytes(pack(TEXT) + pack(b"2 1:1\n"))
        assert read(path) == TEXT + b"2 1:1\n"


@pytest.mark.parametrize("part", [1, 7, 64, 2**18])
def test_gzip_is_read_in_parts_of_any_size(part, tmp_path, monkeypatch, rng):
    noise = rng.bytes(20_000)
    members = gzip.compress(noise), gzip.compress(TEXT), b"\0" * 100, gzip.compress(b"2 1:1\n"), b"\0" * 20_000
    path = tmp_path / "x.gz"
    path.write_bytes(b"".join(members))
    monkeypatch.setattr(streams, "PACKED_PART", part)
    assert read(path) == noise + TEXT + b"2 1:1\n"
    path.write_bytes(members[0] + members[1] + b"garbage")
    with pytest.raises(FileError, match="the archive is damaged .*Not a gzipped file"):
        read(path)


def test_gzip_asks_a_file_seldom(tmp_path, rng):
    asked = []

    class File(io.BytesIO):
        def read(self, count=-1):
            asked.append(count)
            return super().read(count)

    with streams.OPENERS[".gz"](File(gzip.compress(rng.bytes(10**6)))) as archive:
        assert len(archive.read()) == 10**6
    assert len(asked) < 20


def test_a_truncated_archive(archive):
    content = archive.read_bytes()
    for length in (len(content) // 2, len(content) - 1):
        archive.write_bytes(content[:length])
        with pytest.raises(FileError, match=f"{archive}: the archive is (truncated|damaged)"):
            read(archive)


def test_a_damaged_archive(archive):
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 0xFF
    archive.write_bytes(content)
    with pytest.raises(FileError, match="the archive is (damaged|truncated)"):
        read(archive)
    archive.write_bytes(b"1 1:2\n" * 10)
    with pytest.raises(FileError, match="the archive is damaged"):
        read(archive)


def test_an_archive_may_not_unpack_to_more_than_allowed(archive):
    assert read(archive, limits=Limits(unpacked_bytes=len(TEXT))) == TEXT
    with pytest.raises(FileError, match="unpacks to more than 18,999 bytes"):
        read(archive, limits=Limits(unpacked_bytes=len(TEXT) - 1))


def test_a_small_archive_may_not_hold_an_endless_text(archive, monkeypatch):
    monkeypatch.setattr(limits, "FLOOR", 1000)
    monkeypatch.setattr(limits, "RATIO", 1000)
    assert read(archive) == TEXT, "within the ratio"
    monkeypatch.setattr(limits, "RATIO", 2)
    with pytest.raises(FileError, match="unpacks to more than"):
        read(archive)


def test_packings_by_extension():
    assert [packing(name) for name in ("a", "a.svm", "a.GZ", "a.csv.zst", "gz")] == ["", "", ".gz", ".zst", ""]


def test_packed_bytes_are_the_same_every_time(archive, tmp_path):
    again = tmp_path / f"other{archive.suffix}"
    with open(again, "wb") as file, packed(file, again) as out:
        out.write(TEXT)
    assert again.read_bytes() == archive.read_bytes()


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert read("-") == TEXT
    assert not can_be_read_again("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_named_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert not can_be_read_again(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(TEXT,))
    writer.start()
    assert read(pipe) == TEXT
    writer.join()
    (tmp_path / "file").write_bytes(TEXT)
    assert can_be_read_again(tmp_path / "file")


def test_without_the_library_zst_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "x.zst"
    path.write_bytes(b"anything")
    monkeypatch.setitem(__import__("sys").modules, "backports.zstd", None)
    monkeypatch.setitem(__import__("sys").modules, "compression.zstd", None)
    with pytest.raises(ModuleNotFoundError, match=r"a .zst file needs .* pip install 'isrht\[files\]'"):
        read(path)


def test_zstandard_has_what_is_used():
    pytest.importorskip("backports.zstd" if zstandard_is_extra() else "compression.zstd")
    assert issubclass(zstandard().ZstdError, Exception)
