"""At most one holds the lock of a file, by ``flock`` or, where there is none, by ``msvcrt.locking``."""

import errno
import os
import sys
import threading
import time
import types

import pytest

from isrht.support import file_lock
from isrht.support.file_lock import LOCKED_BYTE, locked


@pytest.fixture(params=["fcntl", "msvcrt"])
def system(request, monkeypatch):
    """The module that locks. That of Windows is made here: it notes the bytes that descriptors have locked."""
    if request.param == "fcntl":
        pytest.importorskip("fcntl")
    elif file_lock.fcntl is not None:
        monkeypatch.setattr(file_lock, "fcntl", None)
        monkeypatch.setitem(sys.modules, "msvcrt", msvcrt_of_threads())
    return request.param


def msvcrt_of_threads():
    module, holders, guard = types.ModuleType("msvcrt"), {}, threading.Lock()
    module.LK_NBLCK, module.LK_UNLCK, module.holders = 2, 0, holders

    def locking(descriptor, mode, count):
        place = os.lseek(descriptor, 0, os.SEEK_CUR), count
        with guard:
            if mode == module.LK_UNLCK:
                assert holders.pop(place) == descriptor
            elif place in holders:
                raise PermissionError(errno.EACCES, "Permission denied")
            else:
                holders[place] = descriptor

    module.locking = locking
    return module


def test_threads_that_open_a_file_hold_it_one_after_another(system, tmp_path):
    path, inside, most = tmp_path / "file", [], []

    def work():
        for _ in range(5):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
            with locked(descriptor):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.002)
                inside.pop()
            os.close(descriptor)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 15
    assert max(most) == 1


def test_the_lock_is_given_back_after_an_error_and_the_file_stands_where_it_stood(system, tmp_path):
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    os.write(descriptor, b"0123456789")
    os.lseek(descriptor, 4, os.SEEK_SET)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), locked(descriptor):
            1 / (os.lseek(descriptor, 0, os.SEEK_CUR) - 4)
    assert os.read(descriptor, 2) == b"45"
    os.close(descriptor)


def test_windows_locks_a_byte_that_nobody_reads(tmp_path, monkeypatch):
    module = msvcrt_of_threads()
    monkeypatch.setattr(file_lock, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", module)
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    with locked(descriptor):
        assert module.holders == {(LOCKED_BYTE, 1): descriptor}
    assert module.holders == {}
    os.close(descriptor)


def test_other_errors_of_locking_are_told(tmp_path, monkeypatch):
    module = msvcrt_of_threads()
    module.locking = lambda *_: (_ for _ in ()).throw(OSError(errno.EBADF, "Bad file descriptor"))
    monkeypatch.setattr(file_lock, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", module)
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    with pytest.raises(OSError, match="Bad file descriptor"), locked(descriptor):
        pass
    os.close(descriptor)
