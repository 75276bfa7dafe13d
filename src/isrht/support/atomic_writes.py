"""Files that are written whole or not at all.

A program may be killed, or the disk may be full, in the middle of writing. :func:`replaced_when_whole` therefore writes
a new file beside the old one and renames it when all of it is on disk: under the name there is always one whole file,
the old or the new. :func:`sync_folder` makes the rename itself last.

Windows replaces no file that anybody has open, be it only a scanner for viruses that looks at every new file for a
moment. There the rename is tried again a few times before it is an error.
"""

from __future__ import annotations

import io
import os
import secrets
import shutil
import time
from contextlib import contextmanager, suppress

from isrht.support.file_errors import WINDOWS, errors_that_name

# How long to wait before each further attempt to replace a file, where files that are open cannot be replaced.
PAUSES = (0.01, 0.03, 0.1, 0.3, 0.6) if WINDOWS else ()


@contextmanager
def replaced_when_whole(path):
    """Yield a file to write bytes to, which takes the place of ``path`` once it is on disk, or leaves no trace."""
    target = os.path.realpath(os.fsdecode(path))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{os.fsdecode(path)} cannot be written: there is no folder {folder}")
    if os.path.exists(target) and not os.path.isfile(target):
        with open_to_write(target, "wb", path) as file:  # a device or a pipe is written to, never replaced
            yield file
        return
    temporary = os.path.join(folder, f".isrht-{secrets.token_hex(8)}.tmp")
    try:
        with open_to_write(temporary, "xb", path, f" (a new file cannot be made in {folder})") as file:
            yield file
            file.flush()
            with errors_that_name(path):
                os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(target, temporary)
        with errors_that_name(path):
            _replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def _replace(temporary, target):
    for pause in PAUSES:
        try:
            return os.replace(temporary, target)
        except PermissionError:
            time.sleep(pause)
    return os.replace(temporary, target)


def open_to_write(file, mode, path, more=""):
    """Return a buffered file whose errors name ``path``.

    The system would name the temporary file, or, when the disk is full, none at all.
    """
    with errors_that_name(path, more):
        return io.BufferedWriter(NamedFile(file, mode, path))


class NamedFile(io.FileIO):
    """An unbuffered file that is called ``path`` in errors of writing, whatever its own name is."""

    def __init__(self, file, mode, path):
        super().__init__(file, mode)
        self.path = path

    def write(self, data):
        with errors_that_name(self.path):
            return super().write(data)


def sync_folder(folder):
    """Make a new name in a folder last through a power cut, where the system lets a folder be opened."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
