"""Models are what they were: fitted anew, and loaded from the files of an older version."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import isrht

from . import committed, digests
from .configurations import MODELS
from .facts import facts_in_files


@pytest.fixture(scope="module")
def expected():
    return committed.read_expected()


@pytest.mark.parametrize("name", [*MODELS, "fwht"])
def test_a_fit_gives_the_numbers_in_the_repository(name, expected):
    if name in MODELS and MODELS[name].needs_dask:
        pytest.importorskip("dask.array")
    assert committed.differences(expected[name], committed.fresh_facts(name)) == []


@pytest.mark.parametrize("name", committed.WITH_FILES)
def test_a_model_file_in_the_repository_gives_them_too(name, expected):
    assert committed.differences(facts_in_files(expected[name]), committed.facts_from_file(name)) == []


def test_numbers_and_files_are_those_of_the_configurations(expected):
    assert list(expected) == [*MODELS, "fwht"]
    assert {path.name for path in committed.FOLDER.iterdir()} == {f"{name}.isrht" for name in committed.WITH_FILES}


def test_every_estimator_has_a_file():
    public = [getattr(isrht, name) for name in isrht.__all__]
    estimators = {item for item in public if isinstance(item, type) and issubclass(item, BaseEstimator)}
    assert estimators <= {type(MODELS[name].estimator) for name in committed.WITH_FILES}


def test_a_difference_beyond_rounding_is_told():
    expected = {"coef_": ["float64", [100.0, 1.0]], "C_": ["float64", 0.1], "columns": ["integers", [1, 2]]}
    facts = {"coef_": np.array([100.0, 1.00005]), "C_": np.array(0.1), "columns": np.array([1, 2])}
    assert committed.differences(expected, facts) == []
    assert committed.differences(expected, facts | {"coef_": np.array([100.0, 1.001])}) == [
        "coef_ differs by 0.001, where the largest is 100"
    ]
    assert committed.differences(expected, facts | {"C_": np.array(0.1 + 1e-9)}) != []
    assert committed.differences(expected, facts | {"columns": np.array([2, 1])}) == ["columns is [2 1], not [1 2]"]
    assert committed.differences(expected, facts | {"coef_": np.array([100.0, np.nan])}) != []
    assert committed.differences(expected, facts | {"coef_": np.float32([100.0, 1.0])}) != []
    assert committed.differences(expected, {}) == ["C_ is missing", "coef_ is missing", "columns is missing"]
    assert committed.differences({}, {"C_": np.array(0.1)}) == ["C_ is new"]


def test_only_what_has_changed_is_rewritten(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(committed, "MODELS", {name: MODELS[name] for name in ("svm", "isrht-top")})
    monkeypatch.setattr(committed, "WITH_FILES", ("svm",))
    monkeypatch.setattr(committed, "EXPECTED", tmp_path / "expected.json")
    monkeypatch.setattr(committed, "FOLDER", tmp_path / "models")
    committed.rewrite()
    assert capsys.readouterr().out.splitlines() == [
        *("svm: new numbers", "isrht-top: new numbers", "fwht: new numbers", "svm.isrht: written")
    ]
    numbers, file = committed.EXPECTED.read_text(), committed.model_path("svm").read_bytes()
    committed.rewrite()
    assert capsys.readouterr().out == ""
    changed = json.loads(numbers)
    changed["isrht-top"]["column_scales_"][1][0] *= 1.001
    committed.EXPECTED.write_text(json.dumps(changed))
    (committed.FOLDER / "old.isrht").write_bytes(file)
    committed.rewrite()
    assert capsys.readouterr().out.splitlines() == ["isrht-top: new numbers", "old.isrht: removed"]
    assert committed.EXPECTED.read_text() == numbers
    assert committed.model_path("svm").read_bytes() == file


def test_digests_tell_the_fact_that_differs(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(digests, "MODELS", {name: MODELS[name] for name in ("svm", "isrht-top")})
    digests.write(tmp_path)
    assert digests.check(tmp_path)
    written = json.loads((tmp_path / "digests.json").read_text())
    written["digests"]["svm"]["coef_"] = "another"
    (tmp_path / "digests.json").write_text(json.dumps(written))
    (tmp_path / "isrht-top.isrht").write_bytes(b"damaged")
    capsys.readouterr()
    assert not digests.check(tmp_path)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "svm: coef_"
    assert lines[1].startswith("isrht-top: ModelFileError(")
    assert lines[2:] == ["2 of 3 configurations differ"]
