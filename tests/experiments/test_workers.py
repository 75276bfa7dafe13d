"""Workers and parents are killed by real signals."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

from isrht.experiments._workers import Runner, run_in_processes
from isrht.experiments.journal import Journal
from isrht.experiments.run import Task

needs_proc = pytest.mark.skipif(
    not os.path.exists(f"/proc/self/task/{os.getpid()}/children"), reason="finds the workers in /proc"
)


def task(method="SRHT", seed=0, **changes):
    fields = {
        "kind": "accuracy",
        "set": "blobs",
        "method": method,
        "r": 1,
        "seed": seed,
        "protocol": "cv",
        "version": "0",
        "data": "x",
    }
    return Task(**(fields | changes))


def test_a_runner_keeps_one_set_and_records_what_it_cannot_load():
    runner = Runner()
    assert runner(task())["status"] == "ok"
    first = runner.dataset
    assert runner(task(seed=1))["status"] == "ok"
    assert runner.dataset is first
    failed = runner(task(set="nowhere"))
    assert failed["status"] == "failed"
    assert "unknown set 'nowhere'" in failed["error"]
    assert runner(task("Gaussian", kind="projection", set="n=8 d=4"))["status"] == "ok"


@needs_proc
def test_tasks_run_in_processes_and_a_killed_one_is_recorded(tmp_path):
    path = tmp_path / "journal"
    slow = task("Gaussian", kind="projection", set="n=20000 d=4000", r=500)
    tasks = [slow, *(task(seed=seed) for seed in range(4))]
    seen = {}

    with contextlib.closing(run_in_processes(tasks, 2, path, "env")) as runs:  # ends the workers after an error, too
        for done, record in runs:
            seen[done.key] = record
            if len(seen) == 4:
                for child in _children_of(os.getpid()):
                    os.kill(child, signal.SIGKILL)
    assert seen[slow.key]["status"] == "failed"
    assert "signal 9" in seen[slow.key]["error"]
    assert all(seen[other.key]["status"] == "ok" for other in tasks[1:])
    journal = {record["key"]: record for record in Journal(path).read().records}
    assert journal == seen
    assert {record["environment"] for record in seen.values()} == {"env"}


def test_a_journal_that_a_worker_cannot_write_is_an_error_of_the_parent(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError) as raised:
        list(run_in_processes([task()], 1, tmp_path / "file" / "journal", "env"))
    assert raised.value.filename == str(tmp_path / "file")


PARENT = """
import sys
from isrht.experiments.run import Task
from isrht.experiments._workers import run_in_processes
if __name__ == "__main__":
    tasks = [Task("accuracy", "blobs", "SRHT", 1, seed, "cv", "0", "x") for seed in range(100000)]
    for _ in run_in_processes(tasks, 1, sys.argv[1], "env"):
        pass
"""


@needs_proc
def test_workers_do_not_outlive_a_killed_parent(tmp_path):
    script, path = tmp_path / "parent.py", tmp_path / "journal"
    script.write_text(PARENT)
    with _process_group([sys.executable, str(script), str(path)]) as parent:
        _wait_until(lambda: path.exists() and path.stat().st_size > 1000)
        children = _children_of(parent.pid)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        assert children
        _wait_until(lambda: not any(_alive(child) for child in children))
    contents = Journal(path).read()
    assert contents.damaged == []
    assert [record["seed"] for record in contents.records] == list(range(len(contents.records)))


@contextlib.contextmanager
def _process_group(command):
    """Run a command whose processes are all ended at the end, also after an error."""
    parent = subprocess.Popen(command, start_new_session=True)
    try:
        yield parent
    finally:
        with contextlib.suppress(ProcessLookupError):  # all of them have ended
            os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()


def _children_of(pid):
    tasks = f"/proc/{pid}/task/{pid}/children"
    with open(tasks) as file:
        return [int(child) for child in file.read().split() if "resource_tracker" not in _command(child)]


def _command(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read()
    except OSError:
        return ""


def _alive(pid):
    return bool(_command(pid))


def _wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "this took too long"
        time.sleep(0.02)
