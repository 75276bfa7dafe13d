"""Score: from column statistics to one number per column, higher is better.

Rows may be weighted by class: a class of weight w counts as if each of its rows stood there w times.
"""

from __future__ import annotations

import numpy as np


def energy(statistics, rotation, class_weights, center):
    """Return the squared Euclidean norm of every rotated column (eq. 5), of centred data if ``center``.

    Centred data need not be centred: ``sum (z - mean)**2 = sum z**2 - (sum z)**2 / n``.
    """
    squares = class_weights @ statistics.squares
    if center:
        total = rotation.rotate((class_weights @ statistics.sums)[None])[0]
        squares = np.maximum(squares - total**2 / (class_weights @ statistics.counts), 0)
    return squares / rotation.length


def supervised(statistics, rotation, class_weights, balance):
    """Return ``-b`` of eq. 11: how much farther apart classes are than members of a class, column by column.

    With ``A_ij = 1`` for rows of one class and ``-a`` otherwise, ``b_j = sum_ij A_ij (z_ij - z_jj)**2 / 2`` is the
    diagonal of ``X_r' L X_r``. For any number of classes it is made of class sums S_c and sums of squares SS_c::

        b = sum_c (n_c - a (n - n_c)) SS_c - (1 + a) sum_c S_c**2 + a (sum_c S_c)**2

    The paper's ``L = D - yy'`` is the case of two classes and a = 1. Shifting the data changes nothing.
    """
    sums = rotation.rotate(class_weights[:, None] * statistics.sums)
    squares = None if statistics.squares is None else class_weights[:, None] * statistics.squares
    return separation(class_weights * statistics.counts, sums, squares, balance) / rotation.length


def separation(counts, sums, squares, balance):
    """Return ``-b`` of that formula, from the weighted counts, sums and sums of squares (or None) of each class."""
    b = balance * sums.sum(axis=0) ** 2 - (1 + balance) * (sums**2).sum(axis=0)
    if squares is not None:
        b += second_moment_weights(counts, balance) @ squares
    return -b


def second_moment_weights(class_sizes, balance):
    """Return ``n_c - a (n - n_c)``. With classes of equal size n / K they vanish where ``a (K - 1) = 1``."""
    return class_sizes - balance * (class_sizes.sum() - class_sizes)


def needs_squares(balance, class_weight, n_classes):
    """Say whether sums of squares enter the supervised scores at all.

    Classes weighted to equal mass make the second-moment weights vanish for two classes and ``balance=1`` (in
    general ``balance * (n_classes - 1) = 1``): class sums then suffice, at a fraction of the cost.
    """
    return not (class_weight == "balanced" and np.isclose(balance * (n_classes - 1), 1))
