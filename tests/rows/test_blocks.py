"""Blocks of rows, and the loop over them."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from isrht.rows.blocks import (
    RowBlocks,
    RowsElsewhere,
    add,
    default_block_rows,
    is_finite,
    is_sparse,
    naming_change,
    pairs_of,
    take_rows,
)
from isrht.rows.scaling import Extremes


@pytest.fixture(params=[np.asarray, sp.csr_array, sp.csr_matrix])
def matrix(request, rng):
    return request.param(rng.standard_normal((103, 7)) * (rng.random((103, 7)) < 0.5))


@pytest.mark.parametrize("block_rows", [1, 10, 103, 1000])
def test_blocks_are_the_rows_in_order(matrix, block_rows):
    labels, weights, values = np.arange(103), np.arange(103.0), np.arange(206).reshape(103, 2)
    blocks = list(RowBlocks(matrix, labels, weights, values=values, block_rows=block_rows))
    dense = [block.X.toarray() if sp.issparse(block.X) else block.X for block in blocks]
    assert_array_equal(np.vstack(dense), matrix.toarray() if sp.issparse(matrix) else matrix)
    assert_array_equal(np.concatenate([block.y for block in blocks]), labels)
    assert_array_equal(np.concatenate([block.sample_weight for block in blocks]), weights)
    assert_array_equal(np.concatenate([block.values for block in blocks]), values)
    assert_array_equal(np.concatenate([labels[block.rows] for block in blocks]), labels)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5, -1])
def test_sum_has_the_same_bits_for_any_number_of_jobs(matrix, n_jobs):
    def moments(block):
        x = block.X.toarray() if sp.issparse(block.X) else block.X
        return x.sum(axis=0), x.T @ x, float(len(x))

    expected = RowBlocks(matrix, block_rows=10).sum(moments)
    for got, want in zip(RowBlocks(matrix, block_rows=10).sum(moments, n_jobs), expected, strict=True):
        assert_array_equal(got, want)
    assert expected[2] == 103


def test_an_error_in_a_block_is_raised(matrix):
    def fail(block):
        raise RuntimeError(f"block at {block.start}")

    with pytest.raises(RuntimeError, match="block at 0"):
        RowBlocks(matrix, block_rows=10).sum(fail, n_jobs=2)


def test_default_block_depends_on_the_width_alone():
    assert default_block_rows(np.empty((10, 2**19))) == 1
    assert default_block_rows(np.empty((10, 256))) == default_block_rows(np.empty((10**4, 256))) == 2048
    assert default_block_rows(np.empty((3, 0))) == 2**19


class RowsOnWorkers(RowsElsewhere):
    """Rows that some worker has, which is this process."""

    shape, dtype, on_workers = (10, 2), np.dtype(float), True

    def __init__(self):
        self.sent, self.passes = [], []

    def send(self, *values):
        self.sent.append(values)
        return values

    def sum_on_workers(self, function, sent, block_rows):
        self.passes.append((sent, block_rows))
        return function("all rows")


def test_what_belongs_to_rows_on_workers_is_sent_once_for_all_passes():
    rows, y, weights, values = RowsOnWorkers(), np.arange(10), np.ones(10), np.zeros(10)
    blocks = RowBlocks(rows, y, weights, values=values, block_rows=3)
    assert [blocks.sum(str.upper), blocks.sum(len)] == ["ALL ROWS", 8]
    (sent,) = rows.sent
    assert sent[0] is y
    assert sent[1] is weights
    assert sent[2] is values
    assert rows.passes == [(sent, 3)] * 2


def test_rows_in_memory_tell_what_rows_elsewhere_tell(matrix):
    dense = matrix.toarray() if sp.issparse(matrix) else matrix
    assert is_sparse(matrix) == sp.issparse(matrix)
    if is_sparse(matrix):
        assert pairs_of(matrix) == (np.count_nonzero(dense, axis=1) ** 2).sum() / 2
    chosen = take_rows(matrix, np.array([3, 50]))
    assert_array_equal(chosen.toarray() if sp.issparse(chosen) else chosen, dense[[3, 50]])


def test_sums_of_tuples_are_taken_up_by_the_first():
    total, scalar = np.zeros(2), 1.0
    summed, number = add((total, scalar), (np.ones(2), 2.0))
    assert summed is total
    assert_array_equal(total, [1, 1])
    assert number == 3


def test_a_sum_is_finite_if_all_of_it_is():
    assert is_finite((np.ones(3), (np.zeros((2, 2)), 1)))
    assert not is_finite((np.ones(3), (np.array([1.0, np.nan]), 1)))
    assert not is_finite(np.inf)
    assert is_finite(Extremes(np.zeros(2), np.ones(2), 5))
    assert not is_finite(Extremes(np.zeros(2), np.array([1, np.inf]), 5))


def test_what_rows_say_of_a_change_comes_first():
    class Changed(RowsElsewhere):
        def refuse_changed(self):
            raise ValueError("it has changed")

    with pytest.raises(ValueError, match="it has changed"), naming_change(Changed()):
        raise ValueError("it overflows")
    with pytest.raises(ValueError, match="it overflows"), naming_change(RowsElsewhere()):
        raise ValueError("it overflows")
