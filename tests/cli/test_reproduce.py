"""``isrht reproduce`` from its first run to its page, killed by real signals in between."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from isrht.experiments.journal import Journal

pytest.importorskip("typer")

SMALL = ("--sets", "blobs,real-sim", "--part", "table", "--method", "PCA", "--method", "SRHT")


def start(folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "ISRHT_DATA"} | {
        "XDG_CACHE_HOME": str(folder)
    }
    command = [
        sys.executable,
        "-m",
        "isrht",
        "reproduce",
        *SMALL,
        "--jobs",
        "1",
        "--out",
        str(folder / "out"),
        *arguments,
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def wait_for_runs(path, count):
    end = time.monotonic() + 60
    while len(Journal(path).read().records) < count:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("how", ["SIGINT", "SIGKILL"])
def test_stopped_it_leaves_a_good_journal_and_then_continues(how, tmp_path):
    journal = tmp_path / "out" / "journal.jsonl"
    first = start(tmp_path, "-n", "3000")
    wait_for_runs(journal, 5)
    first.send_signal(getattr(signal, how))
    _, messages = first.communicate()
    if how == "SIGINT":
        assert first.returncode == 130
        assert "continues where it stopped" in messages
        assert "Traceback" not in messages
    time.sleep(0.5)  # an orphaned worker may finish its run
    contents = Journal(journal).read()
    assert contents.damaged == []
    before = {record["key"]: record["finished"] for record in contents.records if record["kind"] == "accuracy"}

    second = start(tmp_path, "-n", "3", "--json")
    result, messages = second.communicate()
    assert second.returncode == 0, messages
    summary = json.loads(result)
    assert summary["planned"] == summary["known"] + summary["done"] == 4
    assert summary["known"] >= 3
    assert any(line.startswith("skipped real-sim") for line in messages.splitlines())
    after = {
        record["key"]: record["finished"] for record in Journal(journal).read().records if record["kind"] == "accuracy"
    }
    assert before.items() <= after.items()
    assert (tmp_path / "out" / "index.html").stat().st_size > 10_000


def test_runs_that_fail_are_counted_and_their_errors_kept(tmp_path):
    (tmp_path / "real-sim").write_text("1 1=2\n")
    process = start(tmp_path, "-n", "1", "--data-dir", str(tmp_path), "--quiet")
    result, messages = process.communicate()
    assert process.returncode == 1
    assert messages == "2 of 4 runs failed; the page names them\n"
    page = tmp_path / "out" / "index.html"
    assert result == f"{page}\n"
    assert "2 runs failed" in page.read_text()
    assert "real-sim, line 1, column 4" in page.read_text()
    assert page.with_name("records.csv").read_text().count("real-sim, line 1, column 4") == 2
