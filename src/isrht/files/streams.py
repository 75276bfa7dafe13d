"""The bytes of a file or of a file object. Packed files are unpacked as their extension says, up to a limit.

A small archive may hold an endless text. Unless told otherwise, an archive may unpack to 200 times its size, and
to 1 GiB in any case: packing makes a text of numbers ten or thirty times smaller, never hundreds of times.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from isrht.files._bzip2 import Bzip2Reader
from isrht.files._trouble import RemoteError
from isrht.files.errors import STANDARD_INPUT, FileError, library
from isrht.files.limits import Limits
from isrht.files.remote import RemoteFile


def zstandard():
    """Import the zstd of Python, which is there from 3.14 on, or else its backport, which has the same names."""
    home = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return library(home, "a .zst file")


def checksummed_zstd(file):
    """Open a zstd file to write to, with a checksum, which the other packings always have."""
    zstd = zstandard()
    return zstd.ZstdFile(file, "wb", options={zstd.CompressionParameter.checksum_flag: 1})


# Bytes of a gzip archive that are read at once.
PACKED_PART = 2**18


class InLargeParts(io.RawIOBase):
    """A file for :mod:`gzip`, which reads 8 kB at a time before Python 3.12, and then takes a quarter more time."""

    def __init__(self, file):
        self._file = file

    def read(self, count=-1):
        """Return so many bytes, or many more where gzip asks for some packed ones."""
        return self._file.read(PACKED_PART if count == io.DEFAULT_BUFFER_SIZE else count)


OPENERS = {
    ".bz2": bz2.BZ2File,
    ".gz": lambda file: gzip.GzipFile(filename="", fileobj=InLargeParts(file), mode="rb"),
    ".xz": lzma.LZMAFile,
    ".zst": lambda file: zstandard().ZstdFile(file, "rb"),
}
# What several threads unpack together.
THREADED_OPENERS = {".bz2": Bzip2Reader}
PACKERS = {
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".gz": lambda file: gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
    ".zst": checksummed_zstd,
}
PACKINGS = tuple(OPENERS)


class FileObject:
    """A binary file object of the caller, in the place of a path. It is read from where it stands and never closed."""

    def __init__(self, file):
        if not isinstance(file.read(0), bytes):
            raise TypeError(f"{file!r} gives text, not bytes: open it in binary mode, 'rb'")
        self.file = file
        self.start = file.tell() if hasattr(file, "seekable") and file.seekable() else None

    def __str__(self):
        name = getattr(self.file, "name", None)
        return name if isinstance(name, str) else f"the {type(self.file).__name__}"

    @contextmanager
    def open(self):
        if self.start is not None:
            self.file.seek(self.start)
        with io.BufferedReader(Borrowed(self.file), 2**20) as stream:
            yield stream


class Borrowed(io.RawIOBase):
    """The bytes of a file object that stays open when this stream is closed."""

    def __init__(self, file):
        self.file = file

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self.file.read(len(buffer))
        if data is None:  # it would be taken for the end
            raise BlockingIOError(f"{self.file!r} has no bytes yet: it must not be in non-blocking mode")
        buffer[: len(data)] = data
        return len(data)


def packing(path):
    """Return the extension that says how a file is packed, or "".

    A file object is never packed: its bytes are taken as they are.
    """
    suffix = "" if isinstance(path, FileObject) else Path(str(path)).suffix.lower()
    return suffix if suffix in OPENERS else ""


def is_unpacked_by_threads(path):
    """Say whether several threads can unpack a file together."""
    return packing(path) in THREADED_OPENERS


def can_be_read_again(path):
    """Say whether a second pass is possible: not over standard input, named pipes and the like."""
    if isinstance(path, FileObject):
        return path.start is not None
    if isinstance(path, RemoteFile):
        return True
    return str(path) != STANDARD_INPUT and stat.S_ISREG(os.stat(path).st_mode)


@contextmanager
def open_bytes(path, limits=Limits(), threads=1):
    """Open the unpacked bytes of a file, of standard input, or of a file object as a buffered stream.

    Parameters
    ----------
    path : path, FileObject or RemoteFile
    limits : Limits, default=Limits()
        How many bytes an archive may unpack to.
    threads : int, default=1
        How many threads may unpack it, the one that reads the stream among them.
    """
    if isinstance(path, FileObject):
        with path.open() as stream:
            yield stream
        return
    if str(path) == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    with path.open() if isinstance(path, RemoteFile) else open(path, "rb") as file:
        if not packing(path):
            yield file
            return
        cap = limits.unpacked_bytes_of(_size_of(path, file))
        with _archive(path, file, threads) as archive, io.BufferedReader(Unpacked(archive, cap, path), 2**20) as stream:
            yield stream


def _archive(path, file, threads):
    if threads > 1 and is_unpacked_by_threads(path):
        return THREADED_OPENERS[packing(path)](file, threads)
    return OPENERS[packing(path)](file)


def _size_of(path, file):
    return (path.size or 0) if isinstance(path, RemoteFile) else os.fstat(file.fileno()).st_size


def to_search(path):
    """Return a path or bytes in memory, for formats that are not read from the beginning to the end."""
    if not isinstance(path, FileObject | RemoteFile):
        return path
    with path.open() as stream:
        return io.BytesIO(stream.read())


def to_seek(path):
    """Return a path, bytes in memory, or a stream of a remote file, for formats that are read in ranges."""
    if isinstance(path, RemoteFile) and path.in_ranges:
        return path.open()
    return to_search(path)


@contextmanager
def packed(file, path):
    """Open a stream to write to, whose bytes reach ``file`` packed as the extension of ``path`` says."""
    if not packing(path):
        yield file
        return
    with PACKERS[packing(path)](file) as archive:
        yield archive


class Unpacked(io.RawIOBase):
    """The bytes of an archive, of which there may be at most ``cap``; what is wrong is a :class:`FileError`."""

    def __init__(self, archive, cap, path):
        self.archive, self.cap, self.path, self.count = archive, cap, path, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        try:
            # One byte more than allowed tells a text that is too long from one that just fits.
            data = self.archive.read(min(len(buffer), self.cap + 1 - self.count))
        except RemoteError:  # the connection is at fault, and not the archive
            raise
        except EOFError:
            raise FileError(self.path, "the archive is truncated") from None
        except (OSError, zlib.error, lzma.LZMAError, *zstd_errors(self.path)) as error:
            raise FileError(self.path, f"the archive is damaged ({error})") from error
        self.count += len(data)
        if self.count > self.cap:
            raise FileError(self.path, f"the archive unpacks to more than {self.cap:,} bytes")
        buffer[: len(data)] = data
        return len(data)


def zstd_errors(path):
    return (zstandard().ZstdError,) if packing(path) == ".zst" else ()
