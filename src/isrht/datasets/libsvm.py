"""LIBSVM text, plain or compressed, to a CSR matrix and labels. The one place where such text is read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path

OPENERS = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
EXTENSIONS = ("", *OPENERS)
# No set of the registry is larger than 300 MB of text; an archive that unpacks to more than this is not one of them.
MAX_TEXT_BYTES = 4 * 2**30


class TooLarge(ValueError):
    """An archive unpacks to more bytes than allowed."""


class CappedReader(io.RawIOBase):
    """A binary stream that stops with an error after ``limit`` bytes: a small archive may hold an endless text."""

    def __init__(self, stream, limit, name):
        self.stream, self.left, self.limit, self.name = stream, limit, limit, name

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self.stream.read(len(buffer))
        self.left -= len(data)
        if self.left < 0:
            raise TooLarge(f"{self.name} unpacks to more than {self.limit:,} bytes")
        buffer[: len(data)] = data
        return len(data)

    def close(self):
        self.stream.close()
        super().close()


def open_text(path, max_bytes=MAX_TEXT_BYTES):
    """The unpacked bytes of a file, at most ``max_bytes``."""
    path = Path(path)
    stream = OPENERS.get(path.suffix, open)(path, "rb")
    return io.BufferedReader(CappedReader(stream, max_bytes, path.name), 2**20)


def read_libsvm(path, n_features=None, max_bytes=MAX_TEXT_BYTES):
    """``(X, y)`` of a LIBSVM text file; errors name the file."""
    from sklearn.datasets import load_svmlight_file

    try:
        with open_text(path, max_bytes) as text:
            X, y = load_svmlight_file(text, n_features=n_features, zero_based=False)
    except TooLarge:
        raise
    except (ValueError, EOFError, OSError, lzma.LZMAError) as error:
        raise ValueError(f"{path} is not readable as LIBSVM text: {error}") from error
    return X, y
