"""The example that trains in Spark, from Parquet files to a model file: its ``main`` in Spark where it is installed."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from spark_here import Frame, data, pa, tables

from isrht import ISRHTClassifier, load

pq = pytest.importorskip("pyarrow.parquet")
EXAMPLE = Path(__file__).parents[2] / "examples" / "spark_rows.py"


@pytest.fixture
def parquet_files(tmp_path, rng):
    """Two Parquet files, one of them without rows; X, y; and where a model may go."""
    X, y = data(rng)
    (table,) = tables(X, y, "lists", cuts=())
    table = table.append_column("id", pa.array(range(len(y))))
    paths = [str(tmp_path / name) for name in ("rows.parquet", "none.parquet")]
    for path, n_rows in zip(paths, (300, 0), strict=True):
        pq.write_table(table.slice(0, n_rows), path)
    return paths, X, y, str(tmp_path / "model.isrht")


def assert_same(got, expected):
    assert got.C_ == expected.C_
    assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-8 * np.abs(expected.coef_).max())


def test_train_is_a_fit(rng):
    spec = importlib.util.spec_from_file_location("spark_rows_example", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    X, y = data(rng)
    weights = rng.integers(1, 4, len(y)).astype(float)
    frame = Frame(tables(X, y, "columns", views=weights))
    got = example.train(frame, weight="views", n_components=2, random_state=0)
    assert_same(got, ISRHTClassifier(2, random_state=0).fit(X, y, sample_weight=weights))


def test_main_without_spark_says_what_is_missing(parquet_files):
    paths, _, _, target = parquet_files
    script = f"import sys, runpy; sys.modules['pyspark'] = None; runpy.run_path({str(EXAMPLE)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", script, *paths, target], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install pyspark" in done.stderr


def test_main_in_spark_itself(parquet_files, monkeypatch):
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java, which is not installed")
    paths, X, y, target = parquet_files
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    options = ["-r", "2", "--features", "features"]
    subprocess.run([sys.executable, EXAMPLE, *paths, target, *options], check=True)
    assert_same(load(target), ISRHTClassifier(2, random_state=0).fit(X, y))
