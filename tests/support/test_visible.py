"""Texts of strangers: nothing that a terminal obeys reaches it, by whatever command."""

import numpy as np
import pytest
from sample_records import write_journal

from isrht import ISRHTClassifier, save
from isrht.files.writing import write_rows
from isrht.report.write import write_report
from isrht.support.visible import visible, visible_lines

RED, TITLE, BACKWARDS = "\x1b[31mred", "\x1b]0;title\x07", "\u202eabc"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("spam, naïve 日本 \u200d\u00a0\\x1b", "spam, naïve 日本 \u200d\u00a0\\x1b"),
        (RED, "\\x1b[31mred"),
        ("a\nb\tc\r\x00\x7f", "a\\nb\\tc\\r\\x00\\x7f"),
        ("\x9b31m\u2028", "\\x9b31m\\u2028"),
        (BACKWARDS, "\\u202eabc"),
        ("\udcff", "\\udcff"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped(text, shown):
    assert visible(text) == shown


def test_lines_stay_lines():
    assert visible_lines(f"{RED}\nb") == "\\x1b[31mred\nb"


@pytest.fixture
def model(tmp_path):
    """A model of a stranger."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.standard_normal((40, 3)), columns=[RED, "two\nlines", TITLE])
    y = np.array([f"{RED}\nX", BACKWARDS], dtype=object)[(X[RED] > 0).astype(int)]
    about = {"note": TITLE, f"{RED}": {"files": [f"a\n{TITLE}"]}, "deep": deep(300)}
    save(ISRHTClassifier(2, selection="top", C=1.0, random_state=0).fit(X, y), tmp_path / "model", about=about)
    write_rows(tmp_path / "rows.svm", X.to_numpy(), np.arange(40))
    return tmp_path / "model"


def deep(levels):
    return {"x": deep(levels - 1)} if levels else RED


@pytest.mark.parametrize(
    "command", ["inspect model", "predict rows.svm model --index-base 1 --scores", "predict rows.svm model out"]
)
def test_a_model_of_a_stranger(model, command, tmp_path, monkeypatch):
    pytest.importorskip("typer")
    from cli_data import isrht

    monkeypatch.chdir(tmp_path)
    command = command.split()
    done = isrht(*command)
    assert done.exit_code == 0, done.stderr
    shown = done.stdout + done.stderr + ((tmp_path / "out").read_text() if "out" in command else "")
    assert "\\x1b[31mred\\nX" in shown
    assert "\\u202eabc" in shown
    assert not set(shown) & set("\x1b\x07\u202e\r\t")
    if command[0] == "predict":
        assert sum(line.startswith(("\\x1b[31mred\\nX", "\\u202eabc")) for line in shown.splitlines()) >= 40


def test_an_error_about_a_file_of_a_stranger(tmp_path, monkeypatch):
    pytest.importorskip("typer")
    from cli_data import isrht

    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{RED}.svm").write_bytes(b"1 1:\x1b[31m\n")
    done = isrht("train", f"{RED}.svm", "m")
    assert "\\x1b[31mred.svm, line 1, column 5: the value '\\x1b[31m' is no number" in done.stderr
    assert "\x1b" not in done.stderr


def test_the_tables_of_a_journal(tmp_path):
    from isrht.experiments.journal import Journal

    journal = write_journal(tmp_path / "journal", sets=("blobs",)).path
    Journal(journal).append({"kind": "skip", "set": RED, "method": None, "reason": TITLE, "key": "k"})
    text = write_report(journal, tmp_path)["tables.md"].read_text()
    assert "\\x1b[31mred skipped: \\x1b]0;title\\x07" in text
    assert "\x1b" not in text
