import pytest

from isrht.experiments import reproduce as module
from isrht.experiments.journal import Journal
from isrht.experiments.plan import Skip
from isrht.experiments.reproduce import Listener, Settings, available, reproduce, skip_record


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ISRHT_DATA", raising=False)


class Witness(Listener):
    def __init__(self):
        self.begun, self.records, self.ended = None, [], False

    def begin(self, tasks, known_records, skips, damaged):
        self.begun = (len(tasks), len(known_records))

    def finished(self, task, record):
        self.records.append(record)

    def end(self):
        self.ended = True


def settings(tmp_path, **changes):
    options = {
        "sets": ("blobs", "real-sim"),
        "methods": ("PCA", "SRHT"),
        "parts": ("table",),
        "repetitions": 3,
        "jobs": 1,
    }
    return Settings(tmp_path / "journal", **(options | changes))


def test_it_continues_where_it_stopped_and_repeats_nothing(tmp_path):
    first = Witness()
    summary = reproduce(settings(tmp_path), first)
    assert (summary.planned, summary.known, summary.done, summary.failed) == (4, 0, 4, [])
    assert [skip.set for skip in summary.skipped] == ["real-sim"]
    assert first.ended
    lines = Journal(tmp_path / "journal").path.read_bytes().splitlines(keepends=True)
    (tmp_path / "journal").write_bytes(b"".join(lines[:-1]) + lines[-1][:40])
    again = Witness()
    summary = reproduce(settings(tmp_path), again)
    assert again.begun == (1, 3)
    assert (summary.known, summary.done, summary.damaged) == (3, 1, [len(lines)])
    assert reproduce(settings(tmp_path), Witness()).done == 0
    kinds = [record["kind"] for record in Journal(tmp_path / "journal").read().records]
    assert sorted(kinds) == ["accuracy"] * 4 + ["environment", "skip"]


def test_failed_runs_are_kept_and_repeated_only_when_asked(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "journal")

    def failing(tasks, *_):
        for task in tasks:
            record = module_record(task)
            journal.append(record)
            yield task, record

    def module_record(task):
        return {"key": task.key, "kind": "accuracy", "status": "failed", "error": "made up"}

    monkeypatch.setattr(module, "run_in_processes", failing)
    assert len(reproduce(settings(tmp_path)).failed) == 4
    assert reproduce(settings(tmp_path)).done == 0
    assert reproduce(settings(tmp_path, retry_failed=True)).done == 4


def test_ctrl_c_ends_the_listener_and_the_workers(tmp_path, monkeypatch):
    closed = []

    def interrupted(*_):
        try:
            raise KeyboardInterrupt
            yield
        finally:
            closed.append(True)

    monkeypatch.setattr(module, "run_in_processes", interrupted)
    witness = Witness()
    with pytest.raises(KeyboardInterrupt):
        reproduce(settings(tmp_path), witness)
    assert closed
    assert witness.ended


def test_a_stand_in_is_taken_only_for_what_is_not_there(tmp_path):
    checksums, skips = available(("gisette",), tmp_path)
    assert checksums == {}
    assert skips[0].set == "gisette"
    for name in ("gisette-like.xz", "gisette-like.t.xz"):
        (tmp_path / name).write_text(name)
    assert list(available(("gisette",), tmp_path)[0]) == ["gisette-like"]
    for name in ("gisette_scale", "gisette_scale.t"):
        (tmp_path / name).write_text(name)
    assert list(available(("gisette",), tmp_path)[0]) == ["gisette"]


def test_groups_of_sets(tmp_path):
    checksums, skips = available(("paper", "blobs"), tmp_path)
    assert list(checksums) == ["blobs"]
    assert len(skips) == 6


def test_equal_skips_are_one_record():
    assert skip_record(Skip("a", None, "b")) == skip_record(Skip("a", None, "b"))
