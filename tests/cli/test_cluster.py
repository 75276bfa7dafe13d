"""``isrht train`` on a Dask cluster."""

import numpy as np
import pytest

pytest.importorskip("typer")

from cli_data import isrht, write_file

from isrht import load
from isrht.cli._cluster import rows_on_workers


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
    *_, facts = rows_on_workers([str(tmp_path / "run=3")], {"label": "label"})
    assert facts.n_features == 11


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
