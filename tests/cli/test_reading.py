from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("typer")

from isrht.cli._reading import (
    ReadingOptions,
    base_option,
    check_not_input,
    check_read_again,
    describe_facts,
    describe_unseen,
    model_options,
    named,
    training_options,
)
from isrht.files import Facts, Limits

MODEL = SimpleNamespace(n_features_in_=7)


def test_only_the_options_that_were_given_are_passed_on():
    assert training_options(None, "auto", None, None) == {}
    given = {"format": "csv", "label": "y", "limits": Limits(features=9), "index_base": 1}
    assert training_options("csv", "1", "y", 9) == given
    with pytest.raises(ValueError, match="--index-base must be auto, 0 or 1, got '2'"):
        base_option("2")


@pytest.fixture
def paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("rows.svm", "rows.csv", "rows.npz"):
        (tmp_path / name).touch()


@pytest.mark.parametrize(
    ("path", "known", "asked", "expected"),
    [
        ("rows.svm", {"index_base": 0}, {}, {"format": "libsvm", "index_base": 0}),
        ("rows.svm", {}, {}, {"format": "libsvm", "index_base": "auto"}),
        ("rows.svm", {"index_base": 0}, {"index_base": "1"}, {"format": "libsvm", "index_base": 1}),
        ("rows.csv", {"label": "y"}, {}, {"format": "csv", "label": "y"}),
        ("rows.csv", {"label": "y"}, {"label": "0"}, {"format": "csv", "label": "0"}),
        ("rows.csv", {"label": "y"}, {"no_label": True}, {"format": "csv"}),
        ("rows.npz", {"label": "y"}, {}, {"format": "npz"}),
        ("rows.csv", {"index_base": 1}, {"format": "libsvm"}, {"format": "libsvm", "index_base": 1}),
    ],
)
def test_rows_for_a_model_are_read_as_those_it_knows_unless_asked_otherwise(paths, path, known, asked, expected):
    assert model_options(path, MODEL, known, ReadingOptions(**asked)) == {"n_features": 7} | expected


def test_names_of_features_come_with_the_rows():
    pytest.importorskip("pandas")
    X = np.eye(2)
    assert named(X, None) is X
    assert named(X, ["a", "b"]).columns.tolist() == ["a", "b"]


def test_pipes_and_inputs_are_refused(paths):
    check_read_again(["rows.svm"], "it is read twice")
    with pytest.raises(ValueError, match="standard input is a pipe, .* but it is read twice: write it to a file first"):
        check_read_again(["rows.svm", "-"], "it is read twice")
    check_not_input("new", "rows.svm", "rows.csv")
    with pytest.raises(ValueError, match="rows.csv is read here: it is not overwritten"):
        check_not_input("rows.csv", "rows.svm", "rows.csv")


def test_what_was_read_is_told_in_lines():
    classes = dict.fromkeys(map(float, range(14)), 1000)
    facts = Facts("libsvm", 14_000, 20, 50_000, "number", classes, index_base=0)
    rows, labels = describe_facts(facts)
    assert rows == "14,000 rows, 20 features (indices from 0), 50,000 values that are not zero"
    assert labels.startswith("14 classes: 0 (1,000 rows), 1 (1,000 rows), ")
    assert labels.endswith("11 (1,000 rows) and 2 more")
    assert list(describe_facts(Facts("csv", 1, 2, 2, None, None))) == ["1 rows, 2 features, 2 values that are not zero"]
    assert list(describe_unseen(0, 7)) == []
    assert list(describe_unseen(1200, 7)) == ["1,200 values of features past the model's 7 were left out"]
