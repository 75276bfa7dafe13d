"""The Walsh-Hadamard transform, and the rotation of rows that is made of it.

:mod:`~isrht.transform.hadamard` transforms arrays in the manner of :mod:`scipy.fft`, and needs nothing but NumPy and
the kernels. :mod:`~isrht.transform.rotation` multiplies rows by a diagonal, rotates them and keeps chosen columns,
without ever storing the rotated rows; :mod:`~isrht.transform.signs` draws the random diagonal.

The room uses ``rows``, ``kernels`` and ``support``; ``projections`` and ``boosting`` use it.
"""

from isrht.transform.hadamard import fwht

__all__ = ["fwht"]
