"""Errors of the system that say which file is meant: when a disk is full, or a file too large, it names none."""

from __future__ import annotations

import os
from contextlib import contextmanager


@contextmanager
def errors_that_name(path, more=""):
    """Let errors of the system name ``path``, which may stand for another file, and say ``more``."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # raised by a library, not by the operating system
            raise
        raise OSError(error.errno, f"{error.strerror}{more}", os.fsdecode(path)) from error
