"""``isrht predict``, and the rules by which it reads rows."""

import json
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("typer")

from cli_data import isrht, labelled_rows, write_file

from isrht import ISRHT, LinearSVM, load, save
from isrht.files.writing import write_rows


@pytest.fixture
def model(tmp_path):
    write_file(tmp_path / "train.svm")
    assert isrht("train", tmp_path / "train.svm", tmp_path / "model", "-r", 4, "-q").exit_code == 0
    return tmp_path / "model"


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.svm"
    write_file(path, seed=1)
    return path


def test_predictions_are_those_of_the_library(model, rows, tmp_path):
    done = isrht("predict", rows, model, tmp_path / "out")
    X, y = labelled_rows(1)
    expected = load(model).predict(X)
    assert (tmp_path / "out").read_text().split() == [str(int(label)) for label in expected]
    assert f"Accuracy = {100 * np.mean(expected == y):.4f}%" in done.stdout
    assert done.stderr == ""


def test_predictions_alone_go_to_standard_output(model, rows):
    done = isrht("predict", rows, model)
    assert set(done.stdout.split()) == {"1", "-1"}
    assert "Accuracy" in done.stderr


def test_scores(model, rows):
    header, *lines = isrht("predict", rows, model, "--scores", "-q").stdout.splitlines()
    assert header == "labels -1 1"
    X, _ = labelled_rows(1)
    np.testing.assert_allclose([float(line.split()[2]) for line in lines], load(model).decision_function(X), rtol=1e-9)
    assert all((line.split()[0] == "1") == (float(line.split()[2]) > 0) for line in lines)


def test_probabilities(model, rows):
    header, *lines = isrht("predict", rows, model, "--proba", "-q").stdout.splitlines()
    assert header == "labels -1 1"
    X, _ = labelled_rows(1)
    np.testing.assert_allclose(
        [list(map(float, line.split()[1:])) for line in lines], load(model).predict_proba(X), rtol=1e-9
    )


def test_probabilities_that_a_model_does_not_have(model, rows, tmp_path):
    X, y = labelled_rows(0)
    save(LinearSVM().fit(X, y), tmp_path / "svm")
    assert "no probabilities" in isrht("predict", rows, tmp_path / "svm", "--proba").stderr
    assert "choose one" in isrht("predict", rows, model, "--proba", "--scores").stderr


def test_scores_of_several_classes(tmp_path):
    write_file(tmp_path / "rows.csv", labels=("a", "b", "c"))
    isrht("train", tmp_path / "rows.csv", tmp_path / "m", "-r", 4, "--label", "label")
    lines = isrht("predict", tmp_path / "rows.csv", tmp_path / "m", "--scores", "-q").stdout.splitlines()
    assert lines[0] == "labels a b c"
    scores = np.array([line.split()[1:] for line in lines[1:]], dtype=float)
    assert [line.split()[0] for line in lines[1:]] == np.array(["a", "b", "c"])[scores.argmax(axis=1)].tolist()


def test_a_pipe(model, rows):
    done = isrht("predict", "-", model, input=rows.read_bytes())
    assert done.stdout == isrht("predict", rows, model).stdout


def test_more_rows_than_are_held_at_once(model, tmp_path):
    """A process predicts a million rows of a pipe in little more memory than its libraries need."""
    pytest.importorskip("resource", reason="limits to memory are set by it")
    script = f"""
import resource, sys
from isrht.__main__ import main
import isrht.files, isrht.models.model_file, isrht.cli.predict
resource.setrlimit(resource.RLIMIT_DATA, (450 * 2**20,) * 2)
main(["predict", "-", {str(model)!r}, {str(tmp_path / "out")!r}])
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False
    )
    block = b"".join(b"%d 1:%d 5:0.5 9:-1.25\n" % (2 * (k % 2) - 1, 3 * (k % 2)) for k in range(10_000))
    for _ in range(100):
        process.stdin.write(block)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert b"1,000,000 rows" in out


def test_unseen_and_absent_features_follow_a_rule_that_is_said(model, tmp_path):
    (tmp_path / "other.svm").write_text("1 1:3 11:5 12:1\n-1\n1 1:3\n")
    done = isrht("predict", tmp_path / "other.svm", model)
    assert "2 values of features past the model's 10 were left out" in done.stderr
    first, empty, same = done.stdout.split()
    assert first == same
    assert empty in ("1", "-1")


def test_indices_are_read_as_in_training(model, tmp_path):
    (tmp_path / "zero.svm").write_text("1 0:3 1:2\n")
    done = isrht("predict", tmp_path / "zero.svm", model)
    assert done.exit_code == 2
    assert "zero.svm, line 1, column 3" in done.stderr
    assert isrht("predict", tmp_path / "zero.svm", model, "--index-base", 0).exit_code == 0


def test_labels_the_model_does_not_know(model, tmp_path):
    (tmp_path / "other.svm").write_text("1 1:3\n7 1:3\n")
    done = isrht("predict", tmp_path / "other.svm", model, tmp_path / "out", "--json")
    told = json.loads(done.stdout)
    assert told["unknown_labels"] == 1
    assert told["accuracy"] == 0.5


def test_a_table_with_and_without_its_labels(tmp_path):
    X, _ = write_file(tmp_path / "rows.csv")
    isrht("train", tmp_path / "rows.csv", tmp_path / "m", "-r", 4, "--label", "label")
    assert "Accuracy" in isrht("predict", tmp_path / "rows.csv", tmp_path / "m").stderr
    np.savetxt(tmp_path / "bare.csv", X, delimiter=",", header=",".join(f"x{k + 1}" for k in range(10)), comments="")
    bare = isrht("predict", tmp_path / "bare.csv", tmp_path / "m", "--no-label")
    assert bare.exit_code == 0, bare.stderr
    assert "Accuracy" not in bare.stderr
    assert "there is no column 'label'" in isrht("predict", tmp_path / "bare.csv", tmp_path / "m").stderr


def test_models_saved_by_hand(tmp_path, rows):
    X, y = labelled_rows(0)
    save(LinearSVM().fit(X, y), tmp_path / "svm")
    assert isrht("predict", rows, tmp_path / "svm").exit_code == 0
    save(ISRHT(2, random_state=0).fit(X, y), tmp_path / "projection")
    done = isrht("predict", rows, tmp_path / "projection")
    assert done.exit_code == 2
    assert "holds a ISRHT, which does not predict" in done.stderr


def test_labels_of_another_kind_are_unknown_not_an_error(model, tmp_path):
    (tmp_path / "other.svm").write_text("spam 1:3\n+1 1:3\n")
    done = isrht("predict", tmp_path / "other.svm", model)
    assert done.exit_code == 0, done.stderr
    assert "1 rows have labels that the model was not trained on" in done.stderr


def test_columns_in_another_order_are_refused(tmp_path):
    X, y = write_file(tmp_path / "rows.csv")
    isrht("train", tmp_path / "rows.csv", tmp_path / "m", "-r", 4, "--label", "label")
    names = ",".join(f"x{k}" for k in range(10, 0, -1))
    np.savetxt(tmp_path / "reversed.csv", X[:, ::-1], delimiter=",", header=names, comments="")
    done = isrht("predict", tmp_path / "reversed.csv", tmp_path / "m", "--no-label")
    assert done.exit_code == 2
    assert "feature names" in done.stderr
    write_rows(tmp_path / "rows.svm", X, y)  # LIBSVM text has no names, so features are taken by position
    assert isrht("predict", tmp_path / "rows.svm", tmp_path / "m").exit_code == 0


def test_what_is_read_is_not_overwritten(model, rows):
    before = rows.read_bytes(), model.read_bytes()
    for out in (rows, model):
        done = isrht("predict", rows, model, out)
        assert done.exit_code == 2
        assert "is not overwritten" in done.stderr
        assert isrht("transform", rows, model, out).exit_code == 2
    assert (rows.read_bytes(), model.read_bytes()) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_written_to_not_replaced(model, rows, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    assert isrht("predict", rows, model, pipe).exit_code == 0
    out, _ = reader.communicate(timeout=60)
    assert len(out.split()) == 120
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_labels_with_blanks_are_separated_by_tabs(tmp_path):
    write_file(tmp_path / "rows.csv", labels=("red wine", "white wine"))
    isrht("train", tmp_path / "rows.csv", tmp_path / "m", "-r", 4, "--label", "label")
    lines = isrht("predict", tmp_path / "rows.csv", tmp_path / "m", "--scores", "-q").stdout.splitlines()
    assert lines[0].split("\t") == ["labels", "red wine", "white wine"]
    assert all(len(line.split("\t")) == 3 for line in lines)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["rows.svm", "nowhere"], 2, "cannot load 'nowhere'"),
        (["rows.svm", "rows.svm"], 2, "cannot load 'rows.svm'"),
        (["nowhere", "model"], 1, "no file nowhere"),
        (["rows.svm", "model", "--json"], 2, "give OUT"),
        (["bad.svm", "model", "out"], 2, "bad.svm, line 121"),
        (["rows.svm", "model", "nowhere/out"], 1, "there is no folder"),
        (["empty", "model"], 1, "there are no files in the folder empty"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(arguments, code, message, model, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.svm").write_bytes(rows.read_bytes() + b"1 2=3\n")
    (tmp_path / "empty").mkdir()
    done = isrht("predict", *arguments)
    assert done.exit_code == code
    assert message in done.stderr
    assert not (tmp_path / "out").exists()
