"""Rows in arrays and tables of other libraries, each tried with the library itself."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from isrht import ISRHTClassifier, RowSource
from isrht.rows import _foreign

N, WIDTH = 600, 12


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(_foreign, "BLOCK_ELEMENTS", 100 * WIDTH)


@pytest.fixture
def rows(rng):
    X = (rng.standard_normal((N, WIDTH)) * (rng.random((N, WIDTH)) < 0.6)).astype(np.float32)
    return X, np.array(["no", "yes"])[(X[:, 0] + X[:, 1] > 0).astype(int)]


def model():
    return ISRHTClassifier(4, selection="supervised", C=1.0, random_state=0)


def assert_same_model(source, rows, y=None, dtype=np.float32):
    X, labels = rows
    expected = model().fit(X.astype(dtype), labels)
    got = model().fit(source, y)
    assert source.shape == X.shape
    assert source.dtype == dtype
    assert_array_equal(got.classes_, expected.classes_)
    assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-5 * np.abs(expected.coef_).max())


@pytest.mark.parametrize("chunks", [None, (64, WIDTH), (7, 5)])
def test_h5py(tmp_path, rows, chunks):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        data = file.create_dataset("X", data=rows[0], chunks=chunks, compression="gzip" if chunks else None)
        assert_same_model(RowSource(data), rows, rows[1])
        with pytest.raises(ValueError, match="h5py.Dataset has 1 dimensions, shape .*; rows of features have 2"):
            RowSource(file.create_dataset("y", data=np.arange(N)))
        with pytest.raises(ValueError, match="no label 'y' is looked for in a h5py.Dataset"):
            RowSource(data, label="y")
        with pytest.raises(TypeError, match="h5py.File is no array, but holds some by name .'X'"):
            RowSource(file)
        words = file.create_dataset("words", data=np.array([[b"a", b"b"]]))
        with pytest.raises(ValueError, match="slices of h5py.Dataset are no rows of numbers"):
            RowSource(words).shape  # noqa: B018 -- the first pass is made here


def test_zarr(tmp_path, rows):
    zarr = pytest.importorskip("zarr")
    data = zarr.create_array(tmp_path / "rows.zarr", shape=rows[0].shape, chunks=(64, WIDTH), dtype=np.float32)
    data[:] = rows[0]
    assert_same_model(RowSource(data), rows, rows[1])


def test_a_memory_map(tmp_path, rows):
    np.save(tmp_path / "X.npy", rows[0])
    assert_same_model(RowSource(np.load(tmp_path / "X.npy", mmap_mode="r")), rows, rows[1])


@pytest.mark.filterwarnings("ignore")  # of AnnData about what it reads
@pytest.mark.parametrize("stored", ["dense", "csr", "csc"])
def test_anndata_in_backed_mode(tmp_path, rows, stored):
    anndata = pytest.importorskip("anndata")
    X = {"dense": np.asarray, "csr": sp.csr_matrix, "csc": sp.csc_matrix}[stored](rows[0])
    anndata.AnnData(X, obs=pd.DataFrame({"kind": rows[1]}, index=[str(i) for i in range(N)])).write_h5ad(
        tmp_path / "cells.h5ad"
    )
    cells = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    if stored == "csc":
        with pytest.raises(TypeError, match="is stored by columns, .*: store it as CSR"):
            RowSource(cells.X)
        return
    assert RowSource(cells.X).sparse == (stored == "csr")
    assert_same_model(RowSource(cells.X), rows, rows[1])
    assert_same_model(RowSource(cells, label="kind"), rows)
    with pytest.raises(ValueError, match="there is no column 'none' in obs of the anndata.AnnData"):
        RowSource(cells, label="none")


def table(rows):
    return {f"f{i}": rows[0][:, i] for i in range(WIDTH)} | {"kind": rows[1]}


def test_pyarrow(tmp_path, rows):
    pa = pytest.importorskip("pyarrow")
    dataset = pytest.importorskip("pyarrow.dataset")
    whole = pa.table(table(rows))
    dataset.write_dataset(whole, tmp_path, format="parquet", max_rows_per_file=250, max_rows_per_group=250)
    assert_same_model(RowSource(dataset.dataset(tmp_path), label="kind"), rows)
    assert_same_model(RowSource(whole, label="kind"), rows)
    assert_same_model(RowSource(whole.to_batches()[0], label="kind"), rows)
    sparse = sp.csr_array(rows[0])
    lists = [np.split(part, sparse.indptr[1:-1]) for part in (sparse.indices, sparse.data)]
    source = RowSource(pa.table({"indices": lists[0], "values": lists[1], "kind": rows[1]}), label="kind")
    assert_same_model(source, rows)
    assert source.sparse
    with pytest.raises(ValueError, match="there is no column 'none'"):
        RowSource(whole, label="none")


def test_polars(rows):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(table(rows))
    source = RowSource(frame.lazy().filter(pl.col("f0") > -100), label="kind")
    assert_same_model(source, rows)
    assert_array_equal(model().fit(source).feature_names_in_, [f"f{i}" for i in range(WIDTH)])
    assert_same_model(RowSource(frame, label="kind"), rows)
    mixed = frame.with_columns(pl.col("f1").cast(pl.Float64))
    assert_same_model(RowSource(mixed, label="kind"), rows, dtype=np.float64)
    with pytest.raises(ValueError, match="there is no column 'none'"):
        RowSource(frame.lazy(), label="none")


def test_a_polars_that_gives_no_batches_is_sliced(rows, monkeypatch):
    pl = pytest.importorskip("polars")
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)
    frame = pl.DataFrame(table(rows))
    parts = list(_foreign.LazyBatches(frame.lazy(), None))
    assert [part.height for part in parts] == [92] * 6 + [N - 6 * 92]  # the labels are one more column
    assert pl.concat(parts).equals(frame)
    assert_same_model(RowSource(frame.lazy(), label="kind"), rows)


def test_pandas(rows):
    frame = pd.DataFrame(table(rows))
    assert_same_model(RowSource(frame, label="kind"), rows)
    assert_array_equal(RowSource(frame, label="kind").labels, rows[1])
    with pytest.raises(ValueError, match=r"there is no column 'none' in the pandas\.DataFrame"):
        RowSource(frame, label="none")
    with pytest.raises(ValueError, match=r"pandas\.Series has 1 dimensions"):
        RowSource(frame["f0"])


def test_what_is_not_supported_is_named():
    class Odd:
        shape = (3, 2)

        def __getitem__(self, rows):
            return {"a": 1}

    with pytest.raises(ValueError, match=r"slices of .*Odd are no rows of numbers: give a function that"):
        RowSource(Odd()).shape  # noqa: B018 -- the first pass is made here
    with pytest.raises(TypeError, match=r"builtins.dict is no array, but holds some by name \('a', 'b'\)"):
        RowSource({"a": np.ones((2, 2)), "b": np.ones(2)})
    with pytest.raises(TypeError, match="RowSource needs an iterable of blocks of rows, got builtins.int: give a func"):
        RowSource(3)
    with pytest.raises(ValueError, match="label is for tables and files, not for list"):
        RowSource([np.ones((2, 2))], label="y")
