"""Partitions as what workers keep of a piece."""

import numpy as np
import pytest
import scipy.sparse as sp
from dask_data import dask
from numpy.testing import assert_array_equal

from isrht.rows.dask._layout import Layout, first_layout
from isrht.rows.dask.partitions import Partitions, facts, rows_of, values_of


@pytest.fixture
def kept(rng):
    """What a worker keeps of a piece of two blocks, the first of three partitions, one of which has no rows."""
    X = rng.standard_normal((9, 2)).astype(np.float32)
    parts = [dask.delayed(part) for part in (X[:4], X[:0], X[4:5], X[5:])]
    with dask.config.set(scheduler="sync"):
        (piece,) = dask.compute(*Partitions(parts).kept(Layout([[0, 1, 2], [3]], [[0, 1]], [None])))
    return X, piece


def test_partitions_are_joined_when_they_are_loaded(kept):
    X, piece = kept
    blocks = list(rows_of(np.float64, [0, 1], piece))
    assert [number for number, _ in blocks] == [0, 1]
    assert_array_equal(np.concatenate([block for _, block in blocks]), X.astype(float))
    assert blocks[0][1].shape == (5, 2)
    assert blocks[0][1].dtype == np.float64


def test_facts_and_values_are_those_of_partitions(kept):
    _, piece = kept
    assert [[part.n_rows for part in block] for block in facts(piece)] == [[4, 0, 1], [4]]
    assert [[number for number, _ in block] for block in values_of(piece)] == [[0, 1, 2], [3]]


def test_sparse_partitions_are_joined_too():
    parts = [sp.csr_array(np.eye(3)), sp.csr_array(np.eye(3)[:1])]
    ((_, block),) = rows_of(np.float64, [0], [[(0, parts[0]), (1, parts[1])]])
    assert sp.issparse(block)
    assert_array_equal(block.toarray(), np.eye(3)[[0, 1, 2, 0]])


def test_partitions_that_only_dask_can_load_are_dealt_one_by_one():
    whole = dask.delayed(np.ones)((4, 2))
    shared = Partitions([whole[:2], whole[2:]])
    assert shared.recipes is None
    assert shared.threads() == [None, None]
    assert first_layout(2, shared.threads()).pieces == [[0], [1]]
    assert shared.located() is None


def test_partitions_of_which_some_are_in_memory_have_no_home(client):
    in_memory = [dask.delayed(np.ones)((2, 2)).persist() for _ in range(2)]
    with client.as_current():
        assert set(Partitions(in_memory).located()) <= set(client.scheduler_info()["workers"])
        mixed = Partitions([*in_memory, dask.delayed(np.ones)((2, 2))])
        assert mixed.in_memory
        assert mixed.located() is None
