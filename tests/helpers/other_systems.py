"""What Windows and macOS lack or do otherwise, done to a process of this system.

Modules and functions that the other system does not have are gone, and files that are open can be neither replaced nor
removed. ``environment(system, folder)`` gives the variables by which a process, and all that it starts, becomes such.
"""

import builtins
import contextlib
import errno
import io
import os
import signal
import subprocess
import sys
import tempfile
import types
from pathlib import Path

REAL_OPEN = io.open
FILES = ("pread", "preadv", "pwrite", "posix_fallocate", "O_TMPFILE", "mkfifo")
USERS = ("getuid", "geteuid", "chown")
MISSING = {
    "windows": {
        "modules": ("fcntl", "resource", "termios", "pwd", "grp"),
        "os": (*FILES, *USERS, "sysconf", "fork"),
        "signal": ("SIGHUP", "SIGUSR1", "SIGALRM", "SIGKILL", "SIGSTOP", "SIGCONT", "setitimer"),
    },
    "macos": {"modules": (), "os": ("posix_fallocate", "O_TMPFILE"), "signal": ()},
}


def environment(system, folder):
    """Return the variables of a process that becomes like another system, by a file in ``folder``."""
    Path(folder, "sitecustomize.py").write_text(f"import other_systems\nother_systems.become({system!r})\n")
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(Path(__file__).parent)])}


def become(system):
    """Take from this process what the other system does not have."""
    import asyncio  # noqa: F401 -- it, the next two and subprocess must see this system as it is
    import concurrent.futures.process  # noqa: F401
    import multiprocessing.connection  # noqa: F401

    with contextlib.suppress(ImportError):  # a plugin of pytest imports it, and it goes by the name of this system
        import platformdirs  # noqa: F401

    missing = MISSING[system]
    if system == "windows":
        _lock_by_msvcrt()
        _keep_open_files()
        tempfile.TemporaryFile = tempfile.NamedTemporaryFile  # which is what it is on Windows
    tempfile._O_TMPFILE_WORKS = False
    for name in missing["modules"]:
        sys.modules[name] = None
    for name in missing["os"]:
        if hasattr(os, name):
            delattr(os, name)
    for name in missing["signal"]:
        delattr(signal, name)
    builtins.open = io.open = open_elsewhere


def _lock_by_msvcrt():
    """Make the module ``msvcrt``, whose locks of bytes are here locks of bytes of POSIX: one for each process."""
    import fcntl

    module = types.ModuleType("msvcrt")
    module.LK_NBLCK, module.LK_UNLCK = 2, 0

    def locking(descriptor, mode, count):
        command = fcntl.LOCK_UN if mode == module.LK_UNLCK else fcntl.LOCK_EX | fcntl.LOCK_NB
        try:
            fcntl.lockf(descriptor, command, count, 0, os.SEEK_CUR)
        except OSError as error:
            raise PermissionError(errno.EACCES, "Permission denied") from error

    module.locking = locking
    sys.modules["msvcrt"] = module
    assert not subprocess._mswindows


def _keep_open_files():
    """Let no file be replaced or removed that this process has open or mapped."""

    def refuse_open(path):
        path = os.path.realpath(path)
        if path in _mapped_files() or path in _open_files():
            raise PermissionError(errno.EACCES, "The process cannot access the file because it is in use", path)

    def guarded(function):
        def call(*paths, **options):
            for path in paths:
                refuse_open(path)
            return function(*paths, **options)

        return call

    for name in ("replace", "rename", "unlink", "remove"):
        setattr(os, name, guarded(getattr(os, name)))


def _mapped_files():
    with io.FileIO("/proc/self/maps") as maps:
        return {line.split(None, 5)[5] for line in maps.readall().decode().splitlines() if "/" in line}


def _open_files():
    for number in os.listdir("/proc/self/fd"):
        try:
            yield os.readlink(f"/proc/self/fd/{number}")
        except FileNotFoundError:  # the folder that was listed
            continue


def open_elsewhere(file, *args, **options):
    """Open a file where there is no ``/proc``. threadpoolctl reads one file there, but only on Linux."""
    path = os.fspath(file) if isinstance(file, str | os.PathLike) else ""
    if path.startswith("/proc") and path != "/proc/self/maps":
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
    return REAL_OPEN(file, *args, **options)
