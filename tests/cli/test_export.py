import json

import numpy as np
import pytest
from exported_models import fitted, make_data

from isrht import ISRHT, LinearSVM, save
from isrht.export import TARGETS

pytest.importorskip("typer")
from typer.testing import CliRunner

from isrht.cli.app import app


def export(*arguments):
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


@pytest.mark.parametrize("to", TARGETS)
def test_the_path_is_the_result(to, tmp_path):
    if to == "onnx":
        pytest.importorskip("onnx")
    save(fitted("supervised")[0], tmp_path / "spam.isrht")
    result = export(tmp_path / "spam.isrht", "--to", to)
    assert result.exit_code == 0
    written = tmp_path / f"spam{TARGETS[to][1]}"
    assert result.stdout.strip() == str(written)
    assert ("trust" in result.stderr) == (to == "sklearn")
    result = export(tmp_path / "spam.isrht", "--to", to, "--out", tmp_path / "other", "--json")
    facts = json.loads(result.stdout)
    assert facts == {
        "path": str(tmp_path / "other"),
        "to": to,
        "bytes": (tmp_path / "other").stat().st_size,
        "trusted_only": to == "sklearn",
    }


def test_unfolded_is_another_graph(tmp_path):
    pytest.importorskip("onnx")
    save(fitted("supervised")[0], tmp_path / "model")
    for flags in ([], ["--unfolded"]):
        assert export(tmp_path / "model", "--to", "onnx", "-o", tmp_path / f"{len(flags)}", *flags).exit_code == 0
    assert (tmp_path / "0").read_bytes() != (tmp_path / "1").read_bytes()


def test_misuse(tmp_path):
    save(fitted("svm", labels="strings")[0], tmp_path / "model.h")
    save(ISRHT(8).fit(*make_data()), tmp_path / "projection")
    for arguments, message in [
        ((tmp_path / "model.h", "--to", "c"), "is the model itself"),
        ((tmp_path / "model.h", "--to", "liblinear"), "labels are 32-bit integers"),
        ((tmp_path / "model.h", "--to", "c", "--unfolded", "-o", tmp_path / "x"), "only onnx"),
        ((tmp_path / "projection", "--to", "c"), "only classifiers can be exported"),
    ]:
        result = export(*arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.h", "projection"]


def test_failure(tmp_path):
    (tmp_path / "model").write_text("hello")
    result = export(tmp_path / "model", "--to", "c")
    assert result.exit_code == 2
    assert "not a model file" in result.stderr
    save(LinearSVM().fit(np.eye(2), [0, 1]), tmp_path / "model")
    result = export(tmp_path / "model", "--to", "c", "--out", tmp_path / "no" / "folder.h")
    assert result.exit_code == 1
    assert "isrht export:" in result.stderr
    assert "Traceback" not in result.stderr
