"""``isrht train``: what it reads, says, writes and refuses."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("typer")

from cli_data import isrht, write_file

from isrht import ISRHTClassifier, load
from isrht.files.density import smaller_form
from isrht.files.opening import read_rows
from isrht.models.model_file import read_about


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "rows.svm"
    write_file(path)
    return path


def test_the_model_is_that_of_the_library(data, tmp_path):
    model = tmp_path / "m.isrht"
    done = isrht("train", data, model, "-r", 4, "--selection", "supervised", "-C", "cv", "--seed", 3)
    assert done.exit_code == 0, done.stderr
    X, y, _ = read_rows(data)
    expected = ISRHTClassifier(4, selection="supervised", scale="maxabs", random_state=3).fit(smaller_form(X), y)
    found = load(model)
    assert found.C_ == expected.C_
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_it_says_what_it_read_chose_and_wrote(data, tmp_path):
    write_file(tmp_path / "test.svm", seed=1)
    done = isrht("train", data, tmp_path / "m", "-r", 4, "--selection", "top", "--test", tmp_path / "test.svm")
    for text in (
        "120 rows, 10 features (indices from 1)",
        "2 classes: -1 (60 rows), 1 (60 rows)",
        "cross-validated accuracy",
        "  chosen",
        "Accuracy = ",
        "true \\ predicted",
        "seconds: read ",
        f"{tmp_path / 'm'}: ",
    ):
        assert text in done.stderr
    assert done.stdout == ""


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


def test_the_names_of_columns_are_kept(tmp_path):
    write_file(tmp_path / "rows.csv")
    isrht("train", tmp_path / "rows.csv", tmp_path / "m", "-r", 4, "--label", "label")
    assert load(tmp_path / "m").feature_names_in_.tolist() == [f"x{k}" for k in range(1, 11)]


def test_a_model_is_kept_whatever_the_test_rows_are(data, tmp_path):
    (tmp_path / "bad.svm").write_text("1 1=2\n")
    assert isrht("train", data, tmp_path / "m", "-r", 2, "--test", tmp_path / "bad.svm").exit_code == 2
    assert load(tmp_path / "m").n_components == 2


def test_boosted_columns_say_how_they_were_chosen(data, tmp_path):
    done = isrht("train", data, tmp_path / "m", "-r", 4)
    assert "chosen on held-out rows" in done.stderr
    assert load(tmp_path / "m").selection == "boosted"


def test_the_file_knows_how_its_data_were_read(data, tmp_path):
    isrht("train", data, tmp_path / "m", "-r", 2, "-c", 1)
    known = read_about(tmp_path / "m")
    assert known["index_base"] == 1
    assert known["label_type"] == "number"
    assert known["trained_on"] == {"files": ["rows.svm"], "rows": 120, "features": 10, "nonzeros": known_nnz(data)}
    assert load(tmp_path / "m").C == 1.0


def known_nnz(path):
    return read_rows(path)[2].nnz


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv.gz", "rows.parquet", "rows.npy"])
def test_tables(name, tmp_path):
    pytest.importorskip("pyarrow")
    write_file(tmp_path / name)
    label = "0" if name.endswith("npy") else "label"
    done = isrht("train", tmp_path / name, tmp_path / "m", "-r", 4, "--label", label, "--scale", "minmax")
    assert done.exit_code == 0, done.stderr
    assert load(tmp_path / "m").n_features_in_ == 10


def test_several_files_are_one(tmp_path):
    for part in range(3):
        write_file(tmp_path / f"part-{part}.svm", seed=part)
    pattern = isrht("train", tmp_path / "part-*.svm", tmp_path / "m1", "-r", 2)
    listed = isrht("train", *(tmp_path / f"part-{k}.svm" for k in range(3)), "--out", tmp_path / "m2", "-r", 2)
    assert "360 rows" in pattern.stderr
    assert listed.exit_code == 0
    np.testing.assert_array_equal(load(tmp_path / "m1").coef_, load(tmp_path / "m2").coef_)


@pytest.mark.parametrize("selection", ["supervised", "boosted"])
def test_out_of_core_the_model_is_the_same(selection, tmp_path):
    for part in range(3):
        write_file(tmp_path / f"part-{part}.svm", seed=part, n_features=40)
    common = ("train", tmp_path / "part-*.svm")
    options = ("-r", 4, "--selection", selection)
    inside = isrht(*common, tmp_path / "m1", *options)
    outside = isrht(*common, tmp_path / "m2", *options, "--out-of-core")
    assert inside.exit_code == outside.exit_code == 0, outside.stderr
    one, other = load(tmp_path / "m1"), load(tmp_path / "m2")
    assert one.C_ == other.C_
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-8 * np.abs(one.coef_).max())


def test_on_a_cluster_the_model_is_the_same(tmp_path):
    pytest.importorskip("distributed")
    for part, size in enumerate((50, 120, 90)):
        write_file(tmp_path / f"part-{part}.svm", seed=part, n_samples=size, labels=("no", "yes"))
    common = ("train", tmp_path / "part-*.svm")
    options = ("-r", 4, "--selection", "supervised", "-c", 0.5)  # choosing C there is tested in test_dask_rows
    assert isrht(*common, tmp_path / "m1", *options).exit_code == 0
    done = isrht(*common, tmp_path / "m2", *options, "--local-cluster", 2)
    assert done.exit_code == 0, done.stderr
    assert "260 rows, 10 features (indices from 1)" in done.stderr
    one, other = load(tmp_path / "m1"), load(tmp_path / "m2")
    assert one.C_ == other.C_
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-8 * np.abs(one.coef_).max())


def test_a_scheduler_that_is_not_there(data, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("isrht.rows.dask.cluster.connect.__defaults__", (1.0,))
    done = isrht("train", data, tmp_path / "m", "--scheduler", "tcp://127.0.0.1:9")
    assert done.exit_code == 1
    assert "no Dask scheduler answered at tcp://127.0.0.1:9" in done.stderr


def test_the_model_has_a_name_by_default(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert isrht("train", data, "-r", 2).exit_code == 0
    assert (tmp_path / "rows.svm.isrht").exists()


def test_cross_validation_alone_writes_no_model(data, tmp_path):
    done = isrht("train", data, tmp_path / "m", "-v", 3, "-r", 4)
    assert "Cross Validation Accuracy = " in done.stderr
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("arguments", "C"),
    [
        (["-C", "{}", "{}"], "cv"),
        (["{}", "{}", "-C"], "cv"),
        (["-C", "cv", "{}", "{}"], "cv"),
        (["-C", "-q", "{}", "{}"], "cv"),
        (["-qC", "{}", "{}"], "cv"),
        (["-C", "--", "{}", "{}"], "cv"),
        (["-C", "4", "{}", "{}"], 4.0),
        (["-C4", "{}", "{}"], 4.0),
        (["-C", "1e-3", "{}", "{}"], 1e-3),
        (["-c", "4", "{}", "{}"], 4.0),
    ],
)
def test_big_c_is_a_flag_as_in_liblinear_or_has_a_value(arguments, C, data, tmp_path):
    files = iter([data, tmp_path / "m"])
    given = [next(files) if argument == "{}" else argument for argument in arguments]
    done = isrht("train", "-r", 4, "--selection", "uniform", *given)
    assert done.exit_code == 0, done.stderr
    assert load(tmp_path / "m").C == C


def test_more_features_can_be_asked_for(tmp_path):
    (tmp_path / "wide.svm").write_text("1 1:1\n-1 300:1\n" * 9)
    common = ("train", tmp_path / "wide.svm", tmp_path / "m", "-r", 2, "-c", 1, "--max-features")
    assert "makes more than 299 features" in isrht(*common, 299).stderr
    assert isrht(*common, 300).exit_code == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_devices_and_pipes_are_written_to(data, tmp_path):
    assert "/dev/null: written" in isrht("train", data, "/dev/null", "-r", 2, "-c", 1).stderr
    assert isrht("train", data, tmp_path / "m", "-r", 2, "-c", 1, "-j", 1).exit_code == 0
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((tmp_path / "pipe").read_bytes)
        assert isrht("train", data, tmp_path / "pipe", "-r", 2, "-c", 1, "-j", 1).exit_code == 0
    assert read.result(10) == (tmp_path / "m").read_bytes()


def test_bias_as_in_liblinear(data, tmp_path):
    isrht("train", data, tmp_path / "m", "-B", -1, "-r", 4, "--selection", "uniform")
    assert not load(tmp_path / "m").svm_.intercept_.any()


def test_labels_of_text(tmp_path):
    write_file(tmp_path / "rows.svm", labels=("ham", "spam", "egg"))
    assert isrht("train", tmp_path / "rows.svm", tmp_path / "m", "-r", 4).exit_code == 0
    assert load(tmp_path / "m").classes_.tolist() == ["egg", "ham", "spam"]


def test_standard_input(data, tmp_path):
    done = isrht("train", "-", tmp_path / "m", "-r", 2, input=data.read_bytes())
    assert done.exit_code == 0, done.stderr
    assert "120 rows" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere"], 1, "no file nowhere"),
        (["rows.svm", "rows.csv"], 2, "rows.csv is there and is no model of isrht"),
        (["rows.svm", "a", "b"], 2, "which of these 3 files is the model"),
        (["rows.svm", "-c", "much"], 2, "-c must be a number or cv, got 'much'"),
        (["rows.svm", "m", "-C", "0"], 2, "C must be"),
        (["-C"], 2, "Missing argument"),
        (["-C", "cv"], 2, "Missing argument"),
        ([], 2, "Missing argument"),
        (["wide.svm", "m"], 2, "wide.svm, line 1, column 7: the index in '2147483647:1' makes more than 268,435,456"),
        (["wide.svm", "m"], 2, "--max-features"),
        (["empty.svm", "m", "--out-of-core"], 2, "there are no rows in it"),
        (["-", "m", "--out-of-core"], 2, "standard input is a pipe, which can be read only once, but --out-of-core"),
        (
            ["rows.svm", "--selection", "best"],
            2,
            "'top', 'supervised', 'boosted', got 'best'",
        ),
        (["rows.svm", "m", "--test", "nowhere"], 1, "no file nowhere"),
        (["rows.svm", "--scale", "log"], 2, "scale must be one of"),
        (["rows.svm", "--index-base", "2"], 2, "--index-base must be auto, 0 or 1"),
        (["rows.svm", "--format", "xls"], 2, "unknown format 'xls'"),
        (["rows.svm", "nowhere/m"], 2, "its folder is not there"),
        (["rows.csv", "m"], 2, "there are no labels to learn from"),
        (["rows.csv", "m", "--label", "class"], 2, "there is no column 'class'"),
        (["bad.svm", "m"], 2, "bad.svm, line 2, column"),
        (["one.svm", "m"], 2, "class"),
        (["empty.svm", "m"], 2, "there are no rows in it"),
        (["-"], 2, "gives the model no name"),
        (["rows.svm", "-v", "3", "--out-of-core"], 2, "leave out --out-of-core"),
        (["rows.svm", "--out-of-core", "--local-cluster", "2"], 2, "choose one of"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(arguments, code, message, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "rows.csv")
    (tmp_path / "bad.svm").write_text("1 1:1\n-1 2=3\n")
    (tmp_path / "one.svm").write_text("1 1:1\n1 2:3\n" * 9)
    (tmp_path / "empty.svm").write_text("")
    (tmp_path / "wide.svm").write_text("1 1:1 2147483647:1\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = isrht("train", *arguments)
    assert done.exit_code == code
    assert message in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before
