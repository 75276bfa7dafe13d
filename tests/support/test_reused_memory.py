"""Memory of copies is used again, but never while anybody refers to a copy."""

import numpy as np

from isrht.support.reused_memory import ReusedMemory


def address(X):
    return X.__array_interface__["data"][0]


def test_memory_is_used_again_when_a_copy_is_forgotten(rng):
    memory, X = ReusedMemory(), rng.standard_normal((50, 20))
    copied = memory.copy(X)
    np.testing.assert_array_equal(copied, X)
    assert not np.may_share_memory(copied, X)
    first = address(copied)
    del copied
    assert address(memory.copy(X[:30].astype(np.float32))) == first


def test_views_keep_memory_from_being_used_again(rng):
    memory, X = ReusedMemory(), rng.standard_normal((50, 20))
    views = []
    for number in range(5):
        views.append(memory.copy(X + number)[number : number + 7, 1:].T)
    for number, view in enumerate(views):
        np.testing.assert_array_equal(view, (X + number)[number : number + 7, 1:].T)


def test_larger_copies_replace_smaller_ones():
    memory = ReusedMemory()
    for size in (10, 100, 1000, 1000, 10):
        np.testing.assert_array_equal(memory.copy(np.arange(size)), np.arange(size))
    assert len(memory._buffers) == 1


def test_copies_have_the_order_of_c_whatever_they_were(rng):
    X = np.asfortranarray(rng.standard_normal((6, 4)))
    copied = ReusedMemory().copy(X)
    assert copied.flags.c_contiguous
    np.testing.assert_array_equal(copied, X)
