"""Sums whose order follows from the numbers of blocks alone."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht.rows.workers.tree import TreeSum, plus


def of(values, numbers):
    total = TreeSum()
    for number in numbers:
        total.add(number, values[number])
    return total


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 13, 100])
def test_whoever_adds_what_the_sum_has_the_same_bits(count, rng):
    values = rng.standard_normal((count, 5)) * 10.0 ** rng.integers(-8, 8, (count, 5))
    expected = of(values, range(count)).result()
    np.testing.assert_allclose(expected, values.sum(axis=0), rtol=1e-6)
    for n_pieces in (2, 3, 5):
        owner = rng.integers(0, n_pieces, count)
        pieces = [of(values, np.flatnonzero(owner == piece)) for piece in range(n_pieces)]
        assert_array_equal(TreeSum.merged(pieces).result(), expected)
        assert_array_equal(TreeSum.merged([TreeSum.merged(pieces[:2]), *pieces[2:]]).result(), expected)
        cuts = sorted(rng.integers(0, count + 1, n_pieces - 1))
        ends = zip([0, *cuts], [*cuts, count], strict=True)
        consecutive = [of(values, range(first, last)) for first, last in ends]
        assert_array_equal(TreeSum.merged(consecutive).result(), expected)
        assert max(len(piece.nodes) for piece in consecutive) <= 2 * max(1, np.log2(count + 1))


def test_pairs_are_added_first():
    """1e16 + 1 is 1e16, so the sum is 2 only if the ones are added to each other first."""
    values = [np.array([value]) for value in (1e16, -1e16, 1.0, 1.0)]
    assert of(values, range(4)).result() == 2


def test_no_rows_add_nothing_and_nothing_is_written_to():
    one, other = (np.ones(2), 3), (np.ones(2), 4)
    total = of([None, one, None, other], range(4)).result()
    assert_array_equal(total[0], [2, 2])
    assert total[1] == 7
    assert_array_equal(one[0], [1, 1])
    assert of([None, None], range(2)).result() is None
    assert plus(None, one) is one
