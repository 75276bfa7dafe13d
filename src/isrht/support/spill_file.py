"""A temporary file without a name, for what memory cannot hold.

Nobody else can open it, and it vanishes when it is closed or no longer used, after an error, and even when the process
is killed.
"""

from __future__ import annotations

import os
import tempfile
import threading
import weakref
from contextlib import contextmanager

import numpy as np


class SpillFile:
    """A temporary file without a name. ``contents`` says in errors what is in it: "projected rows"."""

    def __init__(self, contents):
        self.contents = contents
        self._file = tempfile.TemporaryFile(prefix="isrht-", buffering=0)  # noqa: SIM115 -- closed by the next line
        self.close = weakref.finalize(self, self._file.close)
        self._reserved, self._lock = 0, threading.Lock()

    @property
    def closed(self):
        """Whether the file has vanished."""
        return self._file.closed

    def append(self, array):
        """Write the bytes of an array at the end."""
        left = memoryview(np.ascontiguousarray(array)).cast("B")
        with self._naming_folder():
            while left:
                left = left[self._file.write(left) :]

    def write_at(self, array, start):
        """Write the bytes of an array from byte ``start`` of the file on. Several threads may do so at once."""
        left = memoryview(np.ascontiguousarray(array)).cast("B")
        with self._naming_folder():
            while left:
                count = self._write_part(left, start)
                left, start = left[count:], start + count

    def _write_part(self, buffer, start):
        if hasattr(os, "pwrite"):
            return os.pwrite(self._file.fileno(), buffer, start)
        with self._lock:  # threads share the position in the file
            self._file.seek(start)
            return self._file.write(buffer)

    def read_into(self, array, start):
        """Fill an array with the bytes of the file from ``start`` on. Several threads may do so at once."""
        left = memoryview(array).cast("B")
        while left:
            count = self._read_at(left, start)
            if not count:
                raise OSError(f"the temporary file of the {self.contents} has been cut short")
            left, start = left[count:], start + count

    def _read_at(self, buffer, start):
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [buffer], start)
        with self._lock:  # threads share the position in the file
            self._file.seek(start)
            return self._file.readinto(buffer)

    def mapped(self, dtype, shape):
        """Return the file as an array that can be written to. A file that is shorter is made as long as the array."""
        length = np.dtype(dtype).itemsize * int(np.prod(shape))
        if os.fstat(self._file.fileno()).st_size < length:
            with self._naming_folder():
                self._file.truncate(length)
        return np.asarray(np.memmap(self._file, dtype=dtype, mode="r+", shape=shape))

    def reserve(self, length):
        """Make sure that the disk has room for so many bytes.

        A full disk would otherwise show only when a mapped page is written back, as a signal that ends the process.
        """
        with self._naming_folder():
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._file.fileno(), 0, length)
            else:
                self._fill(length)
        self._reserved = max(self._reserved, length)

    def _fill(self, length):
        self._file.seek(self._reserved)
        while self._file.tell() < length:
            self._file.write(bytes(min(2**20, length - self._file.tell())))

    @contextmanager
    def _naming_folder(self):
        try:
            yield
        except OSError as error:
            raise OSError(
                f"{self.contents} could not be kept in {tempfile.gettempdir()} ({error.strerror}); "
                "the environment variable TMPDIR names another folder"
            ) from error
