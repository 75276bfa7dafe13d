"""Rows that were kept by the first pass."""

import contextlib
import time

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from isrht.rows._kept import KeptRows, kept_behind
from isrht.rows._recut import recut

CUTS = [0, 5, 5, 40, 41]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_consecutive_rows_are_those_that_were_kept(sparse, dtype, rng):
    X = (rng.standard_normal((60, 7)) * (rng.random((60, 7)) < 0.3)).astype(dtype)
    X = sp.csr_array(X) if sparse else X
    kept = KeptRows(None)
    for first, last in zip(CUTS, [*CUTS[1:], 60], strict=True):
        kept.append(X[first:last])
    assert kept.finish()
    for start, stop in ((0, 60), (0, 1), (3, 17), (59, 60)):
        rows = kept.rows(start, stop)
        assert rows.dtype == dtype
        if sparse:
            assert rows.indptr.dtype == rows.indices.dtype
            rows = rows.toarray()
        assert_array_equal(rows, X.toarray()[start:stop] if sparse else X[start:stop])
    again = np.concatenate([part.toarray() if sparse else part for part in recut([kept.rows(0, 60)], 7)])
    assert_array_equal(again, X.toarray() if sparse else X)


def test_no_rows_are_kept_where_there_is_no_room():
    kept = KeptRows(100)
    with pytest.warns(UserWarning, match="they take more bytes than are allowed"):
        kept.append(np.ones((5, 4)))
    kept.append(np.ones((5, 4)))
    assert not kept.finish()


def test_blocks_of_other_types_are_not_kept():
    kept = KeptRows(None)
    kept.append(np.ones((5, 4), np.float32))
    with pytest.warns(UserWarning, match="their blocks have different types"):
        kept.append(np.ones((5, 4)))
    assert not kept.finish()


@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_of_less_precision_are_kept_in_that_of_the_first(sparse, rng):
    X, kept = rng.standard_normal((6, 3)), KeptRows(None)
    for part in (X[:4], X[4:].astype(np.float32)):
        kept.append(sp.csr_array(part) if sparse else part)
    assert kept.finish()
    rows = kept.rows(0, 6)
    assert rows.dtype == np.float64
    assert_array_equal(rows.toarray() if sparse else rows, np.vstack([X[:4], X[4:].astype(np.float32)]))


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_kept_behind_are_in_order(workers, rng):
    X, kept = rng.standard_normal((500, 3)), KeptRows(None)
    with kept_behind(kept, workers) as keep:
        for row in X:
            keep(row[None])
    assert kept.finish()
    assert_array_equal(kept.rows(0, 500), X)


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_to_keep_rows_in(workers):
    with kept_behind(None, workers) as keep:
        keep(np.ones((5, 4)))


@pytest.mark.parametrize("workers", [1, 2])
def test_no_room_behind_is_told_too(workers):
    with (
        pytest.warns(UserWarning, match="they take more bytes than are allowed"),
        kept_behind(KeptRows(100), workers) as keep,
    ):
        keep(np.ones((5, 4)))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_fault_behind_is_raised(workers, monkeypatch):
    def broken(self, X):
        raise OSError("on fire")

    monkeypatch.setattr(KeptRows, "append", broken)
    with pytest.raises(OSError, match="on fire"), kept_behind(KeptRows(None), workers) as keep:
        keep(np.ones((5, 4)))


def test_who_leaves_with_an_error_leaves_nothing_under_way(monkeypatch):
    under_way = []

    def slow(self, X):
        under_way.append(X)
        time.sleep(0.05)
        under_way.pop()

    monkeypatch.setattr(KeptRows, "append", slow)
    with contextlib.suppress(ZeroDivisionError), kept_behind(KeptRows(None), 2) as keep:
        keep(np.ones((5, 4)))
        raise ZeroDivisionError
    assert not under_way
