"""What workers do with a partition, done here."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from isrht.rows.workers import _tasks
from isrht.rows.workers._facts import Partition
from isrht.rows.workers.pieces import Piece, applied


def test_a_checked_block_tells_what_is_in_it():
    assert _tasks.checked(np.ones((4, 3), np.float32), 0) == Partition(4, 3, np.dtype(np.float32), False, 12, 0.0)
    twice = sp.csr_array((np.ones(3), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 3))
    assert _tasks.checked(twice, 0) == Partition(2, 3, np.dtype(np.float64), True, 2, 1.0)


@pytest.mark.parametrize(
    "task",
    [
        lambda: _tasks.checked(np.array([[np.nan]]), 7),
        lambda: _tasks.converted(np.array([["a"]]), 7, None),
        lambda: _tasks.different_labels([[(7, np.array([0.5]))]]),
        lambda: _tasks.checked_weights([[(7, np.array([-1.0]))]]),
    ],
    ids=["rows", "types", "labels", "weights"],
)
def test_errors_name_the_block(task):
    with pytest.raises(ValueError, match="^block 7: "):
        task()


def test_a_function_of_no_rows_has_the_right_width():
    def double(X):
        return np.hstack([X, X])

    assert applied(double, np.zeros((0, 3), np.float32)).shape == (0, 6)
    assert_array_equal(applied(double, np.ones((2, 1))), np.ones((2, 2)))


def test_a_sum_over_a_piece_has_what_belongs_to_its_rows():
    def sums(block):
        return np.array([block.X.sum(), block.y.sum(), block.sample_weight.sum(), block.values.sum()], dtype=float)

    def opened(X):
        return Piece.held([4, 5], [X[:0], X])

    X, y, weights, values = np.arange(10.0)[:, None], np.arange(10), np.ones(10), np.arange(10) % 2
    total = _tasks.sum_blocks(sums, 3, opened, X, [y[:0], y], [weights[:0], weights], [values[:0], values])
    assert_array_equal(total.result(), [45, 45, 10, 5])
    assert _tasks.sum_blocks(sums, 3, opened, X[:0], None, None, None).result() is None


@pytest.mark.parametrize(
    ("values", "itemsize"),
    [
        (np.arange(200), 1),
        (np.array([1.0, 0.0, 300.0]), 2),
        (np.array([70_000]), 4),
        (np.array([2**40]), 8),
        (np.array([0.5]), 8),
        (np.array([-1]), 8),
        (np.array([], dtype=int), 8),
        (np.array(["a"]), 4),
    ],
)
def test_whole_numbers_travel_in_few_bytes_and_come_back(values, itemsize):
    small = _tasks.compact(values)
    assert small.itemsize == itemsize
    (back,) = _tasks.widened([(small, values.dtype.str)])
    assert back.dtype == values.dtype
    assert_array_equal(back, values)
