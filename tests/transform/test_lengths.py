import pytest

import isrht
from isrht.transform.lengths import (
    FAST_LENGTHS,
    LONGEST,
    check_length,
    last_fast_len,
    next_fast_len,
    next_power_of_two,
    small_order,
)


def test_next_power_of_two():
    assert [next_power_of_two(n) for n in (0, 1, 2, 3, 4, 5, 1000)] == [1, 1, 2, 4, 4, 8, 1024]


def test_lengths_are_the_orders_that_are_promised():
    orders = (1, 12, 20, 28, 36, 40, 44, 52, 60)
    assert set(FAST_LENGTHS) == {m * 2**k for m in orders for k in range(31) if m * 2**k <= LONGEST}
    assert list(FAST_LENGTHS) == sorted(FAST_LENGTHS)


def test_next_and_last_fast_length():
    for n in range(1, 5000):
        above, below = next_fast_len(n), last_fast_len(n)
        assert below <= n <= above
        assert not [length for length in FAST_LENGTHS if n <= length < above or below < length <= n]
        assert (above == below) == (n in FAST_LENGTHS)
    assert next_fast_len(LONGEST) == LONGEST
    assert isrht.next_fast_len is next_fast_len


def test_a_fast_length_is_never_far():
    """From 32 on it is less than 1/8 above, and more than 8/9 of what it is within."""
    for n in range(32, 3000):
        assert 8 * next_fast_len(n) < 9 * n + 8
        assert 9 * last_fast_len(n) > 8 * n


def test_orders():
    assert [small_order(n) for n in (1, 2, 1024, 12, 24, 40, 768, 960)] == [1, 1, 1, 12, 12, 20, 12, 60]


@pytest.mark.parametrize(
    ("length", "message"), [(0, "at least 1, got 0"), (7, "4 and 8; pad with zeros to 8"), (2**30 + 1, "at most 2")]
)
def test_other_lengths_are_errors(length, message):
    with pytest.raises(ValueError, match=message):
        check_length(length)


@pytest.mark.parametrize(
    ("target", "error"), [(0, ValueError), (-5, ValueError), (2**31, ValueError), (1.5, TypeError)]
)
def test_bad_targets(target, error):
    with pytest.raises(error):
        next_fast_len(target)
