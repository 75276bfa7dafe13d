import json

import numpy as np
import pytest
from exported_models import MODELS, fitted, make_data

from isrht import ISRHT, save

pytest.importorskip("typer")
from typer.testing import CliRunner

from isrht.cli.app import app


def inspect(*arguments):
    return CliRunner().invoke(app, ["inspect", *map(str, arguments)])


@pytest.mark.parametrize("name", MODELS)
def test_every_model_can_be_shown(name, tmp_path):
    model, _ = fitted(name, 3)
    save(model, tmp_path / "model")
    result = inspect(tmp_path / "model", "--top", "3")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{type(model).__name__}, ")
    for part in ("parameters", "learned", "column scores", "most telling features"):
        assert part in result.stdout
    assert len(result.stdout.partition("most telling")[2].splitlines()) == 4


def test_bars_show_which_columns_were_kept(tmp_path):
    save(fitted("supervised")[0], tmp_path / "model")
    bars = [line for line in inspect(tmp_path / "model").stdout.splitlines() if line.endswith("kept)")]
    assert len(bars) == 24
    assert "#" in bars[-1]
    assert "." not in bars[-1].split()[1]


def test_the_table_over_C_marks_the_best(tmp_path):
    model, _ = fitted("svm cv")
    save(model, tmp_path / "model")
    assert "  *" in inspect(tmp_path / "model").stdout


def test_json(tmp_path):
    save(fitted("boosted")[0], tmp_path / "model")
    facts = json.loads(inspect(tmp_path / "model", "--json", "--top", "0").stdout)
    assert facts["parts"]["projection_"]["class"] == "BoostedISRHT"
    assert facts["features"] == []


def test_a_projection_alone(tmp_path):
    save(ISRHT(8, sketch_size=20).fit(*make_data()), tmp_path / "model")
    result = inspect(tmp_path / "model")
    assert result.exit_code == 0
    assert "embedding_ (SparseEmbedding)" in result.stdout
    assert "most telling" not in result.stdout


def test_a_file_that_is_no_model_is_an_error(tmp_path):
    (tmp_path / "model").write_text("hello")
    result = inspect(tmp_path / "model")
    assert result.exit_code == 2
    assert "not a model file" in result.stderr
    assert result.stdout == ""


def test_it_tells_where_the_data_came_from_and_counts_features_as_they_did(tmp_path):
    model, _ = fitted("supervised")
    save(model, tmp_path / "model", about={"index_base": 1, "label": None, "trained_on": {"files": ["a.svm"]}})
    text = inspect(tmp_path / "model", "--top", "1").stdout
    assert "trained_on.files     a.svm" in text
    assert "counted from 1" in text
    strongest = int(abs(model.coef_).max(axis=0).argmax())
    assert text.splitlines()[-1].split()[0] == str(strongest + 1)


def test_a_page(tmp_path):
    save(fitted("boosted")[0], tmp_path / "model")
    result = inspect(tmp_path / "model", "--html", tmp_path / "page.html")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Most telling features" in (tmp_path / "page.html").read_text()
    assert inspect(tmp_path / "model", "--html", tmp_path / "model").exit_code != 0
    text = inspect(tmp_path / "model").stdout
    assert "held-out scores after" in text


def test_parameters_that_the_file_does_not_hold_are_named(tmp_path):
    with pytest.warns(UserWarning, match="random_state"):
        save(ISRHT(8, random_state=np.random.RandomState(0)).fit(*make_data()), tmp_path / "model")
    lines = inspect(tmp_path / "model").stdout.splitlines()
    assert "  (not stored, shown as defaults: random_state)" in lines
