"""Rows that this process reads: chosen, changed and stored ones."""

import os
import tempfile

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from source_data import Blocks, dense

from isrht import ISRHTClassifier, RowSource
from isrht.rows._local import StoredRows
from isrht.rows.blocks import RowBlocks, few_rows
from isrht.rows.entry import stored


def read(rows, block_rows):
    return [rows.finish(part) for part in rows.read(block_rows)]


@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_array])
def test_chosen_rows_may_repeat(as_matrix, rng):
    X = rng.standard_normal((100, 5)) * (rng.random((100, 5)) < 0.5)
    chosen = np.array([0, 7, 7, 50, 99])
    rows = RowSource(Blocks(as_matrix(X), size=13)).take(chosen)
    assert rows.shape == (5, 5)
    parts = read(rows, 2)
    assert [part.shape[0] for part in parts] == [2, 2, 1]
    assert_array_equal(np.vstack([part.toarray() if sp.issparse(part) else part for part in parts]), X[chosen])
    if rows.sparse:
        per_row = np.count_nonzero(X[chosen], axis=1)
        assert rows.nnz == per_row.sum()
        assert rows.pairs == (per_row**2).sum() / 2


def test_changed_rows_are_changed_when_they_are_read(rng):
    X, calls = rng.standard_normal((100, 5)), []
    rows = RowSource(Blocks(X)).map(lambda part: calls.append(len(part)) or 2 * part[:, :3], 3)
    assert rows.shape == (100, 3)
    assert calls == []
    assert_array_equal(np.vstack(read(rows, 40)), 2 * X[:, :3])
    assert calls == [40, 40, 20]
    assert rows.nnz == 300


def test_collected_values_are_in_the_order_of_the_rows(rng):
    X = rng.standard_normal((1000, 5))
    assert_array_equal(RowSource(Blocks(X)).collect(lambda part: part[:, 0] > 0, n_jobs=2), X[:, 0] > 0)


def test_blocks_of_rows_elsewhere_have_what_belongs_to_them(rng):
    X, y, weights, values = rng.standard_normal((50, 2)), np.arange(50), np.arange(50.0), np.arange(100).reshape(50, 2)
    for block in RowBlocks(RowSource(Blocks(X)), y, weights, values=values, block_rows=8):
        assert_array_equal(block.X, X[block.rows])
        assert_array_equal(block.y, y[block.rows])
        assert_array_equal(block.sample_weight, weights[block.rows])
        assert_array_equal(block.values, values[block.rows])


def test_stored_rows_come_back_as_they_were(rng):
    X = rng.standard_normal((1000, 7)).astype(np.float32)
    with stored(RowSource(Blocks(X)), [(np.negative, 7), (np.array, 7)], n_jobs=2) as (_, rows):
        assert isinstance(rows, StoredRows)
        assert rows.shape == X.shape
        for block_rows in (1, 99, 1000, 5000):
            assert_array_equal(np.concatenate([block.X for block in RowBlocks(rows, block_rows=block_rows)]), X)
        some = rows.take(np.array([0, 5, 5, 999]))
        assert_array_equal(np.concatenate(list(some.read(3))), X[[0, 5, 5, 999]])
    with pytest.raises(ValueError, match="closed file"):
        next(iter(RowBlocks(rows)))


@pytest.mark.parametrize("sparse", [False, True])
def test_few_rows_are_read_once_for_many_passes(sparse, rng):
    X = sp.random_array((300, 20), density=0.2, format="csr", random_state=rng) if sparse else rng.random((300, 20))
    told, chosen = [], np.array([3, 3, 70, 141, 299])
    source = RowSource(Blocks(X), progress=lambda number, *_: told.append(number))
    few = few_rows(source.map(lambda part: part * 2), chosen)
    passes = max(told)
    for block_rows in (2, 5):
        parts = [block.X.toarray() if sparse else block.X for block in RowBlocks(few, block_rows=block_rows)]
        assert_array_equal(np.concatenate(parts), 2 * (X.toarray() if sparse else X)[chosen])
    assert max(told) == passes == 2
    assert few.nnz == (X[chosen].nnz if sparse else 100)
    assert few_rows(rng.random((9, 2)), chosen[:2]).shape == (2, 2)


def test_few_rows_are_read_again_where_the_disk_is_full(rng, monkeypatch):
    X, chosen = rng.random((300, 20)), np.arange(0, 300, 7)
    monkeypatch.setattr("isrht.support.block_cache.SHARE_OF_DISK", 0)
    with pytest.warns(UserWarning, match="half of what the disk has left"):
        few = few_rows(RowSource(Blocks(X)), chosen)
    assert_array_equal(np.concatenate([block.X for block in RowBlocks(few)]), X[chosen])


class Stop(Exception):
    pass


@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt])
def test_no_temporary_file_is_left_after_an_error(error, rng, tmp_path, monkeypatch):
    X, y = dense(rng)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    opened = []
    monkeypatch.setattr(StoredRows, "put", lambda self, *args, f=StoredRows.put: opened.append(self) or f(self, *args))
    monkeypatch.setattr("isrht.classifier.LinearSVM.fit_checked", lambda *_: (_ for _ in ()).throw(error()))
    with pytest.raises(error):
        ISRHTClassifier(16, selection="supervised", C=1.0, random_state=0).fit(RowSource(Blocks(X, y)))
    assert opened
    assert all(rows._file.closed for rows in opened)
    assert os.listdir(tmp_path) == []


def test_what_is_derived_knows_whether_its_rows_may_change(rng):
    X, y = dense(rng)
    source = RowSource(Blocks(X, y))
    source.survey()
    taken = source.take(np.arange(10))
    assert source.may_change
    assert all(rows.may_change for rows in (taken, source.map(abs), taken.for_many_passes()))
    kept = RowSource(Blocks(X, y), cache=2**30)
    kept.survey()
    assert not kept.may_change
    assert not kept.take(np.arange(10)).may_change


def test_stored_rows_are_finite(rng):
    X, y = dense(rng)
    source = RowSource(Blocks(X, y))
    source.survey()
    with pytest.raises(ValueError, match="what was made of some rows is not finite"):
        source.store([(lambda X: np.full((len(X), 1), np.inf), 1)])


def test_a_full_disk_is_said(rng, monkeypatch):
    X, y = dense(rng)

    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

        def close(self):
            pass

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    with pytest.raises(OSError, match="could not be kept in .* .No space left on device.; .* TMPDIR"):
        ISRHTClassifier(16, selection="supervised", random_state=0).fit(RowSource(Blocks(X, y)))
