"""``isrht train`` on a Dask cluster."""

from contextlib import nullcontext

import numpy as np
import pytest

pytest.importorskip("typer")

from cli_data import isrht, write_file

from isrht import load
from isrht.cli import _cluster
from isrht.cli._cluster import rows_on_workers
from isrht.files import FileError


@pytest.fixture
def one_thread():
    """Let Dask work in this thread, without a cluster."""
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        yield


def test_on_a_cluster_the_model_is_the_same(tmp_path):
    pytest.importorskip("distributed")
    for part, size in enumerate((50, 120, 90)):
        write_file(tmp_path / f"part-{part}.svm", seed=part, n_samples=size, labels=("no", "yes"))
    common = ("train", tmp_path / "part-*.svm")
    options = ("-r", 4, "--selection", "supervised", "-c", 0.5)  # choosing C there is tested in tests/rows/dask
    assert isrht(*common, tmp_path / "m1", *options).exit_code == 0
    done = isrht(*common, tmp_path / "m2", *options, "--local-cluster", 2)
    assert done.exit_code == 0, done.stderr
    assert "260 rows, 10 features (indices from 1)" in done.stderr
    one, other = load(tmp_path / "m1"), load(tmp_path / "m2")
    assert one.C_ == other.C_
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-8 * np.abs(one.coef_).max())


def test_workers_know_the_columns_that_folders_tell(tmp_path, one_thread):
    pytest.importorskip("pyarrow")
    for day in (1, 2):
        folder = tmp_path / "run=3" / f"day={day}"
        folder.mkdir(parents=True)
        write_file(folder / "rows.parquet", seed=day)
    X, _, facts = rows_on_workers([str(tmp_path / "run=3")], {"label": "label"})
    assert facts.n_features == 11
    assert list(X.header) == [*(f"x{k}" for k in range(1, 11)), "day"]


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.npy"])
def test_the_names_of_columns_are_those_of_a_fit_in_memory(name, tmp_path, one_thread, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(_cluster, "cluster", lambda *_: nullcontext())
    write_file(tmp_path / name)
    options = ("-r", 4, "--selection", "supervised", "-c", 0.5, "--label", "0" if name == "a.npy" else "label")
    for model, where in (("m1", ()), ("m2", ("--local-cluster", 1))):
        done = isrht("train", tmp_path / name, tmp_path / model, *options, *where)
        assert done.exit_code == 0, done.stderr
    one, other = load(tmp_path / "m1"), load(tmp_path / "m2")
    names = [getattr(model, "feature_names_in_", np.array(None)).tolist() for model in (one, other)]
    assert names == [None if name == "a.npy" else [f"x{k}" for k in range(1, 11)]] * 2
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-8 * np.abs(one.coef_).max())


def test_files_whose_columns_differ_are_named(tmp_path, one_thread):
    pytest.importorskip("pandas")
    texts = {"a": "p,q,y\n1,2,0\n", "b": "p,q,y\n", "c": "p,q,y\n3,4,1\n", "d": "q,p,y\n1,2,0\n", "e": "1,2,0\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text)
    X, y, facts = rows_on_workers([str(tmp_path / "[abc].csv")], {"label": "-1"})
    assert (X.shape, list(X.header), facts.n_samples) == ((2, 2), ["p", "q"], 2)
    assert [labels.compute().tolist() for labels in y] == [[0], [1]]
    for others, problem in (
        ("cd", "d.csv: its columns are not those of .*c.csv: their order is another"),
        ("ae", "e.csv: its columns are not those of .*a.csv: it lacks 'p'"),
    ):
        with pytest.raises(FileError, match=problem):
            rows_on_workers([str(tmp_path / f"[{others}].csv")], {"label": "-1"})


def test_a_scheduler_that_is_not_there(data, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("isrht.rows.dask.cluster.connect.__defaults__", (1.0,))
    done = isrht("train", data, tmp_path / "m", "--scheduler", "tcp://127.0.0.1:9")
    assert done.exit_code == 1
    assert "no Dask scheduler answered at tcp://127.0.0.1:9" in done.stderr


def test_a_scheduler_that_is_there(data, tmp_path):
    distributed = pytest.importorskip("distributed")
    options = ("-r", 4, "--selection", "supervised", "-c", 0.5)
    assert isrht("train", data, tmp_path / "m1", *options).exit_code == 0
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=None
    ) as cluster:
        done = isrht("train", data, tmp_path / "m2", *options, "--scheduler", cluster.scheduler_address)
    assert done.exit_code == 0, done.stderr
    one, other = load(tmp_path / "m1"), load(tmp_path / "m2")
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-8 * np.abs(one.coef_).max())
