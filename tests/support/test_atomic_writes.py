"""A file that is written takes the place of another one only when it is whole, whatever happens on the way."""

import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from isrht.support import atomic_writes
from isrht.support.atomic_writes import replaced_when_whole


@pytest.fixture
def path(tmp_path):
    """An existing file."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    return path


@pytest.fixture(autouse=True)
def synced(monkeypatch):
    """What was synced to disk: noted instead of done, as it takes seconds on a busy disk."""
    done = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: done.append(stat.S_IFMT(os.fstat(descriptor).st_mode)))
    monkeypatch.setattr(os, "replace", lambda *paths, replace=os.replace: (replace(*paths), done.append("renamed")))
    return done


def write(path, content, then=None):
    """Write a file, and call ``then`` before it is whole."""
    with replaced_when_whole(path) as file:
        file.write(content)
        if then is not None:
            then()


def names(path):
    return sorted(os.listdir(path.parent))


def test_the_file_is_on_disk_before_it_is_renamed_and_the_name_after(path, synced):
    write(path, b"new")
    assert path.read_bytes() == b"new"
    assert synced == [stat.S_IFREG, "renamed", *([stat.S_IFDIR] if os.name == "posix" else [])]


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize("error", [OSError("no space left"), KeyboardInterrupt("no space left")], ids=repr)
@pytest.mark.parametrize("where", ["the middle", "fsync", "replace"])
def test_an_error_leaves_the_old_file_and_nothing_else(path, monkeypatch, where, error, existing):
    def fail(*_):
        raise error

    if not existing:
        path.unlink()
    if where != "the middle":
        monkeypatch.setattr(os, where, fail)
    with pytest.raises(type(error), match="no space left"):
        write(path, b"new", then=fail if where == "the middle" else None)
    assert names(path) == (["file"] if existing else [])
    assert not existing or path.read_bytes() == b"old"


KILLED = """
import os, signal, sys
from isrht.support import atomic_writes
from isrht.support.atomic_writes import replaced_when_whole

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

path, where = sys.argv[1:]
if where == "replace":
    os.replace = die
with replaced_when_whole(path) as file:
    file.write(b"new")
    file.flush()
    if where == "the middle":
        die()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("where", ["the middle", "replace"])
def test_a_killed_program_leaves_the_old_file(path, where):
    process = subprocess.run([sys.executable, "-c", KILLED, str(path), where], check=False)
    assert process.returncode == -signal.SIGKILL
    assert len(names(path)) == 2
    assert path.read_bytes() == b"old"


def test_writers_at_the_same_time_end_with_one_whole_file(path):
    contents = [bytes([k]) * 100_000 for k in range(3)]
    path.write_bytes(contents[0])
    errors = []

    def work(content):
        try:
            for _ in range(30):
                write(path, content)
                assert path.read_bytes() in contents
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert path.read_bytes() in contents
    assert names(path) == ["file"]


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no modes, and lets few users make links")
def test_a_link_stays_a_link_and_permissions_stay(path):
    path.chmod(0o640)
    link = path.with_name("link")
    link.symlink_to(path)
    write(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_folders_are_no_place_for_a_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write(tmp_path / "missing" / "file", b"new")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write(tmp_path / "folder", b"new")
    assert os.listdir(tmp_path) == ["folder"]


def test_devices_are_written_to_and_not_replaced():
    write(os.devnull, b"new")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_any_kind_of_path_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("relative", b"bytes", tmp_path / "path"):
        write(place, b"new")
    assert sorted(os.listdir(tmp_path)) == ["bytes", "path", "relative"]


@pytest.mark.parametrize("refusals", [2, 9])
def test_a_file_that_is_open_for_a_moment_is_replaced_later(path, monkeypatch, refusals):
    """Windows refuses to replace a file that is open. A scanner for viruses has it open only for a moment."""
    replace, tried = os.replace, []

    def refuse_at_first(*paths):
        tried.append(paths)
        if len(tried) <= refusals:
            raise PermissionError(13, "The process cannot access the file because it is being used")
        replace(*paths)

    monkeypatch.setattr(os, "replace", refuse_at_first)
    monkeypatch.setattr(atomic_writes, "PAUSES", (0, 0, 0))
    if refusals == 2:
        write(path, b"new")
        assert path.read_bytes() == b"new"
    else:
        with pytest.raises(PermissionError, match="being used.*file"):
            write(path, b"new")
        assert len(tried) == 4
        assert path.read_bytes() == b"old"
    assert names(path) == ["file"]
