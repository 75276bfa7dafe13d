import importlib.util
import pickle
import subprocess
import sys
from functools import reduce
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from numpy.testing import assert_array_equal

from isrht import ISRHT, load

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
EXAMPLE = Path(__file__).parents[2] / "examples" / "spark_statistics.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("spark_statistics", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def batches(X, y, sizes):
    """What Spark gives to an executor."""
    start = 0
    for size in sizes:
        features, labels = list(X[start : start + size]), y[start : start + size]
        yield pa.RecordBatch.from_pydict({"features": features, "label": labels})
        start += size


def test_partitions_merge_to_the_model_of_all_rows(example, rng):
    X, y = rng.standard_normal((300, 40)), rng.integers(0, 3, 300)
    partitions = [batches(X[:120], y[:120], [50, 0, 70]), batches(X[:0], y[:0], [0]), batches(X[120:], y[120:], [180])]
    found = [batch for partition in partitions for batch in example.measure_partition(partition)]
    assert len(found) == 2
    parts = [pickle.loads(batch.column("model")[0].as_py()) for batch in found]
    expected = ISRHT(16, random_state=0).fit(X, y)
    model = reduce(example.merge, parts)
    assert_array_equal(model.selected_columns_, expected.selected_columns_)
    assert_array_equal(model.transform(X), expected.transform(X))


class Frame:
    """What the example asks of a Spark data frame, with one partition per file."""

    def __init__(self, files):
        self.files = files

    def select(self, *columns):
        self.columns = list(columns)
        return self

    def mapInArrow(self, function, schema):
        assert schema == "model binary"
        partitions = [pq.read_table(file, columns=self.columns).to_batches() for file in self.files]
        rows = [row for batches in partitions for batch in function(batches) for row in batch.to_pylist()]
        return SimpleNamespace(collect=lambda: [SimpleNamespace(**row) for row in rows])


class Session:
    """What the example asks of a Spark session; it has to be stopped."""

    stopped = False

    def __init__(self):
        self.builder = self.read = self

    def appName(self, name):
        return self

    def getOrCreate(self):
        return self

    def parquet(self, *files):
        return Frame(files)

    def stop(self):
        self.stopped = True


@pytest.fixture
def parquet_files(tmp_path, rng):
    """Two Parquet files, one of them without rows; X, y; and where a model may go."""
    X, y = rng.standard_normal((90, 40)), rng.integers(0, 3, 90)
    paths = [str(tmp_path / name) for name in ("rows.parquet", "none.parquet")]
    for path, n_rows in zip(paths, (90, 0), strict=True):
        features = pa.array(list(X[:n_rows]), pa.list_(pa.float64()))
        pq.write_table(pa.table({"id": range(n_rows), "features": features, "label": y[:n_rows]}), path)
    return paths, X, y, str(tmp_path / "model.isrht")


def test_main_writes_a_model(example, parquet_files, monkeypatch, capsys):
    paths, X, y, target = parquet_files
    sql, session = ModuleType("pyspark.sql"), Session()
    sql.SparkSession = session
    monkeypatch.setitem(sys.modules, "pyspark", ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.sql", sql)
    example.main([*paths, target, "--columns", "8"])
    expected = ISRHT(8, random_state=0).fit(X, y)
    assert_array_equal(load(target).transform(X), expected.transform(X))
    assert str(expected.selected_columns_[0]) in capsys.readouterr().out
    assert session.stopped
    with pytest.raises(ValueError, match="no rows"):
        example.main([paths[1], target])


def test_main_without_spark_says_what_is_missing(parquet_files):
    paths, _, _, target = parquet_files
    script = f"import sys, runpy; sys.modules['pyspark'] = None; runpy.run_path({str(EXAMPLE)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", script, *paths, target], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install pyspark" in done.stderr


def test_main_in_spark_itself(parquet_files, monkeypatch):
    pytest.importorskip("pyspark")
    paths, X, y, target = parquet_files
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    subprocess.run([sys.executable, EXAMPLE, *paths, target, "-r", "8"], check=True)
    assert_array_equal(load(target).selected_columns_, ISRHT(8, random_state=0).fit(X, y).selected_columns_)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_in_spark_itself(example, rng, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    X, y = rng.standard_normal((300, 40)), rng.integers(0, 3, 300)
    session = sql.SparkSession.builder.master("local[2]").getOrCreate()
    try:
        rows = [(features.tolist(), int(label)) for features, label in zip(X, y, strict=True)]
        frame = session.createDataFrame(rows, "features array<double>, label long").repartition(3)
        expected = ISRHT(16, random_state=0).fit(X, y)
        assert_array_equal(example.fit(frame).selected_columns_, expected.selected_columns_)
    finally:
        session.stop()
