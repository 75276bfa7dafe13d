"""Rows cut anew into blocks of one size."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from isrht.rows._recut import recut
from isrht.rows.blocks import RowBlocks
from isrht.support.threads import PAUSE


@pytest.fixture(params=[np.asarray, sp.csr_array, sp.csr_matrix])
def matrix(request, rng):
    return request.param(rng.standard_normal((103, 7)) * (rng.random((103, 7)) < 0.5))


@pytest.mark.parametrize("block_rows", [1, 7, 50, 103, 1000])
@pytest.mark.parametrize("sizes", [[103], [1] * 103, [0, 50, 0, 53], [100, 3], [20, 20, 20, 20, 23]])
def test_recut_gives_the_blocks_that_rows_in_memory_have(matrix, sizes, block_rows):
    ends = np.cumsum([0, *sizes])
    pieces = [matrix[first:last] for first, last in itertools.pairwise(ends)]
    expected = list(RowBlocks(matrix, block_rows=block_rows))
    for got, want in zip(recut(pieces, block_rows), expected, strict=True):
        assert type(got).__name__ == type(want.X).__name__
        assert_array_equal(*(x.toarray() if sp.issparse(x) else x for x in (got, want.X)))


def test_a_part_of_one_piece_is_a_view_and_one_of_several_is_not(rng):
    pieces = [rng.standard_normal((5, 2)), rng.standard_normal((5, 2))]
    first, second, third = recut(pieces, 4)
    assert np.shares_memory(first, pieces[0])
    assert not np.shares_memory(second, pieces[0])
    assert third.shape == (2, 2)


@pytest.mark.parametrize("sizes", [[103], [1] * 103, [0, 50, 0, 53], [100, 3], [20, 20, 20, 20, 23], [10, 13, 77, 3]])
def test_a_pause_comes_before_rows_that_were_yielded_are_written_to(matrix, sizes):
    ends = np.cumsum([0, *sizes])

    def pieces():
        for first, last in itertools.pairwise(ends):
            piece = matrix[first:last].copy()
            yield piece
            yield PAUSE
            (piece.data if sp.issparse(piece) else piece)[...] = np.nan

    seen = []
    for part in recut(pieces(), 10):
        if part is not PAUSE:
            seen.append((part, part.copy()))
            continue
        for got, copy in seen:
            assert_array_equal(*(x.toarray() if sp.issparse(x) else x for x in (got, copy)))
        seen = [(copy, copy) for _, copy in seen]
    together = (sp.vstack if sp.issparse(matrix) else np.concatenate)([copy for _, copy in seen])
    assert_array_equal(*(x.toarray() if sp.issparse(x) else x for x in (together, matrix)))


def test_pieces_without_views_need_no_pause(rng):
    pieces = [part for row in rng.standard_normal((20, 3)) for part in (row[None], PAUSE)]
    assert all(part is not PAUSE for part in recut(pieces, 4))
