"""Files that are reached by a URL, through fsspec: s3://, gs://, https://, memory:// and all that it knows.

A remote file takes the place of a path, as a file object does. It is read range by range. A connection that breaks is
made again where it broke, a few times, and then named. How to log in is fsspec's own business (its configuration, and
the environment); a name and password in a URL, and what follows its question mark, are never shown.
"""

from __future__ import annotations

import io
import os
import re
import time
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

from isrht.files.errors import FileError

# A read is tried so often, and after each failure waits so many seconds longer.
TRIES, PAUSE = 4, 0.2
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")


def is_url(path):
    """Say whether a path is a URL. One letter and a colon is a drive of Windows.

    >>> [is_url(path) for path in ("s3://bucket/rows.csv", "C:\\\\rows.csv", "rows.csv", "simplecache::https://a/b")]
    [True, False, False, True]
    """
    return isinstance(path, str) and URL.match(path) is not None


def local_path(url):
    """Return the path that a file:// URL means, or None if it is another URL."""
    parts = urlsplit(url)
    return unquote(parts.path) if parts.scheme == "file" and parts.netloc in ("", "localhost") else None


def shown(text):
    """Return a text without the passwords and queries of the URLs in it.

    >>> shown("no https://me:secret@host/rows.csv?key=1 there")
    'no https://host/rows.csv there'
    """
    text = re.sub(r"(://)[^/@\s]+@", r"\1", text)
    return re.sub(r"(://[^\s?'\")]*)\?[^\s'\")]*", r"\1", text)


class RemoteError(OSError):
    """A server that cannot be reached, or breaks off again and again."""


class RemoteFile:
    """A file at a URL, in the place of a path."""

    def __init__(self, url):
        self.url = url

    def __str__(self):
        return shown(self.url)

    def __getstate__(self):
        return {"url": self.url}

    @cached_property
    def _place(self):
        return file_system(self.url)

    @cached_property
    def _info(self):
        system, path = self._place
        with naming_trouble(self.url):
            return system.info(path)

    @property
    def size(self):
        """How many bytes it has, or None if the server does not say."""
        return self._info.get("size")

    @cached_property
    def in_ranges(self):
        """Whether the server gives parts of the file."""
        if not self.url.startswith(("http://", "https://")):
            return self.size is not None
        for turn in range(1, TRIES + 1):
            try:
                return self._gives_second_byte()
            except (FileNotFoundError, PermissionError, RemoteError):
                raise
            except Exception as error:  # every protocol has errors of its own
                if turn == TRIES:
                    raise broken(self, 1, error) from None
            time.sleep(PAUSE * turn)
        return False

    def _gives_second_byte(self):
        with self.open_raw() as connection, suppress(ValueError):
            connection.seek(1)
            return bool(connection.read(1)) or self.size == 1
        return False

    def open_raw(self, in_ranges=True):
        """Return a new connection to the file, as fsspec opens it."""
        system, path = self._place
        with naming_trouble(self.url):
            return system.open(path, "rb") if in_ranges else system.open(path, "rb", block_size=0)

    def open(self):
        """Return a stream of its bytes that can be searched, and that connects again when it has to."""
        return io.BufferedReader(RemoteStream(self), 2**20)


class RemoteStream(io.RawIOBase):
    """The bytes of a remote file. What fails is tried again, from where it failed."""

    def __init__(self, file):
        self.file, self.place, self.connection, self.in_ranges = file, 0, None, True

    def readable(self):
        return True

    def seekable(self):
        return self.file.size is not None

    def tell(self):
        return self.place

    def seek(self, offset, whence=os.SEEK_SET):
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self.place, os.SEEK_END: self.file.size}[whence]
        self._move(start + offset)
        return self.place

    def _move(self, place):
        if place != self.place:
            self.place = place
            self._disconnect()

    def readinto(self, buffer):
        data = self._read(len(buffer))
        if not data and self.file.size is not None and self.place < self.file.size and len(buffer):
            raise FileError(self.file, f"it ended after {self.place:,} of {self.file.size:,} bytes")
        buffer[: len(data)] = data
        self.place += len(data)
        return len(data)

    def _read(self, count):
        for turn in range(1, TRIES + 1):
            try:
                if self.connection is None:
                    self._connect()
                data = self.connection.read(count)
                short = not data and self.file.size is not None and self.place < self.file.size
                if not short or turn == TRIES:
                    return data
            except (FileNotFoundError, PermissionError):
                raise
            except Exception as error:  # every protocol has errors of its own
                # A server without ranges is read from the beginning, and what was read before is skipped.
                self.in_ranges = self.in_ranges and not (isinstance(error, ValueError) and "range" in str(error))
                if turn == TRIES:
                    raise broken(self.file, self.place, error) from None
            self._disconnect()
            time.sleep(PAUSE * turn)
        return b""

    def _connect(self):
        self.connection = self.file.open_raw() if self.in_ranges else self.file.open_raw(in_ranges=False)
        if not self.place:
            return
        if getattr(self.connection, "seekable", lambda: False)():
            self.connection.seek(self.place)
            return
        left = self.place  # a server without ranges sends everything from the beginning
        while left:
            skipped = self.connection.read(min(left, 2**20))
            if not skipped:
                raise OSError("the file has become shorter")
            left -= len(skipped)

    def _disconnect(self):
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(Exception):  # it may be broken, which is why it is closed
                connection.close()

    def close(self):
        if not self.closed:
            self._disconnect()
        super().close()


def broken(file, place, error):
    """Return the error that says where a connection broke each time that it was tried."""
    return RemoteError(f"{file}: the connection broke at byte {place:,}, {TRIES} times ({described(error)})")


def find(url):
    """Return the remote files that a URL means: one file, those that match a pattern, or all in a folder, in order."""
    system, path = file_system(url)
    with naming_trouble(url):
        if urlsplit(url).scheme in ("http", "https"):  # a question mark is no pattern there, and there are no folders
            system.info(path)
            return [RemoteFile(url)]
        if any(sign in path for sign in "*?["):
            found = sorted(system.glob(path))
            if not found:
                raise FileNotFoundError(f"no file matches {shown(url)}")
        elif system.isdir(path) and not system.isfile(path):
            found = sorted(name for name in system.find(path) if not is_hidden(name[len(path) :]))
            if not found:
                raise FileNotFoundError(f"there are no files in the folder {shown(url)}")
        else:
            system.info(path)
            return [RemoteFile(url)]
        return [RemoteFile(system.unstrip_protocol(name)) for name in found]


def is_hidden(path):
    """Say whether a part of a path begins as those do which tools write beside data: ``_SUCCESS``, ``.crc``."""
    return any(part.startswith((".", "_")) and "=" not in part for part in Path(path).parts)


def file_system(url):
    """Return the file system of fsspec and the path in it that a URL means."""
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "files at a URL need fsspec, which is not installed: pip install 'isrht[remote]'", name="fsspec"
        ) from error
    try:
        return url_to_fs(url)
    except ImportError as error:
        raise ModuleNotFoundError(f"{shown(url)}: {described(error)}", name=error.name) from None
    except ValueError as error:
        raise ValueError(f"{shown(url)}: {described(error)}") from None


class naming_trouble:
    """Lets errors of a file system name the URL, without what is secret in it."""

    def __init__(self, url):
        self.url = url

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is None or not isinstance(error, Exception):
            return
        told = shown(str(error))
        if isinstance(error, FileNotFoundError) and not _is_of_connection(error.__cause__):
            message = told if told.startswith(("no file", "there are no")) else f"there is no file {shown(self.url)}"
            raise FileNotFoundError(message) from None
        if isinstance(error, PermissionError):
            raise PermissionError(f"{shown(self.url)}: access is denied ({described(error)})") from None
        raise RemoteError(f"{shown(self.url)} cannot be reached ({described(error.__cause__ or error)})") from None


def _is_of_connection(error):
    """Say whether an error is one of the connection, which fsspec may call a file that is not there."""
    return isinstance(error, ConnectionError | TimeoutError) or "Connect" in type(error).__name__


def described(error):
    """Return what an error says, without secrets, or its name if it says nothing."""
    return shown(str(error)).strip() or type(error).__name__
