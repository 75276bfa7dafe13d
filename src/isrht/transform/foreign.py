"""Arrays of other libraries: taken without a copy where they lie in the memory of the CPU, and given back in kind.

Whatever has ``__dlpack__`` (torch, JAX, CuPy) tells where its memory is, and NumPy can look at it. A result goes back
through ``from_dlpack`` of the library that the array came from, which is its array namespace, or the package in which
its class, or one that it inherits from, is defined. No library is imported for it: who has one of its arrays has
imported it. What has only ``__array__`` (pandas, h5py) becomes an array of NumPy, and so does the result.

NumPy has no bfloat16, and its DLPack passes none on: such arrays travel as the int16 of the same bits, and are the
bfloat16 of ``ml_dtypes`` here.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

# DLPack's numbers of memory that a CPU can read: its own, that which CUDA or ROCm have pinned, and that which CUDA
# shares.
CPU_MEMORY = (1, 3, 11, 13)


@dataclass(frozen=True)
class Taken:
    """An array that was given, as NumPy sees it.

    Parameters
    ----------
    array : ndarray
    given : object
        What the user gave.
    shared : bool
        Whether ``array`` is the memory of ``given``, all of it, and of no other type.
    """

    array: np.ndarray
    given: object
    shared: bool

    def give_back(self, result):
        """Return a result as the kind of array that was given; the very one that was given if it is in its memory."""
        if result is self.array and self.shared:
            return self.given
        library = None if isinstance(self.given, np.ndarray) else _library_of(self.given)
        if library is None:
            return result
        if result.dtype.name == "bfloat16" and _is_bfloat16(self.given, library):
            return library.from_dlpack(result.view(np.int16)).view(library.bfloat16)
        try:
            given_back = library.from_dlpack(result)
        except (BufferError, RuntimeError, TypeError):  # NumPy cannot hand out every type.
            given_back = library.asarray(result)
        _check_width(given_back, result)
        return given_back


def _check_width(given_back, result):
    """Raise an error if a library has no integers as wide as those of a result, which do not fit what it has.

    JAX has int32 alone, unless it is told otherwise, and cuts off the upper bits of int64 without a word.
    """
    size = getattr(given_back, "itemsize", result.itemsize)
    if result.dtype.kind == "i" and size < result.itemsize and result.size:
        limit = 2 ** (8 * size - 1)
        if not -limit <= result.min() <= result.max() < limit:
            raise OverflowError(
                f"outputs of the transform do not fit int{8 * size}, which is all that the library of the array has: "
                "give floats, or let it have 64 bits (jax_enable_x64)"
            )


def take(x):
    """Return x as NumPy sees it.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    Taken
    """
    if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack_device__"):
        array = np.asarray(x)
        return Taken(array, x, array is x or isinstance(x, np.memmap))
    device = int(x.__dlpack_device__()[0])
    if device not in CPU_MEMORY:
        raise TypeError(
            f"the array lies in the memory of a GPU or another device (DLPack's device type {device}): "
            f"move it to the CPU first; got {type(x).__module__}.{type(x).__qualname__}"
        )
    if getattr(x, "requires_grad", False):
        raise RuntimeError(
            "the gradient of the array would be lost: give x.detach(), or use the function with gradients of "
            "examples/torch_hadamard.py"
        )
    values = _written_out(x)
    try:
        return Taken(_looked_at(values), x, values is x)
    except (BufferError, RuntimeError, TypeError):  # NumPy does not know every type; some libraries convert themselves.
        return Taken(np.asarray(values), x, False)


def _written_out(x):
    """Return an array whose memory has its values.

    A tensor of torch may be the conjugate or the negative of its memory, the imaginary part of a conjugate, say. DLPack
    refuses the first, and hands out the memory of the second as it is, with the wrong signs.
    """
    for resolve in ("resolve_conj", "resolve_neg"):
        x = getattr(x, resolve)() if hasattr(x, resolve) else x
    return x


def _looked_at(x):
    """Return the memory of an array as an array of NumPy."""
    library = _library_of(x)
    if not _is_bfloat16(x, library):
        return np.from_dlpack(x)
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        raise ImportError(
            "arrays of bfloat16 need the package ml_dtypes: install it, or give them as float32"
        ) from None
    return np.from_dlpack(x.view(library.int16)).view(bfloat16)


def _is_bfloat16(x, library):
    """Return whether an array of a library is of its bfloat16, and can be seen as another type of as many bits."""
    return hasattr(library, "bfloat16") and x.dtype == library.bfloat16 and hasattr(x, "view")


def _library_of(x):
    """Return the module that makes arrays like x, if there is one and it can take NumPy's."""
    if not hasattr(x, "__dlpack__"):
        return None
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__()
    modules = (sys.modules.get(kind.__module__.partition(".")[0]) for kind in type(x).__mro__)
    return next((module for module in modules if hasattr(module, "from_dlpack")), None)
