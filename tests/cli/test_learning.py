"""Models as the options of ``isrht train`` ask for: what is fitted, said, written and judged."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("typer")

from cli_data import isrht

from isrht import ISRHTClassifier, load
from isrht.cli._learning import ModelOptions, is_cost, make_model
from isrht.files.density import smaller_form
from isrht.files.opening import read_rows
from isrht.files.writing import write_rows
from isrht.models.model_file import read_about


def test_the_model_is_that_of_the_library(data, tmp_path):
    model = tmp_path / "m.isrht"
    done = isrht("train", data, model, "-r", 4, "--selection", "supervised", "-C", "cv", "--seed", 3)
    assert done.exit_code == 0, done.stderr
    X, y, _ = read_rows(data)
    expected = ISRHTClassifier(4, selection="supervised", scale="maxabs", random_state=3).fit(smaller_form(X), y)
    found = load(model)
    assert found.C_ == expected.C_
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_json_and_quiet(data, tmp_path):
    done = isrht("train", data, tmp_path / "m", "-r", 4, "-q", "--json", "--test", data)
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["classes"] == ["-1", "1"]
    assert told["bytes"] == (tmp_path / "m").stat().st_size
    assert told["test"]["accuracy"] > 0.9
    assert set(told["seconds"]) == {"read", "fit", "test", "write"}


def test_the_same_seed_writes_the_same_bytes(data, tmp_path):
    for name in ("one", "two"):
        isrht("train", data, tmp_path / name, "-r", 4, "-j", 1)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_few_features_need_no_r(data, tmp_path):
    assert isrht("train", data, tmp_path / "m", "--selection", "top").exit_code == 0
    assert load(tmp_path / "m").projection_.n_components_ == 16


def test_a_model_is_kept_whatever_the_test_rows_are(data, tmp_path):
    (tmp_path / "bad.svm").write_text("1 1=2\n")
    assert isrht("train", data, tmp_path / "m", "-r", 2, "--test", tmp_path / "bad.svm").exit_code == 2
    assert load(tmp_path / "m").n_components == 2


def test_boosted_columns_say_how_they_were_chosen(data, tmp_path):
    done = isrht("train", data, tmp_path / "m", "-r", 4)
    assert "chosen on held-out rows" in done.stderr
    assert load(tmp_path / "m").selection == "boosted"


def test_labels_that_look_like_noise_are_said(tmp_path):
    rng = np.random.default_rng(1)
    write_rows(tmp_path / "noise.svm", rng.standard_normal((80, 20)), rng.integers(0, 2, 80))
    done = isrht("train", tmp_path / "noise.svm", tmp_path / "m", "-r", 6)
    assert not load(tmp_path / "m").projection_.has_signal_
    assert "the labels look like noise: one cautious round was made" in done.stderr.splitlines()


def test_the_file_knows_how_its_data_were_read(data, tmp_path):
    isrht("train", data, tmp_path / "m", "-r", 2, "-c", 1)
    known = read_about(tmp_path / "m")
    assert known["index_base"] == 1
    assert known["label_type"] == "number"
    assert known["trained_on"] == {"files": ["rows.svm"], "rows": 120, "features": 10, "nonzeros": known_nnz(data)}
    assert load(tmp_path / "m").C == 1.0


def known_nnz(path):
    return read_rows(path)[2].nnz


def test_cross_validation_alone_writes_no_model(data, tmp_path):
    done = isrht("train", data, tmp_path / "m", "-v", 3, "-r", 4)
    assert "Cross Validation Accuracy = " in done.stderr
    assert not (tmp_path / "m").exists()


def test_bias_as_in_liblinear(data, tmp_path):
    isrht("train", data, tmp_path / "m", "-B", -1, "-r", 4, "--selection", "uniform")
    assert not load(tmp_path / "m").svm_.intercept_.any()


def test_options_become_parameters():
    options = ModelOptions(None, "top", "4", "none", 3, -1.0, True, True, 1)
    model = make_model(options)
    assert (model.n_components, model.selection, model.C, model.scale) == ("auto", "top", 4.0, None)
    assert not model.penalize_intercept
    assert (model.random_state, model.fit_intercept, model.class_weight, model.n_jobs) == (3, False, "balanced", 1)
    with pytest.raises(ValueError, match="-c must be a number or cv, got 'much'"):
        make_model(replace(options, cost="much"))


@pytest.mark.parametrize(
    ("text", "expected"), [("cv", True), ("4", True), ("1e-3", True), ("data", False), ("", False)]
)
def test_what_can_be_a_cost(text, expected):
    assert is_cost(text) is expected
