"""The lock of an open file, which at most one process has at a time.

POSIX has ``flock`` and Windows ``msvcrt.locking``. Both belong to the open file: whatever ends a process gives back its
lock, and no second file is left beside the one that is locked. A lock of Windows forbids others to read and write the
bytes that it covers, so the one byte that is locked lies far behind the end of any file that is locked here; readers
need no lock.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import contextmanager

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

# The library of Windows finds the byte to lock by a signed number of 32 bits.
LOCKED_BYTE = 2**31 - 2
# What msvcrt.locking raises when another process has the lock.
HELD = (errno.EACCES, errno.EDEADLK)
PAUSE_SECONDS = 0.01


@contextmanager
def locked(descriptor):
    """Wait for the lock of an open file, and hold it while the block runs."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        return
    import msvcrt

    _at_locked_byte(descriptor, lambda: _wait_for(lambda: msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)))
    try:
        yield
    finally:
        _at_locked_byte(descriptor, lambda: msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1))


def _at_locked_byte(descriptor, action):
    """Do something where the byte to lock is, and go back to where the file stood."""
    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
    try:
        action()
    finally:
        os.lseek(descriptor, place, os.SEEK_SET)


def _wait_for(lock):
    """Try again and again: by itself, ``msvcrt.locking`` would try once per second, and give up after ten."""
    while True:
        try:
            return lock()
        except OSError as error:
            if error.errno not in HELD:
                raise
            time.sleep(PAUSE_SECONDS)
