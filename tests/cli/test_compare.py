import json
import os

import pytest

pytest.importorskip("typer")

from cli_data import isrht, write_file

from isrht.datasets.registry import DATASETS
from isrht.experiments.journal import Journal

FEW = ("--method", "SRHT", "--method", "All features", "-r", 2, "-r", 4, "-n", 2, "--jobs", 1)


@pytest.fixture(autouse=True)
def _forget_own_sets():
    before = dict(DATASETS)
    yield
    DATASETS.clear()
    DATASETS.update(before)


def test_a_table_and_a_page_and_no_run_twice(tmp_path):
    write_file(tmp_path / "mine.svm", labels=(1, 2, 3))
    out = tmp_path / "out"
    done = isrht("compare", tmp_path / "mine.svm", *FEW, "--out", out, "--json")
    assert done.exit_code == 0, done.stderr
    table, answer = (json.loads(done.stdout)[name] for name in ("table", "answer"))
    assert answer[0].startswith("Use ")
    assert [(row["method"], row["r"]) for row in table] == [("All features", None), ("SRHT", 2), ("SRHT", 4)]
    assert all(50 < row["accuracy"] <= 100 for row in table)
    page = (out / "index.html").read_text()
    assert "mine.svm" in page
    assert "Which method for mine.svm?" in page
    assert "published" not in page.lower()
    assert page.index("Use ") < page.index("<table")
    runs = len(Journal(out / "journal.jsonl").read().records)
    again = isrht("compare", tmp_path / "mine.svm", *FEW, "--out", out)
    assert again.stdout.startswith("Use ")
    assert "How sure" in again.stdout or "more than chance" in again.stdout
    assert len(Journal(out / "journal.jsonl").read().records) == runs
    DATASETS.pop("mine.svm")
    assert isrht("report", out / "journal.jsonl").exit_code == 0


def test_test_rows_of_their_own(tmp_path):
    write_file(tmp_path / "a.csv")
    write_file(tmp_path / "b.csv", seed=1, n_samples=30)
    options = ("--label", "label", "--test", tmp_path / "b.csv", "--name", "mine", "--out", tmp_path / "out", "-q")
    done = isrht("compare", tmp_path / "a.csv", *FEW, *options)
    assert done.exit_code == 0, done.stderr
    records = Journal(tmp_path / "out" / "journal.jsonl").read().records
    assert {tuple(record["shape"]) for record in records if record["kind"] == "accuracy"} == {(120, 30, 10)}


@pytest.mark.parametrize("text", ["", "1 1:1\n1 1:2\n", "1 1:1\n2 1:2\n1 1:3\n", "1:1\n2:1\n"])
def test_too_little_to_compare_is_said_at_once(text, tmp_path):
    (tmp_path / "mine.svm").write_text(text)
    done = isrht("compare", tmp_path / "mine.svm", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()[-1]) < 300
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_cannot_be_read_by_every_process(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = isrht("compare", tmp_path / "pipe", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "pipe is a pipe, which can be read only once, but every process reads the rows" in done.stderr


def test_more_features_can_be_asked_for(tmp_path):
    (tmp_path / "mine.svm").write_text("1 1:1 9:2\n-1 300:1\n" * 9)
    common = ("compare", tmp_path / "mine.svm", *FEW, "--out", tmp_path / "out", "-q", "--max-features")
    assert "makes more than 299 features" in isrht(*common, 299).stderr
    assert isrht(*common, 300).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--method", "LDA"], "unknown method 'LDA'"), (["--name", "digits"], "name of a set of the package")],
)
def test_what_is_wrong_is_said(arguments, message, tmp_path):
    write_file(tmp_path / "mine.svm")
    done = isrht("compare", tmp_path / "mine.svm", *arguments, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert message in done.stderr
