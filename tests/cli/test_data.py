import json

import pytest

pytest.importorskip("typer")
from typer.testing import CliRunner

from isrht.cli.app import app
from isrht.datasets.registry import DATASETS


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ISRHT_DATA", raising=False)


def test_every_set_is_listed_with_what_is_known(tmp_path):
    (tmp_path / "mushrooms.xz").write_text("x")
    result = CliRunner().invoke(app, ["data", "--data-dir", str(tmp_path)])
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert set(DATASETS) <= set(lines)
    assert "embedded" in lines["digits"]
    assert " yes " in lines["mushrooms"]
    assert "stand-in for gisette" in lines["gisette-like"]


def test_the_list_as_json():
    rows = json.loads(CliRunner().invoke(app, ["data", "--json"]).stdout)
    assert [row["set"] for row in rows] == list(DATASETS)
    assert next(row for row in rows if row["set"] == "real-sim")["here"] == "no"


def test_fetching_reports_what_was_verified(monkeypatch, tmp_path):
    pytest.importorskip("pooch")
    monkeypatch.setattr("isrht.datasets.fetch.fetch", lambda description, *_, **__: [tmp_path / description.name])
    result = CliRunner().invoke(app, ["data", "fetch", "mushrooms", "real-sim"])
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [str(tmp_path / "mushrooms"), str(tmp_path / "real-sim")]
    assert "mushrooms: verified" in result.stderr


def test_a_failed_download_ends_with_one(monkeypatch):
    pytest.importorskip("pooch")

    def fail(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr("isrht.datasets.fetch.fetch", fail)
    result = CliRunner().invoke(app, ["data", "fetch", "mushrooms"])
    assert result.exit_code == 1
    assert "mushrooms: no route to host" in result.stderr
