import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from isrht.experiments import _environment
from isrht.experiments._environment import _git, commit, environment


def test_a_result_can_say_where_it_comes_from():
    here = environment()
    assert here["kind"] == "environment"
    assert {"processor", "cores", "system", "python", "kernel", "commit"} <= set(here)
    assert here["versions"]["numpy"]
    assert here == environment()
    json.dumps(here)


def test_what_a_system_does_not_tell_is_left_out(monkeypatch):
    """Windows has no ``os.sysconf``, and only Linux has ``/proc``."""
    monkeypatch.delattr(os, "sysconf", raising=False)
    monkeypatch.setattr(_environment, "Path", lambda name: type("Missing", (), {"read_text": missing})())
    here = {"memory_bytes": _environment.memory_bytes(), "processor": _environment.processor_name()}
    assert here == {"memory_bytes": None, "processor": platform.processor()}


def missing(self):
    raise FileNotFoundError(2, "No such file or directory")


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_the_repository_is_only_read(tmp_path):
    (tmp_path / "file").write_text("x")
    for arguments in (["init", "-q"], ["add", "file"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    os.utime(tmp_path / "file", (1, 1))  # git would note the new time in its index
    before = (tmp_path / ".git" / "index").read_bytes()
    assert _git(tmp_path, "status", "--porcelain") == "A  file"
    assert (tmp_path / ".git" / "index").read_bytes() == before


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize(
    ("place", "added", "ours"),
    [("src", True, True), ("src", False, False), (".venv/lib/site-packages", True, False), ("lib", False, False)],
)
def test_the_commit_is_that_of_our_own_sources(place, added, ours, tmp_path, monkeypatch):
    """Not that of a repository in which the package happens to be installed."""
    copy = tmp_path / place / "isrht" / "experiments" / "_environment.py"
    copy.parent.mkdir(parents=True)
    shutil.copy(Path(_environment.__file__), copy)
    (tmp_path / "other").write_text("x")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "other", *[str(copy)] * added], [*who, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    monkeypatch.setattr(_environment, "__file__", str(copy))
    head = _git(tmp_path, "rev-parse", "--short=12", "HEAD")
    assert commit() == (head if ours else None)
    (tmp_path / "other").write_text("y")
    assert commit() == (head + "+" if ours else None)
