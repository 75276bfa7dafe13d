"""The rows that ``isrht train`` reads: of every format, in memory or out of core."""

import numpy as np
import pytest

pytest.importorskip("typer")

from cli_data import isrht, write_file

from isrht import load
from isrht.cli._training_rows import Place, show_pass


@pytest.mark.parametrize("out_of_core", [[], ["--out-of-core"]])
def test_the_names_of_columns_are_kept(out_of_core, tmp_path):
    write_file(tmp_path / "rows.csv")
    isrht("train", tmp_path / "rows.csv", tmp_path / "m", "-r", 4, "--label", "label", *out_of_core)
    assert load(tmp_path / "m").feature_names_in_.tolist() == [f"x{k}" for k in range(1, 11)]
    lines = [line.split(",") for line in (tmp_path / "rows.csv").read_text().splitlines()]
    (tmp_path / "turned.csv").write_text("".join(",".join(line[::-1]) + "\n" for line in lines))
    done = isrht("predict", tmp_path / "turned.csv", tmp_path / "m", tmp_path / "out", "--label", "label")
    assert done.exit_code != 0
    assert "feature names should match" in done.stderr


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


def test_more_features_can_be_asked_for(tmp_path):
    (tmp_path / "wide.svm").write_text("1 1:1\n-1 300:1\n" * 9)
    common = ("train", tmp_path / "wide.svm", tmp_path / "m", "-r", 2, "-c", 1, "--max-features")
    assert "makes more than 299 features" in isrht(*common, 299).stderr
    assert isrht(*common, 300).exit_code == 0


def test_labels_of_text(tmp_path):
    write_file(tmp_path / "rows.svm", labels=("ham", "spam", "egg"))
    assert isrht("train", tmp_path / "rows.svm", tmp_path / "m", "-r", 4).exit_code == 0
    assert load(tmp_path / "m").classes_.tolist() == ["egg", "ham", "spam"]


def test_standard_input(data, tmp_path):
    done = isrht("train", "-", tmp_path / "m", "-r", 2, input=data.read_bytes())
    assert done.exit_code == 0, done.stderr
    assert "120 rows" in done.stderr


def test_rows_are_in_one_place_and_in_memory_for_folds():
    Place().check(folds=5)
    Place(out_of_core=True).check(folds=None)
    with pytest.raises(ValueError, match="choose one of --out-of-core and --local-cluster"):
        Place(out_of_core=True, local_cluster=2).check(folds=None)
    with pytest.raises(ValueError, match="leave out --scheduler"):
        Place(scheduler="tcp://there:1").check(folds=3)


def test_a_pass_is_shown_on_a_terminal_only(capsys, monkeypatch):
    show_pass(1, 10, 20)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    show_pass(2, 10, 20)
    show_pass(2, 20, 20)
    show_pass(3, 1000, None)
    assert capsys.readouterr().err == "pass 2: 10 of 20 rows\rpass 2: 20 of 20 rows\npass 3: 1,000 rows\r"
