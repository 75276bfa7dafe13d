"""The door for rows that are not in memory."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from source_data import Blocks, N, assert_same_model, dense

from isrht import ISRHT, ISRHTClassifier, LinearSVM, RowSource
from isrht.rows._local import StoredRows
from isrht.rows.entry import as_rows, fitted_rows, stored, validate_rows
from isrht.rows.labels import CodedLabels


@pytest.mark.parametrize(
    "X",
    [np.ones((3, 2)), sp.csr_array(np.ones((3, 2))), [[1.0]], [], None, "X", pd.DataFrame({"a": [1.0]})],
    ids=["array", "csr", "list", "empty", "None", "text", "frame"],
)
def test_rows_in_memory_are_left_to_scikit_learn(X):
    assert as_rows(X) is None


def test_rows_elsewhere_are_checked_for_a_fitted_estimator():
    svm, source = LinearSVM(), RowSource(np.ones((3, 2)))
    assert fitted_rows(svm, np.ones((3, 2))) is None
    with pytest.raises(NotFittedError):
        fitted_rows(svm, source)
    svm.fit(np.eye(2), [0, 1])
    assert fitted_rows(svm, source) is source
    with pytest.raises(ValueError, match="X has 5 features, but LinearSVM is expecting 2"):
        fitted_rows(svm, RowSource(np.ones((3, 5))))


def test_rows_elsewhere_stay_as_they_are():
    source = RowSource(np.ones((3, 2)))
    assert as_rows(source) is source


def test_a_memory_map_of_rows_becomes_a_source(tmp_path):
    mapped = np.memmap(tmp_path / "rows", dtype=float, mode="w+", shape=(3, 2))
    assert isinstance(as_rows(mapped), RowSource)
    assert as_rows(mapped[0]) is None
    assert as_rows(mapped[:0]) is None


def test_features_are_set_and_then_compared():
    model, rows = ISRHT(2), RowSource(np.ones((3, 2)))
    assert validate_rows(model, rows, needs_labels=False) is None
    assert model.n_features_in_ == 2
    with pytest.raises(ValueError, match="X has 5 features, but ISRHT is expecting 2 features"):
        validate_rows(model, RowSource(np.ones((3, 5))), needs_labels=False, reset=False)


def test_labels_are_coded_once():
    rows, y = RowSource(np.ones((4, 2))), np.array(["b", "a", "b", "b"])
    labels = validate_rows(ISRHT(2), rows, y)
    assert isinstance(labels, CodedLabels)
    assert_array_equal(labels.classes, ["a", "b"])
    assert_array_equal(labels.values(), y)
    assert validate_rows(ISRHT(2), rows, labels) is labels


@pytest.mark.parametrize("error", [None, KeyError])
def test_stored_rows_are_closed_at_the_end(error, rng):
    kept = []
    try:
        with stored(RowSource(rng.standard_normal((30, 4))), [(np.negative, 4)]) as rows:
            kept += rows
            if error is not None:
                raise error
    except KeyError:
        pass
    (one,) = kept
    assert isinstance(one, StoredRows)
    assert one._file.closed


def test_labels_in_dask_need_rows_in_dask():
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="y is in Dask, but the rows are not"):
        LinearSVM().fit(RowSource(np.ones((4, 2))), da.zeros(4))


def test_importing_isrht_imports_no_dask():
    code = "import isrht, sys; isrht.ISRHTClassifier, isrht.RowSource; assert 'dask' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_a_memory_map_is_read_by_blocks(dtype, rng, tmp_path, monkeypatch):
    X, y = dense(rng)
    X = (10 * X).astype(dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = ISRHTClassifier(16, selection="supervised", scale="minmax", random_state=0).fit(X, y)
    rows = []
    monkeypatch.setattr(
        RowSource, "_converted", lambda self, X, f=RowSource._converted: rows.append(len(X)) or f(self, X)
    )
    monkeypatch.setattr("isrht.rows.blocks.BLOCK_ELEMENTS", 2**14)
    monkeypatch.setattr("isrht.rows.blocks.READ_ELEMENTS", 2**15)
    got = ISRHTClassifier(16, selection="supervised", scale="minmax", random_state=0).fit(mapped, y)
    assert_same_model(got, expected, X)
    assert_array_equal(got.predict(mapped), expected.predict(X))
    assert 0 < max(rows) <= 2**15 // 90


def test_labels_may_come_with_the_rows_or_apart(rng):
    X, y = dense(rng)
    with_labels, without = RowSource(Blocks(X, y)), RowSource(Blocks(X))
    assert_array_equal(with_labels.labels, y)
    assert without.labels is None
    apart, together = LinearSVM().fit(without, y), LinearSVM().fit(with_labels)
    assert_array_equal(apart.coef_, together.coef_)
    with pytest.raises(ValueError, match="LinearSVM requires y to be passed, but the target y is None and the source"):
        LinearSVM().fit(without)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LinearSVM().fit(without, y[:-1])
    with pytest.raises(ValueError, match="needs at least two classes"):
        LinearSVM().fit(without, np.zeros(N))
