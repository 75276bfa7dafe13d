"""Hadamard matrices of orders 20 to 60, by Paley's constructions from the squares of a finite field.

In a field of q elements, q odd, let chi be 1 for squares, -1 for the other elements and 0 for 0. Every two elements a
and b have a number ``chi(a - b)``, and the matrix Q of these numbers has orthogonal rows, nearly. Where q + 1 is a
multiple of 4, a border of ones makes a Hadamard matrix of order q + 1 of it; where q - 1 is, a border makes a symmetric
conference matrix C, and blocks ``C + I, C - I, C - I, -C - I`` make one of order 2 (q + 1). All are brought into a form
that is symmetric, so that every transform is its own inverse but for a factor, and has a first row of ones, so that its
first output is the sum.

The kernels take a matrix as the list of distances ``a - b`` at which an output adds inputs
(:class:`~isrht.kernels.records.SmallMatrix`). :func:`paley_written_out` has all of its entries, by its definition.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from isrht.kernels.records import SmallMatrix

# The characteristic p of the field for each order, and its power: a field has p or p**2 elements.
FIELDS = {20: (3, 2), 28: (13, 1), 36: (17, 1), 44: (43, 1), 52: (5, 2), 60: (29, 1)}


@cache
def paley_matrix(order):
    """Return the matrix of an order as the kernels take it.

    The cycles of the field are laid out twice each, and twice in turn, so the element ``a + b*sqrt(n)`` has place
    ``b * 2 p + a``, and from any place the distances lead to the right ones.
    """
    p, power = FIELDS[order]
    squares, others = [], []
    for element in range(1, p**power):
        place = element // p * 2 * p + element % p
        (squares if element in _squares(p, power) else others).append(place)
    added = squares if order == 2 * (p**power + 1) else others
    return SmallMatrix(order, p**power, p, np.array(added, dtype=np.int64))


@cache
def _squares(p, power):
    """Return the squares of the field without 0. The element ``a + b*sqrt(n)``, n no square, has number ``a + b*p``."""
    squares = {a * a % p for a in range(1, p)}
    if power == 1:
        return squares
    n = min(set(range(2, p)) - squares)
    pairs = [(a, b) for a in range(p) for b in range(p) if (a, b) != (0, 0)]
    return {(a * a + n * b * b) % p + 2 * a * b % p * p for a, b in pairs}


def _chi(p, power, sign):
    """Return the matrix of ``chi(a + sign * b)`` over all elements a and b of the field."""
    elements = np.arange(p**power)
    low = (elements[:, None] % p + sign * (elements % p)) % p
    high = (elements[:, None] // p + sign * (elements // p)) % p
    values = np.full(p**power, -1, dtype=np.int8)
    values[0] = 0
    values[list(_squares(p, power))] = 1
    return values[low + high * p]


def _bordered(matrix, corner):
    """Return a matrix with a first row and column of ones, whose first entry is ``corner``."""
    bordered = np.ones((len(matrix) + 1, len(matrix) + 1), dtype=np.int8)
    bordered[0, 0] = corner
    bordered[1:, 1:] = matrix
    return bordered


def paley_written_out(order):
    """Return a Hadamard matrix of the order of a Paley construction: symmetric, with a first row of ones."""
    p, power = FIELDS[order]
    if order == p**power + 1:
        core = _chi(p, power, 1)
        return _bordered(core - (core == 0), 1)
    conference, identity = _bordered(_chi(p, power, -1), 0), np.eye(order // 2, dtype=np.int8)
    upper = [conference + identity, conference - identity]
    matrix = np.block([upper, [conference - identity, -conference - identity]])
    matrix[order // 2] *= -1
    matrix[:, order // 2] *= -1
    return matrix
