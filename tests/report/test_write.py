import csv
import os

import pytest
from sample_records import sample, write_journal

from isrht.report.write import write_report, write_whole


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    return write_report(write_journal(folder / "journal").path, folder / "out")


def test_three_files(written):
    assert sorted(path.name for path in written["index.html"].parent.iterdir()) == [
        "index.html",
        "records.csv",
        "tables.md",
    ]


def test_the_csv_holds_every_run(written):
    with open(written["records.csv"], newline="") as file:
        rows = list(csv.DictReader(file))
    runs = [record for record in sample() if record["kind"] in ("accuracy", "projection")]
    assert len(rows) == len(runs)
    assert {row["key"] for row in rows} == {record["key"] for record in runs}
    assert float(rows[0]["seconds.fit"]) == 0.01
    assert rows[0]["n_train"] == "700"
    assert sum(row["status"] == "failed" for row in rows) == 1


def test_the_markdown_says_what_the_page_says(written):
    text = written["tables.md"].read_text()
    assert text.startswith("- real-sim skipped")
    assert "### mushrooms, r = 16" in text
    assert "### Deviations from the paper" in text


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = write_whole(tmp_path / "page", "old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, "new")
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("page", "old")]
