import json
import sys

import pytest
from sample_records import write_journal

pytest.importorskip("typer")
from typer.testing import CliRunner

from isrht.cli.app import app


def test_the_page_is_rebuilt_from_the_journal_alone(tmp_path):
    journal = write_journal(tmp_path / "journal.jsonl").path
    result = CliRunner().invoke(app, ["report", str(journal)])
    assert result.exit_code == 0
    assert result.stdout.strip() == str(tmp_path / "index.html")
    result = CliRunner().invoke(app, ["report", str(journal), "--out", str(tmp_path / "other"), "--json"])
    assert set(json.loads(result.stdout)) == {"index.html", "tables.md", "records.csv"}
    assert (tmp_path / "other" / "tables.md").is_file()


@pytest.mark.parametrize(
    ("name", "problem"), [("rows.svm", "is no journal: none of its 1 lines is"), ("j.xz", "the archive is damaged")]
)
def test_what_is_no_journal_makes_no_page(name, problem, tmp_path):
    (tmp_path / name).write_text("1 1:2\n")
    result = CliRunner().invoke(app, ["report", str(tmp_path / name)])
    assert result.exit_code == 2
    assert problem in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    journal = write_journal(tmp_path / "journal.jsonl", sets=("blobs",)).path
    (tmp_path / "file").write_text("in the way")
    result = CliRunner().invoke(app, ["report", str(journal), "--out", str(tmp_path / "file")])
    assert result.exit_code == 1
    assert "isrht report:" in result.stderr


def test_figures_become_files(tmp_path):
    pytest.importorskip("matplotlib")
    journal = write_journal(tmp_path / "journal.jsonl", sets=("blobs",)).path
    result = CliRunner().invoke(app, ["report", str(journal), "--figures", str(tmp_path / "figures"), "--json"])
    assert result.exit_code == 0, result.stderr
    assert {"figure-1.svg", "figure-1.pdf", "figure-1.png"} <= set(json.loads(result.stdout))
    assert (tmp_path / "figures" / "figure-1.pdf").is_file()


def test_figures_without_matplotlib_are_an_error_that_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    journal = write_journal(tmp_path / "journal.jsonl", sets=("blobs",)).path
    result = CliRunner().invoke(app, ["report", str(journal), "--figures", str(tmp_path / "figures")])
    assert result.exit_code == 1
    assert "needs matplotlib" in result.stderr
    assert not (tmp_path / "figures").exists()
