"""The orders in which the outputs of a transform are known: natural, by sequency, and dyadic.

In natural (Sylvester's, Hadamard's) order, output j is the sum of all inputs with signs ``(-1)**popcount(k & j)``. In
order of sequency (Walsh's), output j is the one whose signs change j times, which is to a Walsh transform what
frequency is to Fourier's. In dyadic (Paley's) order, output j is natural output j with its bits reversed; sequency is
the Gray code of it.

Each order is a linear map of the bits of j, and to map outputs by a matrix of bits is to map inputs by its inverse
transpose. So the permutation happens while the inputs are copied, and the transform itself is always the natural one.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

ORDERS = ("natural", "sequency", "dyadic")
# Permutations of up to this many numbers are kept, for the next call.
KEPT = 2**16


def input_permutation(length, order):
    """Return where each input is to be taken from, so that the natural transform has its outputs in another order.

    Parameters
    ----------
    length : int
        A power of two.
    order : {"sequency", "dyadic"}

    Returns
    -------
    ndarray of shape (length,)
    """
    return (_kept if length <= KEPT else _permutation)(length, order)


def _permutation(length, order):
    """Return the permutation, whose number for several bits is the exclusive or of those for each of them."""
    permutation, bits = np.zeros(length, np.intp), length.bit_length() - 1
    for bit in range(bits):
        # The bit is moved to the other end. By sequency, the Gray code's inverse sets all bits up to there, too.
        image = (1 << (bits - bit)) - 1 if order == "sequency" else 1 << (bits - 1 - bit)
        np.bitwise_xor(permutation[: 1 << bit], image, out=permutation[1 << bit : 2 << bit])
    return permutation


@lru_cache(maxsize=16)
def _kept(length, order):
    permutation = _permutation(length, order)
    permutation.flags.writeable = False
    return permutation
