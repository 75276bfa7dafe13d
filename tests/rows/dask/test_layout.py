"""Which partitions go together."""

from itertools import chain

import numpy as np
import pytest

from isrht.rows.dask._layout import BLOCK_BYTES, dealt, first_layout, joined_partitions, layout


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
def test_numbers_are_dealt_in_order_and_evenly(count, rng):
    weights = rng.integers(1, 10, 40)
    lists = dealt(np.arange(40), weights, count)
    assert len(lists) == count
    assert list(chain.from_iterable(lists)) == list(range(40))
    if count <= 7:
        assert max(weights[numbers].sum() for numbers in lists) <= weights.sum() / count + 10


def test_there_are_never_more_pieces_than_blocks():
    assert dealt(np.arange(2), np.ones(2), 5) == [[0], [1]]
    assert dealt(np.arange(3), np.array([0.0, 0.0, 1.0]), 2) == [[0, 1], [2]]


def test_tiny_partitions_are_joined_and_large_ones_stay_alone():
    large = 3 * BLOCK_BYTES
    assert joined_partitions([1] * 100) == [list(range(100))]
    assert joined_partitions([large, large, 1, 1, large]) == [[0], [1], [2, 3], [4]]
    assert joined_partitions([0, 0]) == [[0, 1]]
    many = joined_partitions([BLOCK_BYTES // 4] * 1000)
    assert list(chain.from_iterable(many)) == list(range(1000))
    assert {len(block) for block in many} == {4}


def test_what_is_in_memory_is_worked_on_where_it_is():
    found = first_layout(5, ["a", "a", "b"], located=["b", "a", "b", "a", "a"])
    assert found.homes == ["a", "a", "b"]
    assert found.pieces == [[1, 3], [4], [0, 2]] or found.pieces == [[1], [3, 4], [0, 2]]


def test_heavy_blocks_are_pieces_of_their_own():
    found = layout([[0], [1], [2, 3]], [8, 1, 7], ["a", "b"])
    assert found.pieces == [[0], [1, 2]]
    assert found.homes == ["a", "b"]
    assert layout([[0], [1]], [1, 1], ["a", "a", "b", "b"]).homes == ["a", "b"]  # not all on the first worker


def test_a_lone_worker_needs_no_address():
    assert layout([[0], [1]], [1, 1], ["a", "a"]).homes == [None, None]
    assert layout([[0], [1]], [1, 1], ["a", "a"], located=["a", "a"]).homes == [None, None]
