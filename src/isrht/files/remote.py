"""Files at a URL are read by fsspec, range by range: s3://, gs://, https://, memory:// and all that it knows.

A remote file takes the place of a path, as a file object does. A connection that breaks is made again where it broke, a
few times, and then named (:mod:`~isrht.files._trouble`). How to log in is the business of fsspec (its configuration,
and the environment); what of a URL may be shown is that of :mod:`~isrht.files.urls`.
"""

from __future__ import annotations

import io
import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from isrht.files._silence import limits_of_silence
from isrht.files._trouble import TRIES, NoRemoteFile, Trouble, patiently, refuse_what_stays, turns
from isrht.files.errors import FileError
from isrht.files.folders import SIGNS, fixed_part
from isrht.files.urls import HTTP, shown, told


class RemoteFile:
    """A file at a URL, in the place of a path; ``folders`` are the names of its folders below what was asked for."""

    def __init__(self, url, folders=()):
        self.url, self.folders = url, tuple(folders)

    def __str__(self):
        return shown(self.url)

    def __getstate__(self):
        return {"url": self.url, "folders": self.folders}

    @cached_property
    def _place(self):
        return file_system(self.url)

    @cached_property
    def _info(self):
        system, path = self._place
        return patiently(self.url, system.info, path)

    @property
    def size(self):
        """How many bytes it has, or None if the server does not say."""
        return self._info.get("size")

    @cached_property
    def in_ranges(self):
        """Whether the server gives parts of the file."""
        if not self.url.startswith(HTTP):
            return self.size is not None
        for turn in turns():
            try:
                return self._gives_second_byte()
            except Exception as error:  # every protocol has errors of its own
                refuse_what_stays(self, 1, error, turn)
        return False

    def _gives_second_byte(self):
        with self.open_raw() as connection, suppress(ValueError):
            connection.seek(1)
            return bool(connection.read(1)) or self.size == 1
        return False

    def open_raw(self, in_ranges=True):
        """Return a new connection to the file, as fsspec opens it."""
        system, path = self._place
        options = {} if in_ranges else {"block_size": 0}
        return patiently(self.url, system.open, path, "rb", **options)

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
        for turn in turns():
            try:
                if self.connection is None:
                    self._connect()
                data = self.connection.read(count)
                short = not data and self.file.size is not None and self.place < self.file.size
                if not short or turn == TRIES:
                    return data
            except Exception as error:  # every protocol has errors of its own
                # A server without ranges is read from the beginning, and what was read before is skipped.
                self.in_ranges = self.in_ranges and not (isinstance(error, ValueError) and "range" in str(error))
                refuse_what_stays(self.file, self.place, error, turn)
            self._disconnect()
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


def find(url):
    """Return the folder that a URL asks for, and its files: one file, those that match a pattern, or all, in order."""
    system, path = file_system(url)
    if path.startswith(HTTP):  # a question mark is no pattern there, and there are no folders
        patiently(url, system.info, path)
        return _alone(url)
    if SIGNS.search(path):
        found, none, folder = patiently(url, system.glob, path), "no file matches", fixed_part(path)
    elif patiently(url, _is_folder, system, path):
        found, none, folder = patiently(url, system.find, path), "there are no files in the folder", path
        found = [name for name in found if not is_hidden(name[len(path) :])]
    else:
        patiently(url, system.info, path)
        return _alone(url)
    if not found:
        raise NoRemoteFile(f"{none} {shown(url)}")
    return system.unstrip_protocol(folder), [RemoteFile(system.unstrip_protocol(name)) for name in sorted(found)]


def _alone(url):
    file = RemoteFile(url)
    return str(file).rpartition("/")[0], [file]


def _is_folder(system, path):
    return system.isdir(path) and not system.isfile(path)


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
        return url_to_fs(url, **limits_of_silence(url))
    except ImportError as error:
        raise ModuleNotFoundError(f"{shown(url)}: {told(error, url)}", name=error.name) from None
    except ValueError as error:
        raise ValueError(f"{shown(url)}: {told(error, url)}") from None
    except Exception as error:  # an archive within a URL is opened here
        raise Trouble(url, error).named() from None
