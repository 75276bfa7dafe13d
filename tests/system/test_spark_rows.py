"""Training on rows in Spark: with what Spark gives to executors, and in Spark itself where it is installed."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone

from isrht import ISRHTClassifier, LinearSVMCV, load

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
cloudpickle = pytest.importorskip("cloudpickle")
EXAMPLE = Path(__file__).parents[2] / "examples" / "spark_rows.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("spark_rows", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["spark_rows"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["spark_rows"]


@pytest.fixture
def data(rng):
    X = rng.standard_normal((300, 40)) + 0.2
    return X, np.array(["no", "yes"])[(X[:, :4].sum(axis=1) + rng.standard_normal(300) > 0).astype(int)]


class Partitions:
    """What the example asks of an RDD; a list for each partition, and functions travel."""

    def __init__(self, partitions):
        self.partitions = partitions

    def __reduce__(self):
        raise TypeError("an RDD does not travel")

    def map(self, function):
        function = cloudpickle.loads(cloudpickle.dumps(function))
        return Partitions([[function(one) for one in part] for part in self.partitions])

    def zip(self, other):
        pairs = zip(self.partitions, other.partitions, strict=True)
        return Partitions([list(zip(mine, its, strict=True)) for mine, its in pairs])

    def mapPartitionsWithIndex(self, function):
        return Partitions([list(function(number, iter(part))) for number, part in enumerate(self.partitions)])

    def persist(self):
        return self

    def count(self):
        return sum(map(len, self.partitions))

    def collect(self):
        return [one for part in self.partitions for one in part]

    def getNumPartitions(self):
        return len(self.partitions)


class Context:
    def __reduce__(self):
        raise TypeError("a context does not travel")

    def parallelize(self, values, count):
        assert len(values) == count
        return Partitions([[value] for value in values])

    def setJobDescription(self, text):
        assert text.startswith("isrht: ")


class Frame:
    """What the example asks of a Spark data frame."""

    sparkSession = SimpleNamespace(sparkContext=Context())

    def __init__(self, tables):
        self.tables = tables

    def mapInArrow(self, function, schema):
        assert schema == "part binary"
        rows = [
            [SimpleNamespace(**row) for batch in function(iter(table.to_batches(50))) for row in batch.to_pylist()]
            for table in self.tables
        ]
        return SimpleNamespace(rdd=Partitions(rows))


def tables(X, y, cuts=(120, 120, 250)):
    """Partitions of uneven size, one of them empty."""
    sparse, features = sp.csr_array(X), []
    for i in range(len(y)):
        row = slice(sparse.indptr[i], sparse.indptr[i + 1])
        features.append({"indices": sparse.indices[row].tolist(), "values": sparse.data[row].tolist()})
    kinds = {"dense": [row.tolist() for row in X], "sparse": features}
    ends = list(zip((0, *cuts), (*cuts, len(y)), strict=True))
    types = {
        "dense": pa.list_(pa.float64()),
        "sparse": pa.struct({"indices": pa.list_(pa.int32()), "values": pa.list_(pa.float64())}),
    }
    return {
        kind: [pa.table({"features": pa.array(rows[a:b], types[kind]), "label": y[a:b]}) for a, b in ends]
        for kind, rows in kinds.items()
    }


MODELS = {
    "supervised": ISRHTClassifier(8, selection="supervised", random_state=0, Cs=[0.1, 1], cv=2),
    "boosted": ISRHTClassifier(2, selection="boosted", random_state=0),
    "svm": LinearSVMCV([0.1, 1], cv=3),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_partitions_give_the_model_of_all_rows(example, data, name, kind):
    X, y = data
    X = np.where(np.abs(X) > 0.5, X, 0)
    expected = clone(MODELS[name]).fit(X if kind == "dense" else sp.csr_array(X), y)
    got = clone(MODELS[name]).fit(example.spark_rows(Frame(tables(X, y)[kind]), n_features=40))
    assert got.C_ == expected.C_
    assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-8 * np.abs(expected.coef_).max())


@pytest.fixture
def parquet_files(tmp_path, data):
    """Two Parquet files, one of them without rows; X, y; and where a model may go."""
    X, y = data
    paths = [str(tmp_path / name) for name in ("rows.parquet", "none.parquet")]
    for path, n_rows in zip(paths, (300, 0), strict=True):
        features = pa.array([row.tolist() for row in X[:n_rows]], pa.list_(pa.float64()))
        pq.write_table(pa.table({"id": range(n_rows), "features": features, "label": pa.array(y[:n_rows])}), path)
    return paths, X, y, str(tmp_path / "model.isrht")


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
    subprocess.run([sys.executable, EXAMPLE, *paths, target, "-r", "8", "-C", "0.5"], check=True)
    expected = ISRHTClassifier(8, selection="supervised", C=0.5, random_state=0).fit(X, y)
    got = load(target)
    assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-8 * np.abs(expected.coef_).max())
