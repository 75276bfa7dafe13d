"""Fits on rows in Spark: with a stand-in for it everywhere, and in Spark itself where it is installed."""

import gc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from spark_here import Frame, data, pa, tables

from isrht import ISRHTClassifier, LinearSVMCV
from isrht.rows.spark import spark_rows

MODELS = {
    "supervised, C chosen": ISRHTClassifier(8, selection="supervised", random_state=0, Cs=[0.1, 1], cv=2),
    "boosted, C and rounds chosen": ISRHTClassifier(2, random_state=0),
    "svm": LinearSVMCV([0.1, 1], cv=3),
}


def assert_same_model(got, expected):
    assert got.C_ == expected.C_
    assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-8 * np.abs(expected.coef_).max())
    assert_allclose(got.intercept_, expected.intercept_, rtol=0, atol=1e-8)
    assert_array_equal(got.classes_, expected.classes_)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["columns", "lists", "sparse"])
def test_partitions_give_the_model_of_all_rows(rng, name, kind):
    X, y = data(rng)
    expected = clone(MODELS[name]).fit(sp.csr_array(X) if kind == "sparse" else X, y)
    rows = spark_rows(Frame(tables(X, y, kind)))
    assert_same_model(clone(MODELS[name]).fit(rows), expected)


@pytest.mark.parametrize("name", MODELS)
def test_weights_are_a_column(rng, name):
    X, y = data(rng)
    weights = rng.integers(1, 4, len(y)).astype(float)
    expected = clone(MODELS[name]).fit(X, y, sample_weight=weights)
    rows = spark_rows(Frame(tables(X, y, "columns", views=weights)), weight="views")
    assert rows.shape == X.shape
    assert_same_model(clone(MODELS[name]).fit(rows, sample_weight=rows.sample_weight), expected)


def test_no_weight_and_predictions(rng):
    X, y = data(rng)
    rows = spark_rows(Frame(tables(X, y, "lists")))
    assert rows.sample_weight is None
    model = LinearSVMCV([1.0], cv=2).fit(X, y)
    assert_array_equal(model.predict(rows), model.predict(X))


def test_names_of_columns_are_names_of_features(rng):
    X, y = data(rng)
    model = LinearSVMCV([1.0], cv=2).fit(spark_rows(Frame(tables(X, y, "columns"))))
    assert_array_equal(model.feature_names_in_, [f"f{number}" for number in range(40)])


def test_sparse_rows_are_as_wide_as_the_widest_partition(rng):
    X, y = data(rng)
    X[:, 30:] = 0
    X[260, 37] = 1.0
    assert spark_rows(Frame(tables(X, y, "sparse"))).shape == (300, 38)
    assert spark_rows(Frame(tables(X, y, "sparse")), n_features=40).shape == (300, 40)


def test_nothing_stays_on_the_disks_of_executors(rng, tmp_path, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    rows, others = (spark_rows(Frame(tables(*data(rng), "lists"))) for _ in range(2))
    at_first = len(list(tmp_path.rglob("*-*-*")))
    ISRHTClassifier(2, random_state=0).fit(rows)
    gc.collect()
    rows.workers.gather("rows", len, rows.kept[0])
    assert len(list(tmp_path.rglob("*-*-*"))) <= at_first
    del rows
    gc.collect()
    others.workers.gather("rows", len, others.kept[0])
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: X.__setitem__((200, 3), np.nan), "^block 2: Input contains NaN"),
        (lambda X, y: y.__setitem__(130, None), "^block 2: column 'label' has a null"),
    ],
)
def test_bad_rows_are_named_by_their_partition(rng, change, message):
    X, y = data(rng)
    y = y.astype(object)
    change(X, y)
    with pytest.raises(ValueError, match=message):
        spark_rows(Frame(tables(X, y, "columns")))


def test_lists_of_different_lengths_are_named_by_their_partition(rng):
    X, y = data(rng)
    parts = tables(X, y, "lists")
    short = pa.array([row.tolist()[:-1] for row in X[120:250]], pa.list_(pa.float64()))
    parts[2] = parts[2].set_column(0, "features", short)
    with pytest.raises(ValueError, match="block 2: it has 39 features, but the blocks before have 40"):
        spark_rows(Frame(parts))


def test_columns_that_are_not_there(rng):
    frame = Frame(tables(*data(rng), "lists"))
    with pytest.raises(ValueError, match="no column 'click'; it has 'features', 'label'"):
        spark_rows(frame, "click")
    with pytest.raises(ValueError, match="no column 'views'"):
        spark_rows(frame, weight="views")


def test_a_frame_without_rows(rng):
    X, y = data(rng)
    with pytest.raises(ValueError, match="X has no rows"):
        spark_rows(Frame([table.slice(0, 0) for table in tables(X, y, "lists")]))


# In Spark itself.


def in_spark(session, X, y, kind, weights):
    """Return a data frame whose rows keep their order, in as many partitions as the session is set to."""
    (table,) = tables(X, y, kind, cuts=(), views=weights)
    return session.createDataFrame(table)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["columns", "sparse"])
def test_spark_gives_the_model_of_all_rows(session, rng, name, kind):
    X, y = data(rng)
    weights = rng.integers(1, 4, len(y)).astype(float)
    expected = clone(MODELS[name]).fit(sp.csr_array(X) if kind == "sparse" else X, y, sample_weight=weights)
    rows = spark_rows(in_spark(session, X, y, kind, weights), weight="views")
    assert rows.workers.pieces == [[0], [1], [2]]
    assert_same_model(clone(MODELS[name]).fit(rows, sample_weight=rows.sample_weight), expected)


def test_spark_names_the_partition_of_a_bad_row(session, rng):
    X, y = data(rng)
    X[150, 3] = np.inf
    with pytest.raises(ValueError, match="^block 1: Input contains infinity"):
        spark_rows(in_spark(session, X, y, "columns", np.ones(len(y))), weight="views")


def test_sparse_vectors_of_spark(session, rng):
    linalg = pytest.importorskip("pyspark.ml.linalg")
    X, y = data(rng, 60)
    rows = sp.csr_array(X)
    vectors = [
        (linalg.Vectors.sparse(40, rows.indices[a:b].tolist(), rows.data[a:b].tolist()), str(label))
        for a, b, label in zip(rows.indptr[:-1], rows.indptr[1:], y, strict=True)
    ]
    frame = session.createDataFrame(vectors, ["features", "label"]).coalesce(1)
    model = LinearSVMCV([0.1, 1], cv=3)
    assert_same_model(clone(model).fit(spark_rows(frame)), clone(model).fit(rows, y))
