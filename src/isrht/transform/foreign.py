"""Arrays of other libraries: taken without a copy where they lie in the memory of the CPU, and given back in kind.

Whatever has ``__dlpack__`` (torch, JAX, CuPy) tells where its memory is, and NumPy can look at it. A result goes back
through ``from_dlpack`` of the library that the array came from, which is its array namespace, or the package in which
its class is defined. No library is imported for it: who has one of its arrays has imported it. What has only
``__array__`` (pandas, h5py) becomes an array of NumPy, and so does the result.
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
        try:
            return library.from_dlpack(result)
        except (BufferError, RuntimeError, TypeError):  # NumPy cannot hand out every type: bfloat16, say.
            return library.asarray(result)


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
        return Taken(array, x, array is x)
    device = int(x.__dlpack_device__()[0])
    if device not in CPU_MEMORY:
        raise TypeError(
            f"the array lies in the memory of a GPU or another device (DLPack's device type {device}): "
            f"move it to the CPU first; got {type(x).__module__}.{type(x).__qualname__}"
        )
    try:
        return Taken(np.from_dlpack(x), x, True)
    except (BufferError, RuntimeError, TypeError):  # NumPy does not know every type; some libraries convert themselves.
        return Taken(np.asarray(x), x, False)


def _library_of(x):
    """Return the module that makes arrays like x, if there is one and it can take NumPy's."""
    if not hasattr(x, "__dlpack__"):
        return None
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__()
    module = sys.modules.get(type(x).__module__.partition(".")[0])
    return module if hasattr(module, "from_dlpack") else None
