"""The Walsh-Hadamard transform of an array, in the manner of :mod:`scipy.fft`.

The transform of length d = 2**q multiplies by the symmetric matrix ``H[k, j] = (-1)**popcount(k & j)`` in
O(d log d) additions. Rows are transformed in place by the compiled kernels, as many at a time as there are workers, or
by several workers together where there are few; along an axis that is not the last, whole rows are added to each other.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isrht import kernels
from isrht.support.threads import worker_count

# The greatest length that kernels can index.
LONGEST = 2**30
# To transform this many values takes somewhat longer than to start a thread.
WORTH_A_THREAD = 2**20


@overload
def fwht(  # type: ignore[overload-overlap]  # NumPy calls short floats subtypes of long ones
    x: NDArray[np.float32] | NDArray[np.float16],
    axis: int = -1,
    *,
    norm: Literal["ortho"] | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> NDArray[np.float32]: ...


@overload
def fwht(
    x: NDArray[np.float64] | NDArray[np.integer] | NDArray[np.bool_] | list[Any] | tuple[Any, ...],
    axis: int = -1,
    *,
    norm: Literal["ortho"] | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> NDArray[np.float64]: ...


@overload
def fwht(
    x: ArrayLike,
    axis: int = -1,
    *,
    norm: Literal["ortho"] | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> NDArray[np.float32] | NDArray[np.float64]: ...


def fwht(
    x: ArrayLike,
    axis: int = -1,
    *,
    norm: Literal["ortho"] | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
) -> NDArray[np.float32] | NDArray[np.float64]:
    """Compute the Walsh-Hadamard transform along one axis, whose length must be a power of two.

    Parameters
    ----------
    x : array_like
        Real numbers. float32 and float64 keep their precision, float16 becomes float32, integers and booleans
        become float64.
    axis : int, default=-1
        The axis to transform.
    norm : {None, "ortho"}, default=None
        "ortho" divides by the square root of the length, which makes the transform its own inverse; None does
        not: transforming twice multiplies by the length.
    overwrite_x : bool, default=False
        Allow the result to take the place of ``x``. It then really does where ``x`` is a writeable float32 or
        float64 array in native byte order whose memory has no gaps within a row.
    workers : int, optional
        Threads to use, as in :mod:`scipy.fft`: None is 1, -1 is all cores. Fewer are used where they would not
        pay, below a million values each. The result does not depend on it.

    Returns
    -------
    ndarray
        The transform, of the shape of ``x``. Column j is in natural (Hadamard) order.

    See Also
    --------
    scipy.linalg.hadamard : The matrix of the transform, for lengths that are small enough to store it.
    isrht.ISRHT : Project rows on the rotated columns that tell most, without storing the others.

    References
    ----------
    .. [1] B. J. Fino and V. R. Algazi, "Unified matrix treatment of the fast Walsh-Hadamard transform", IEEE
           Transactions on Computers C-25(11), 1976.

    Examples
    --------
    >>> import isrht
    >>> isrht.fwht([1.0, 0.0, 1.0, 0.0])
    array([2., 2., 0., 0.])
    >>> isrht.fwht([[1.0, 2.0], [3.0, 4.0]], 0)
    array([[ 4.,  6.],
           [-2., -2.]])
    """
    array = _as_real(x)
    axis = _checked_axis(axis, array.ndim)
    length = array.shape[axis]
    check_length(length)
    if norm not in (None, "ortho"):
        raise ValueError(f'norm must be None or "ortho", got {norm!r}')
    threads = max(1, min(worker_count(workers), array.size // WORTH_A_THREAD))
    if not (overwrite_x and array is x and array.flags.writeable and _as_cube(array, axis) is not None):
        array = np.array(array, order="K", copy=True)
        if _as_cube(array, axis) is None:
            array = np.ascontiguousarray(array)
    if array.size:
        scale = 1 / math.sqrt(length) if norm == "ortho" else 1.0
        kernels.engine.transform(_as_cube(array, axis), scale, threads)
    return array


def next_power_of_two(length):
    """Return the smallest power of two that is at least ``length``."""
    return 1 << max(0, length - 1).bit_length()


def check_length(length):
    """Raise an error if a length is not a power of two, or is greater than that of the longest transform."""
    if length < 1 or length & (length - 1):
        raise ValueError(
            f"the length of a Walsh-Hadamard transform must be a power of two, got {length}; "
            f"pad with zeros to {next_power_of_two(length)}"
        )
    if length > LONGEST:
        raise ValueError(f"the length of a Walsh-Hadamard transform is at most 2**30, got {length}")


def _as_real(x):
    """Return x itself where its numbers can be transformed as they are, else a copy in a precision that can."""
    array = np.asarray(x)
    if array.dtype.kind == "c":
        raise TypeError(f"fwht transforms real numbers, got {array.dtype}; transform .real and .imag apart")
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise TypeError(f"fwht transforms float32 and float64 (and what converts to them), got {array.dtype}")
    if array.dtype.kind == "f" and array.dtype.itemsize >= 4:
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def _checked_axis(axis, ndim):
    if ndim == 0:
        raise ValueError("fwht needs an array of at least one dimension, got a scalar")
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of range for an array of {ndim} dimensions")
    return axis % ndim


def _as_cube(array, axis):
    """Return a view (outer, length, inner) whose (length, inner) are contiguous; None if memory has no such order.

    Axes are taken in the order in which they lie in memory, so Fortran-ordered arrays need no copy.
    """
    order = sorted(range(array.ndim), key=lambda a: (-abs(array.strides[a]), a))
    place = order.index(axis)
    before, after = order[:place], order[place + 1 :]
    length, inner = array.shape[axis], math.prod(array.shape[a] for a in after)
    view = array.transpose(*before, axis, *after)
    try:
        cube = view.reshape(-1, length, inner, copy=False) if array.size else view.reshape(0, length, 1)
    except ValueError:
        return None
    item = array.itemsize
    contiguous = (inner == 1 or cube.strides[2] == item) and (length == 1 or cube.strides[1] == inner * item)
    return cube if contiguous and cube.strides[0] >= 0 and cube.flags.aligned else None
