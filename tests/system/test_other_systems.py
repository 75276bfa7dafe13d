"""Commands run on Windows and macOS as they do here, as far as a process of this system can be made like theirs."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from other_systems import environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="makes a process of Linux like one of other systems")
TWO = ("--method", "SRHT", "--method", "ISRHT-top-r")
SYSTEMS = ["windows", "macos"]


@pytest.fixture
def run(tmp_path):
    """Run code or a command in a process that is like another system."""

    def run(system, *arguments, code=None):
        (tmp_path / "site").mkdir(exist_ok=True)
        command = [sys.executable, *(["-c", code] if code else ["-m", "isrht"]), *map(str, arguments)]
        done = subprocess.run(
            command,
            env=environment(system, tmp_path / "site"),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr + done.stdout[-3000:]
        return done.stdout

    return run


@pytest.fixture
def rows(tmp_path):
    """The path of a file of 120 rows of two classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 10))
    labels = np.where(X[:, :3].sum(axis=1) > 0, "yes", "no")
    lines = [f"{label},{','.join(map(str, row))}" for label, row in zip(labels, X.round(3), strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["label," + ",".join(f"x{k}" for k in range(10)), *lines]) + "\n")
    return path


def test_a_process_becomes_like_windows(run):
    code = """
import os, signal, tempfile
for module in ("fcntl", "resource"):
    try:
        __import__(module)
    except ModuleNotFoundError:
        continue
    raise SystemExit(module)
assert not hasattr(os, "pread") and not hasattr(signal, "SIGHUP")
with tempfile.TemporaryDirectory() as folder:
    with open(folder + "/a", "w"):
        for forbidden in (lambda: os.unlink(folder + "/a"), lambda: os.replace(folder + "/a", folder + "/b")):
            try:
                forbidden()
            except PermissionError:
                continue
            raise SystemExit("an open file was replaced")
print("like windows")
"""
    assert run("windows", code=code) == "like windows\n"


@pytest.mark.parametrize("system", SYSTEMS)
def test_models_are_trained_out_of_core_and_predict(run, rows, system):
    run(system, "train", "--label", "label", "--out-of-core", "-r", "4", rows, "model.isrht")
    run(system, "train", "--label", "label", rows, "model.isrht")  # which replaces the first one
    run(system, "predict", "--label", "label", rows, "model.isrht", "labels.txt")
    labels = rows.with_name("labels.txt").read_text(encoding="utf-8").split()
    truth = [line.split(",")[0] for line in rows.read_text(encoding="utf-8").splitlines()[1:]]
    assert np.mean(np.array(labels) == np.array(truth)) > 0.9
    assert run(system, "inspect", "model.isrht").count("ISRHTClassifier")


@pytest.mark.parametrize("system", SYSTEMS)
def test_methods_are_compared_by_processes_that_share_a_journal(run, rows, system):
    out = run(system, "compare", rows, "--label", "label", "-r", "4", "-n", "1", "-j", "2", "-o", "page", *TWO)
    assert "SRHT" in out
    assert rows.with_name("page").joinpath("index.html").exists()
    run(system, "report", rows.with_name("page") / "journal.jsonl", "--out", "again")
    assert rows.with_name("again").joinpath("index.html").exists()


def test_writers_of_one_journal_wait_for_each_other_by_the_locks_of_windows(tmp_path):
    (tmp_path / "site").mkdir()
    code = """
import sys
from isrht.experiments.journal import Journal
from isrht.support import file_lock
assert file_lock.fcntl is None
for number in range(40):
    Journal(sys.argv[1]).append({"key": f"{sys.argv[2]}-{number}", "padding": "x" * 3000})
"""
    from isrht.experiments.journal import Journal

    path, variables = tmp_path / "journal", environment("windows", tmp_path / "site")
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), name], env=variables) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    contents = Journal(path).read()
    assert contents.damaged == []
    assert {record["key"] for record in contents.records} == {f"{name}-{k}" for name in "abc" for k in range(40)}
    assert b"\r" not in path.read_bytes()


def test_all_tests_can_be_imported_elsewhere(run):
    """A module of tests that names a signal of POSIX outside its functions would take all its tests away."""
    code = """
import sys
import pytest
raise SystemExit(pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", "-p", "no:xdist", sys.argv[1]]))
"""
    folder = Path(__file__).parents[1]
    assert "tests collected" in run("windows", folder, code=code)
