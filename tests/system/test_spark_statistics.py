import importlib.util
import pickle
import sys
from functools import reduce
from pathlib import Path

import pytest
from numpy.testing import assert_array_equal

from isrht import ISRHT

pa = pytest.importorskip("pyarrow")
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
