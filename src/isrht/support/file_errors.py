"""Errors of the system that say which file is meant: when a disk is full, or a file too large, it names none."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager

WINDOWS = os.name == "nt"
# What errors call the stream that results go to.
STANDARD_OUTPUT = "standard output"


def is_of_closed_pipe(error):
    """Say whether an error of writing means that nobody reads any more. Windows calls this an invalid argument."""
    if not WINDOWS:
        return isinstance(error, BrokenPipeError)
    return error.errno in (errno.EPIPE, errno.EINVAL) and error.filename in (None, STANDARD_OUTPUT)


@contextmanager
def errors_that_name(path, more=""):
    """Let errors of the system name ``path``, which may stand for another file, and say ``more``."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # raised by a library, not by the operating system
            raise
        raise OSError(error.errno, f"{error.strerror}{more}", os.fsdecode(path)) from error
