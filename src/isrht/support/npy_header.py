"""The first bytes of a ``.npy`` file, which tell the type and the shape of the array that follows.

``numpy.save`` writes them too, but not in the same way in every version of NumPy. Files of this package are the same to
the byte wherever they are written, and an array whose rows are not counted yet needs a header of a known size.
"""

from __future__ import annotations

import struct

# NumPy lets the data begin at a multiple of this, so that they can be mapped into memory.
ALIGNMENT = 64


def npy_header(dtype, shape, fortran_order=False, *, at_least=0):
    """Return the header of an array in version 1.0 of the format.

    Parameters
    ----------
    dtype : str
        The type as NumPy writes it, with its byte order: ``"<f8"``.
    shape : sequence of int
    fortran_order : bool, default=False
        Whether the data are stored column by column.
    at_least : int, default=0
        Bytes that the header has at least, whatever the shape is.

    Returns
    -------
    bytes
    """
    text = f"{{'descr': {dtype!r}, 'fortran_order': {fortran_order}, 'shape': {tuple(shape)}, }}"
    n_bytes = max(at_least, -(-(10 + len(text) + 1) // ALIGNMENT) * ALIGNMENT)
    length = n_bytes - 10
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", length) + text.ljust(length - 1).encode("ascii") + b"\n"
