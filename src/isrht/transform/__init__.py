"""The Walsh-Hadamard transform, and the rotations of rows that are made of it.

:mod:`~isrht.transform.hadamard` transforms arrays in the manner of :mod:`scipy.fft`, and needs nothing but NumPy and
the kernels. Beside it are what it is made of: the lengths there are, the matrices whose order is no power of two, the
orders of outputs, and the arrays of other libraries. :mod:`~isrht.transform.rotation` multiplies rows by a diagonal,
rotates them and keeps chosen columns, without ever storing the rotated rows; :mod:`~isrht.transform.orthogonal` rotates
rows of any width without padding them; :mod:`~isrht.transform.signs` draws the random diagonals.

The room uses ``rows``, ``kernels`` and ``support``; ``projections`` and ``boosting`` use it.
"""

from isrht.transform.hadamard import fwht, fwhtn, ifwht, ifwhtn
from isrht.transform.lengths import next_fast_len
from isrht.transform.matrices import hadamard_matrix

__all__ = ["fwht", "fwhtn", "hadamard_matrix", "ifwht", "ifwhtn", "next_fast_len"]
