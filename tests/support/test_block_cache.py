"""Blocks that are kept for the next pass, and what happens where there is no room."""

import errno
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from isrht.support import block_cache
from isrht.support.block_cache import BlockCache, Room
from isrht.support.spill_file import SpillFile


def test_blocks_come_back_as_they_were(rng):
    blocks = [(rng.standard_normal((3, 4)), ["a"]), sp.csr_array(np.eye(3)), np.arange(5, dtype=np.int8), "text"]
    cache = BlockCache()
    assert [type(block) for block in cache.keep(blocks)] == [type(block) for block in blocks]
    assert cache.complete
    for _ in range(2):
        (X, names), sparse, small, text = cache
        assert_array_equal(X, blocks[0][0])
        assert names == ["a"]
        assert_array_equal(sparse.toarray(), np.eye(3))
        assert_array_equal(small, np.arange(5))
        assert text == "text"


def test_what_does_not_fit_is_given_up_with_a_warning():
    cache = BlockCache(1000)
    with pytest.warns(UserWarning, match="rows are not kept for the next pass, but read again: they take more bytes"):
        assert len(list(cache.keep([np.ones(100), np.ones(100), np.ones(10)]))) == 3
    assert not cache.complete
    assert list(cache) == []


def test_half_of_the_disk_is_left_to_others(monkeypatch):
    monkeypatch.setattr(block_cache.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1500))
    room, file = Room(), SpillFile("rows")
    assert room.append(file, np.zeros(700, np.uint8))
    with pytest.warns(UserWarning, match="half of what the disk has left"):
        assert not room.append(file, np.zeros(51, np.uint8))


def test_a_disk_that_fills_up_meanwhile_is_no_error(monkeypatch):
    def full(self, array):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(SpillFile, "append", full)
    cache = BlockCache()
    with pytest.warns(UserWarning, match="No space left on device"):
        assert len(list(cache.keep([np.ones(3)] * 2))) == 2
    assert not cache.complete
