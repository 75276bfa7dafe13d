import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from isrht.rows._recut import recut
from isrht.rows.blocks import RowBlocks, default_block_rows
from isrht.support.matrices import rows_of
from isrht.support.threads import job_count, worker_count


@pytest.fixture(params=[np.asarray, sp.csr_array, sp.csr_matrix])
def matrix(request, rng):
    return request.param(rng.standard_normal((103, 7)) * (rng.random((103, 7)) < 0.5))


@pytest.mark.parametrize("block_rows", [1, 10, 103, 1000])
def test_blocks_are_the_rows_in_order(matrix, block_rows):
    labels, weights = np.arange(103), np.arange(103.0)
    blocks = list(RowBlocks(matrix, labels, weights, block_rows=block_rows))
    dense = [block.X.toarray() if sp.issparse(block.X) else block.X for block in blocks]
    assert_array_equal(np.vstack(dense), matrix.toarray() if sp.issparse(matrix) else matrix)
    assert_array_equal(np.concatenate([block.y for block in blocks]), labels)
    assert_array_equal(np.concatenate([block.sample_weight for block in blocks]), weights)
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


def test_rows_of_a_sparse_matrix_are_a_view():
    matrix = sp.random_array((50, 9), density=0.3, format="csr", random_state=0)
    part = rows_of(matrix, slice(10, 30))
    assert np.shares_memory(part.data, matrix.data)
    assert_array_equal(part.toarray(), matrix.toarray()[10:30])


def test_default_block_depends_on_the_width_alone():
    assert default_block_rows(np.empty((10, 2**19))) == 1
    assert default_block_rows(np.empty((10, 256))) == default_block_rows(np.empty((10**4, 256))) == 2048
    assert default_block_rows(np.empty((3, 0))) == 2**19


def test_worker_count_reads_as_scipy_does():
    assert worker_count(None) == 1
    assert worker_count(3) == 3
    assert worker_count(-1) >= 1


def test_job_count_reads_as_scikit_learn_does():
    assert job_count(None) == 1
    assert job_count(3) == 3
    assert job_count(-1) >= 1
    assert job_count(-10_000) == 1
    with pytest.raises(ValueError, match="n_jobs=0"):
        job_count(0)


@pytest.mark.parametrize("block_rows", [1, 7, 50, 103, 1000])
@pytest.mark.parametrize("sizes", [[103], [1] * 103, [0, 50, 0, 53], [100, 3], [20, 20, 20, 20, 23]])
def test_recut_gives_the_blocks_that_rows_in_memory_have(matrix, sizes, block_rows):
    ends = np.cumsum([0, *sizes])
    pieces = [matrix[first:last] for first, last in itertools.pairwise(ends)]
    expected = list(RowBlocks(matrix, block_rows=block_rows))
    for got, want in zip(recut(pieces, block_rows), expected, strict=True):
        assert type(got).__name__ == type(want.X).__name__
        assert_array_equal(*(x.toarray() if sp.issparse(x) else x for x in (got, want.X)))
