"""The door for rows that are not in memory."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from source_data import Blocks, N, assert_same_model, dense, single, sparse, three_classes

from isrht import ISRHT, BoostedISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV, RowSource
from isrht.files import write_rows
from isrht.rows import sources
from isrht.rows._local import StoredRows
from isrht.rows.entry import as_rows, fitted_rows, rows_to_fit, stored, validate_rows
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


class OneBuffer:
    """Blocks that all have the same memory, which is filled anew for each of them."""

    def __init__(self, X, y):
        self.X, self.y = X, y

    def __iter__(self):
        buffer = np.empty_like(self.X[:100])
        for start in range(0, len(self.X), 100):
            buffer[:] = self.X[start : start + 100]
            yield buffer, self.y[start : start + 100]


def in_a_file(X, y, path):
    write_rows(path, X, y)
    return path


SMALL = {
    "blocks": (dense, lambda X, y, path: Blocks(X, y)),
    "one buffer": (single, lambda X, y, path: OneBuffer(X, y)),
    "a file": (sparse, lambda X, y, path: in_a_file(X, y, path.with_suffix(".svm.gz"))),
    "a table": (three_classes, lambda X, y, path: in_a_file(X, y, path.with_suffix(".parquet"))),
}
MODELS = [
    ISRHTClassifier(16, random_state=0),
    ISRHTClassifier(16, selection="supervised", scale="maxabs", random_state=0),
    LinearSVM(),
    LinearSVMCV(),
]


@pytest.mark.parametrize("given", SMALL)
@pytest.mark.parametrize("model", MODELS, ids=["boosted", "supervised", "svm", "search"])
def test_few_rows_give_the_bits_of_a_fit_in_memory(given, model, held, rng, tmp_path):
    make, source_of = SMALL[given]
    X, y = make(rng)
    y = y.astype(float) if given == "a file" else y
    source = RowSource(source_of(X, y, tmp_path / "rows"), label="label" if given == "a table" else None)
    got, expected = clone(model).fit(source), clone(model).fit(X, y)
    assert_array_equal(got.coef_, expected.coef_)
    assert_array_equal(got.intercept_, expected.intercept_)
    assert_array_equal(got.classes_, expected.classes_)
    assert_array_equal(got.predict(source), expected.predict(X))


@pytest.mark.parametrize(
    "model", [ISRHT(16, random_state=0), BoostedISRHT(16, random_state=0)], ids=["isrht", "boosted"]
)
def test_few_rows_with_weights_and_labels_apart(model, held, rng):
    X, y = three_classes(rng)
    weights = rng.uniform(size=N)
    got = clone(model).fit(RowSource(Blocks(X)), y, sample_weight=weights)
    assert_array_equal(got.transform(X), clone(model).fit(X, y, sample_weight=weights).transform(X))


def test_a_small_memory_map_is_held_without_a_copy(held, rng, tmp_path):
    X, y = dense(rng)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    rows, labels = rows_to_fit(LinearSVM(), as_rows(mapped), y)
    assert type(rows) is np.ndarray
    assert np.shares_memory(rows, mapped)
    assert type(labels.codes) is np.ndarray


def test_held_rows_are_read_twice_at_most(held, rng):
    X, y = dense(rng)
    passes = []
    LinearSVMCV().fit(RowSource(Blocks(X, y), progress=lambda number, *_: passes.append(number)))
    assert set(passes) == {1, 2}


@pytest.mark.parametrize("cache", ["auto", 10**6, 10**9, 100, 0, None])
def test_what_is_held_has_a_bound(cache, rng, monkeypatch):
    monkeypatch.setattr(sources, "HELD_BYTES", 10**6)
    rows_of_100_features = 10**6 // (8 * 100 + sources.BYTES_OF_A_ROW)
    fits, too_many = (RowSource(np.ones((rows_of_100_features + more, 100)), cache=cache) for more in (0, 1))
    assert (fits.held() is not None) == (cache in ("auto", 10**6, 10**9))
    assert too_many.held() is None


def test_many_rows_are_not_held(held, rng):
    X, y = dense(rng)
    assert RowSource(np.broadcast_to(X[0], (10**6, X.shape[1]))).held() is None
    assert RowSource(Blocks(X, y)).held() is not None


def test_a_faulty_row_is_named_by_its_block_though_rows_are_held(held, rng):
    X, y = dense(rng)
    X[400, 3] = np.nan
    with pytest.raises(ValueError, match="block 2 .*: Input contains NaN"):
        LinearSVM().fit(RowSource(Blocks(X, y)))
