"""The lengths of which there is a fast transform: powers of two, and powers of two times 12, 20, 28, 36, 44, 52 or 60.

A Hadamard matrix of order m times one of order 2**k, by Kronecker's product, is one of order ``m * 2**k``. The orders m
are those of small matrices (:mod:`isrht.transform.matrices`), which are four times an odd number. Between a power of
two and the next there are, from 32 on, seven more lengths, at even distances: 9/8, 10/8, ... 15/8 of the smaller one.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right

# The greatest length that kernels can index.
LONGEST = 2**30
SMALL_ORDERS = (12, 20, 28, 36, 44, 52, 60)
FAST_LENGTHS = tuple(sorted(order << k for order in (1, *SMALL_ORDERS) for k in range(31) if order << k <= LONGEST))


def next_fast_len(target: int) -> int:
    """Return the smallest length of a fast Walsh-Hadamard transform that is at least ``target``.

    Parameters
    ----------
    target : int
        A positive number, at most 2**30.

    Returns
    -------
    int
        A power of two, or a power of two times 12, 20, 28, 36, 44, 52 or 60.

    See Also
    --------
    scipy.fft.next_fast_len : The same for Fourier transforms.

    Examples
    --------
    >>> import isrht
    >>> isrht.next_fast_len(1000)
    1024
    >>> isrht.next_fast_len(1500)
    1536
    """
    target = operator.index(target)
    if target < 1:
        raise ValueError(f"target must be a positive integer, got {target}")
    if target > LONGEST:
        raise ValueError(f"the length of a Walsh-Hadamard transform is at most 2**30, got {target}")
    return FAST_LENGTHS[bisect_left(FAST_LENGTHS, target)]


def last_fast_len(target):
    """Return the largest length of a fast transform that is at most ``target``."""
    return FAST_LENGTHS[bisect_right(FAST_LENGTHS, target) - 1]


def next_power_of_two(length):
    """Return the smallest power of two that is at least ``length``."""
    return 1 << max(0, length - 1).bit_length()


def small_order(length):
    """Return the order m of a length ``m * 2**k``: 1 for a power of two, else four times an odd number."""
    odd = length // (length & -length)
    return 1 if odd == 1 else 4 * odd


def check_length(length):
    """Raise an error, which names the nearest lengths that would do, if there is no fast transform of a length."""
    if length > LONGEST:
        raise ValueError(f"the length of a Walsh-Hadamard transform is at most 2**30, got {length}")
    if length < 1:
        raise ValueError(f"the length of a Walsh-Hadamard transform must be at least 1, got {length}")
    above = next_fast_len(length)
    if above != length:
        raise ValueError(
            f"there is no fast Walsh-Hadamard transform of length {length}: the nearest lengths are "
            f"{last_fast_len(length)} and {above}; pad with zeros to {above}"
        )
