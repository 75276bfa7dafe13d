import numpy as np
import pytest

pytest.importorskip("typer")

from cli_data import isrht, labelled_rows, write_file

from isrht import ISRHT, LinearSVM, load, save
from isrht.files.opening import read_rows


@pytest.fixture
def model(tmp_path):
    write_file(tmp_path / "train.svm")
    isrht("train", tmp_path / "train.svm", tmp_path / "model", "-r", 3, "-q")
    return tmp_path / "model"


@pytest.mark.parametrize("name", ["z.svm", "z.csv", "z.tsv.xz", "z.npy", "z.parquet"])
def test_the_columns_in_every_format(name, model, tmp_path):
    pytest.importorskip("pyarrow")
    done = isrht("transform", tmp_path / "train.svm", model, tmp_path / name)
    assert done.exit_code == 0, done.stderr
    assert "120 rows of 3 columns" in done.stderr
    label = {} if "svm" in name else {"label": 0 if "npy" in name else "label"}
    Z, y, _ = read_rows(tmp_path / name, **label)
    X, expected = labelled_rows(0)
    np.testing.assert_allclose(Z.toarray() if "svm" in name else Z, load(model).transform(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(y, expected)


def test_a_projection_alone(tmp_path):
    X, y = write_file(tmp_path / "rows.svm")
    save(ISRHT(2, random_state=0).fit(X, y), tmp_path / "p")
    assert isrht("transform", tmp_path / "rows.svm", tmp_path / "p", tmp_path / "z.csv").exit_code == 0


def test_what_makes_no_columns(tmp_path):
    X, y = write_file(tmp_path / "rows.svm")
    save(LinearSVM().fit(X, y), tmp_path / "svm")
    done = isrht("transform", tmp_path / "rows.svm", tmp_path / "svm", tmp_path / "z.csv")
    assert done.exit_code == 2
    assert "holds a LinearSVM, which makes no columns" in done.stderr
    assert not (tmp_path / "z.csv").exists()


def test_unseen_features_are_left_out_and_said(model, tmp_path):
    (tmp_path / "other.svm").write_text("1 1:3 11:5 12:1\n1 1:3\n")
    done = isrht("transform", tmp_path / "other.svm", model, tmp_path / "z.npy")
    assert "2 values of features past the model's 10 were left out" in done.stderr.splitlines()
    first, same = np.load(tmp_path / "z.npy")
    np.testing.assert_array_equal(first, same)
    assert isrht("transform", tmp_path / "other.svm", model, tmp_path / "z.npy", "-q").stderr == ""
