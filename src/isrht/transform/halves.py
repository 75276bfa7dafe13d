"""Numbers of 16 bits, float16 and bfloat16, as float32 and back, by kernels: NumPy takes ten times as long."""

from __future__ import annotations

import numpy as np

from isrht import kernels


def is_half(dtype):
    """Return whether a type is float16, or bfloat16 of ``ml_dtypes``."""
    return dtype.name in ("float16", "bfloat16")


def widened(array):
    """Return the values of an array of halves in float32, as a new array without gaps."""
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        return widened(array.T).T
    halves = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    out = np.empty(array.shape, dtype=np.float32)
    kernels.engine.widen_halves(halves.reshape(-1).view(np.uint16), array.dtype.name == "bfloat16", out.reshape(-1))
    return out


def narrowed(values, dtype):
    """Return float32 values, an array without gaps, in a type of halves; those that are too large become infinite."""
    if not values.flags.c_contiguous:
        return narrowed(values.T, dtype).T
    out = np.empty(values.shape, dtype=dtype.newbyteorder("="))
    kernels.engine.narrow_halves(values.reshape(-1), dtype.name == "bfloat16", out.reshape(-1).view(np.uint16))
    return out
