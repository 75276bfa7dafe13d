"""The Walsh-Hadamard transform of an array, in the manner of :mod:`scipy.fft`.

The transform of length d multiplies by a symmetric matrix H of 1 and -1 with orthogonal rows; of length d = 2**q, by
``H[k, j] = (-1)**popcount(k & j)`` in O(d log d) additions. Rows are transformed in place by the compiled kernels, as
many at a time as there are workers, or by several workers together where there are few; along an axis that is not the
last, whole rows are added to each other. Complex numbers are pairs of real ones, which lie in turns and are transformed
side by side. Integers stay what they are wherever nothing is divided.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from isrht import kernels
from isrht.support.threads import worker_count
from isrht.transform.foreign import take
from isrht.transform.halves import is_half, narrowed, widened
from isrht.transform.lengths import check_length, small_order
from isrht.transform.matrices import small_matrix
from isrht.transform.orders import ORDERS, input_permutation

# To transform this many values takes somewhat longer than to start a thread.
WORTH_A_THREAD = 2**20
# Values are split into two halves of so many bits, to see whether sums of them overflow 64.
HALF = 32


_Kept = TypeVar("_Kept", np.float16, np.float32, np.float64, np.complex64, np.complex128)
_Integer = TypeVar("_Integer", np.int32, np.int64)
_Norm = Literal["backward", "ortho", "forward"] | float | None
_Order = Literal["natural", "sequency", "dyadic"]


@overload
def fwht(
    x: NDArray[_Kept],
    axis: int = -1,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> NDArray[_Kept]: ...


@overload
def fwht(
    x: NDArray[_Integer],
    axis: int = -1,
    *,
    norm: Literal["backward"] | None = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> NDArray[_Integer]: ...


@overload
def fwht(
    x: Any,
    axis: int = -1,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> Any: ...


def fwht(
    x: Any,
    axis: int = -1,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> Any:
    """Compute the Walsh-Hadamard transform along one axis.

    Parameters
    ----------
    x : array_like
        float32, float64, complex64 and complex128 keep their type. float16 and bfloat16 (of ``ml_dtypes``) are
        transformed in float32 and come back in their own type. int32 and int64 are exact and keep their type, where
        nothing is divided; smaller integers and booleans become int32, uint32 becomes int64. Integers that are divided,
        by a norm, and uint64 become float64. Arrays of other libraries in the memory of the CPU (torch, JAX)
        are taken without a copy, and come back as what they were.
    axis : int, default=-1
        The axis to transform. Its length must be a power of two, or a power of two times 12, 20, 28, 36, 44, 52 or 60;
        :func:`isrht.next_fast_len` tells the next.
    norm : {None, "backward", "ortho", "forward"} or float, default=None
        As in :mod:`scipy.fft`. "ortho" divides by the square root of the length, which makes the transform its own
        inverse; "forward" divides by the length; "backward", which is what None means, divides nothing: transforming
        twice multiplies by the length. A number is a factor of your own, which other libraries call a scale.
    order : {"natural", "sequency", "dyadic"}, default="natural"
        The order of the outputs: Sylvester's; by the number of changes of sign (Walsh's); or Paley's. The last two need
        a power of two.
    overwrite_x : bool, default=False
        Allow the result to take the place of ``x``. It then really does where ``x`` is a writeable array of a type
        in which it is transformed (not of half precision), in native byte order and natural order, whose memory has no
        gaps within a row.
    workers : int, optional
        Threads to use, as in :mod:`scipy.fft`: None is 1, -1 is all cores. Fewer are used where they would not
        pay, below a million values each. The result does not depend on it.
    check_overflow : bool, default=False
        Raise an OverflowError where a result does not fit its type. Without it integers wrap around, and floats become
        infinite. Outputs are as large as the sum of all absolute values of a row. The check of integers is exact, and
        takes up to four times as long as the transform. Floats overflow where a sum does, before a norm divides it.

    Returns
    -------
    array
        The transform, of the shape of ``x``.

    See Also
    --------
    isrht.ifwht : The inverse.
    isrht.fwhtn : The transform along several axes.
    isrht.hadamard_matrix : The matrix of the transform.
    isrht.ISRHT : Project rows on the rotated columns that tell most, without storing the others.

    References
    ----------
    .. [1] B. J. Fino and V. R. Algazi, "Unified matrix treatment of the fast Walsh-Hadamard transform", IEEE
           Transactions on Computers C-25(11), 1976.
    .. [2] R. E. A. C. Paley, "On orthogonal matrices", Journal of Mathematics and Physics 12, 1933.
    .. [3] J. Williamson, "Hadamard's determinant theorem and the sum of four squares", Duke Mathematical Journal 11,
           1944.

    Examples
    --------
    >>> import isrht
    >>> isrht.fwht([1.0, 0.0, 1.0, 0.0])
    array([2., 2., 0., 0.])
    >>> isrht.fwht([[1.0, 2.0], [3.0, 4.0]], 0)
    array([[ 4.,  6.],
           [-2., -2.]])
    >>> isrht.fwht([1, 0, 1, 0, 0, 1, 1, 0], order="sequency")
    array([ 4,  0,  0,  0, -2,  2,  2,  2])
    """
    how = _How(norm, order, workers, check_overflow, inverse=False)
    return _transformed(x, lambda ndim: (_checked_axis(axis, ndim),), how, overwrite_x)


@overload
def ifwht(
    x: NDArray[_Kept],
    axis: int = -1,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> NDArray[_Kept]: ...


@overload
def ifwht(
    x: Any,
    axis: int = -1,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> Any: ...


def ifwht(
    x: Any,
    axis: int = -1,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> Any:
    """Compute the inverse of :func:`fwht` of the same norm and order.

    The matrix of the transform is symmetric, so the inverse is the transform again, divided by what the norm leaves to
    it: by the length with "backward" (or None), by its square root with "ortho", by nothing with "forward".

    Parameters
    ----------
    x, axis, norm, order, overwrite_x, workers, check_overflow
        As those of :func:`fwht`; a number as ``norm`` is the factor of the inverse itself.

    Returns
    -------
    array
        The inverse transform, of the shape of ``x``. Integers stay integers with "forward" alone.

    Examples
    --------
    >>> import isrht
    >>> isrht.ifwht(isrht.fwht([1.0, 2.0, 3.0, 4.0]))
    array([1., 2., 3., 4.])
    """
    how = _How(norm, order, workers, check_overflow, inverse=True)
    return _transformed(x, lambda ndim: (_checked_axis(axis, ndim),), how, overwrite_x)


@overload
def fwhtn(
    x: NDArray[_Kept],
    axes: Any = None,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> NDArray[_Kept]: ...


@overload
def fwhtn(
    x: NDArray[_Integer],
    axes: Any = None,
    *,
    norm: Literal["backward"] | None = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> NDArray[_Integer]: ...


@overload
def fwhtn(
    x: Any,
    axes: Any = None,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> Any: ...


def fwhtn(
    x: Any,
    axes: Any = None,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> Any:
    """Compute the Walsh-Hadamard transform along several axes: of images, say.

    Parameters
    ----------
    x, norm, order, overwrite_x, workers, check_overflow
        As those of :func:`fwht`. A norm divides by the product of all lengths, or its square root; a number multiplies
        once.
    axes : sequence of int, optional
        The axes to transform, each once. None means all of them.

    Returns
    -------
    array
        The transform, of the shape of ``x``.

    Examples
    --------
    >>> import isrht
    >>> isrht.fwhtn([[1.0, 2.0], [3.0, 4.0]])
    array([[10., -2.],
           [-4.,  0.]])
    """
    how = _How(norm, order, workers, check_overflow, inverse=False)
    return _transformed(x, lambda ndim: _checked_axes(axes, ndim), how, overwrite_x)


@overload
def ifwhtn(
    x: NDArray[_Kept],
    axes: Any = None,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> NDArray[_Kept]: ...


@overload
def ifwhtn(
    x: Any,
    axes: Any = None,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> Any: ...


def ifwhtn(
    x: Any,
    axes: Any = None,
    *,
    norm: _Norm = None,
    order: _Order = "natural",
    overwrite_x: bool = False,
    workers: int | None = None,
    check_overflow: bool = False,
) -> Any:
    """Compute the inverse of :func:`fwhtn` of the same axes, norm and order.

    Parameters
    ----------
    x, axes, norm, order, overwrite_x, workers, check_overflow
        As those of :func:`fwhtn`; a number as ``norm`` is the factor of the inverse itself.

    Returns
    -------
    array
        The inverse transform, of the shape of ``x``.

    Examples
    --------
    >>> import isrht
    >>> isrht.ifwhtn(isrht.fwhtn([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 2.],
           [3., 4.]])
    """
    how = _How(norm, order, workers, check_overflow, inverse=True)
    return _transformed(x, lambda ndim: _checked_axes(axes, ndim), how, overwrite_x)


@dataclass(frozen=True)
class _How:
    """How to transform, as the user says it."""

    norm: str | float | None
    order: str
    workers: int | None
    check_overflow: bool
    inverse: bool

    def __post_init__(self):
        named = isinstance(self.norm, str) and self.norm in ("backward", "ortho", "forward")
        if not (self.norm is None or named or self.is_factor):
            raise ValueError(f'norm must be None, "backward", "ortho", "forward" or a number, got {self.norm!r}')
        if not (isinstance(self.order, str) and self.order in ORDERS):
            raise ValueError(f'order must be "natural", "sequency" or "dyadic", got {self.order!r}')

    @property
    def is_factor(self):
        """Whether the norm is a factor of the user's own."""
        return isinstance(self.norm, Real) and not isinstance(self.norm, bool | np.bool_)

    @property
    def keeps_integers(self):
        """Whether nothing is divided, whatever the length."""
        return not self.is_factor and self.norm != "ortho" and (self.norm == "forward") == self.inverse

    def factor(self, size):
        """Return the factor of a transform whose lengths have this product."""
        if self.is_factor:
            return float(self.norm)
        if self.norm == "ortho":
            return 1 / math.sqrt(size)
        return 1.0 if self.keeps_integers else 1 / size


def _transformed(x, choose_axes, how, overwrite_x):
    """Transform the axes that ``choose_axes`` tells for a number of dimensions."""
    if np.ma.is_masked(x):
        raise ValueError("x has masked values, and every output is a sum of all: fill them first, by x.filled(0), say")
    taken = take(x)
    array = taken.array
    if array.dtype == object and array.ndim == 0 and not isinstance(x, np.ndarray):
        raise TypeError(f"fwht transforms arrays of numbers, got {type(x).__module__}.{type(x).__qualname__}")
    work_type = _type_of_work(array.dtype, how.keeps_integers)
    axes = choose_axes(array.ndim)
    for axis in axes:
        check_length(array.shape[axis])
        if how.order != "natural" and small_order(array.shape[axis]) != 1:
            raise ValueError(f"order={how.order!r} needs a power of two for a length, got {array.shape[axis]}")
    wanted = worker_count(how.workers)
    if how.check_overflow and work_type.kind == "i":
        _check_integers(array, axes)
    threads = max(1, min(wanted, array.size // WORTH_A_THREAD))
    factor = how.factor(math.prod(array.shape[axis] for axis in axes))
    in_place = overwrite_x and taken.shared and _can_be_overwritten(array, axes, work_type, how.order)
    work = array if in_place else _copied(array, axes, work_type, how.order)
    _transform(work, axes, factor, threads)
    result = narrowed(work, array.dtype) if is_half(array.dtype) else work
    if how.check_overflow and work_type.kind in "fc":
        _check_floats(array if result is not array else None, result, axes)
    return taken.give_back(result)


def _type_of_work(dtype, keeps_integers):
    """Return the type in which values of a type are transformed."""
    if dtype.name in ("float32", "float64", "complex64", "complex128"):
        return dtype.newbyteorder("=")
    if is_half(dtype):
        return np.dtype(np.float32)
    if dtype.kind == "u" and dtype.itemsize == 8:
        return np.dtype(np.float64)
    if dtype.kind in "iub":
        return np.dtype((np.int32 if _fits_int32(dtype) else np.int64) if keeps_integers else np.float64)
    raise TypeError(f"fwht transforms real and complex numbers of at most 64 bits per part, and integers, got {dtype}")


def _fits_int32(dtype):
    """Return whether all values of a type of integers fit int32, whatever the order of their bytes."""
    return np.can_cast(dtype, np.int32)


def _checked_axis(axis, ndim):
    if ndim == 0:
        raise ValueError("fwht needs an array of at least one dimension, got a scalar")
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of range for an array of {ndim} dimensions")
    return axis % ndim


def _checked_axes(axes, ndim):
    if axes is None:
        axes = range(ndim)
    elif not np.iterable(axes):
        axes = (axes,)
    checked = tuple(_checked_axis(axis, ndim) for axis in axes)
    if len(set(checked)) < len(checked):
        raise ValueError(f"each of the axes may be given once, got {tuple(axes)}")
    return checked


def _can_be_overwritten(array, axes, work_type, order):
    kept = array.dtype == work_type and array.dtype.isnative and array.flags.writeable and order == "natural"
    return kept and all(_as_cube(array, axis) is not None for axis in axes)


def _copied(array, axes, work_type, order):
    """Return a copy to be transformed in place, in which every axis has a cube, in the order of the inputs."""
    if order != "natural":
        for axis in axes:
            array = np.take(array, input_permutation(array.shape[axis], order), axis=axis)
    if is_half(array.dtype):
        return widened(array)
    copy = np.array(array, dtype=work_type, order="K", copy=True if order == "natural" or not axes else None)
    return copy if all(_as_cube(copy, axis) is not None for axis in axes) else np.ascontiguousarray(copy)


def _transform(array, axes, factor, threads):
    """Transform axes in place, and multiply by a factor."""
    if not array.size:
        return
    if not axes:
        np.multiply(array, array.dtype.type(factor), out=array)
    for axis in axes:
        cube = _as_cube(array, axis)
        if array.dtype.kind == "c":
            cube = cube.view(cube.real.dtype)
        scale = factor if axis == axes[-1] else 1.0
        order = small_order(array.shape[axis])
        if order == 1:
            kernels.engine.transform(cube, scale, threads)
        else:
            kernels.engine.transform_streams(cube, small_matrix(order), scale, threads)


def _check_integers(array, axes):
    """Raise an error unless all outputs fit the type that integers are kept in. Sums on the way may wrap around."""
    small = _fits_int32(array.dtype)
    if array.size == 0:
        return
    wide = array.astype(np.int64)
    largest = max(abs(int(wide.min())), abs(int(wide.max())))
    size, limit = math.prod(array.shape[axis] for axis in axes), 2**31 if small else 2**63
    if largest * size < limit:
        return
    high, low = _copied(wide >> HALF, axes, wide.dtype, "natural"), wide & (2**HALF - 1)
    _transform(high, axes, 1, 1)
    low = _copied(low, axes, wide.dtype, "natural")
    _transform(low, axes, 1, 1)
    high += low >> HALF
    fits = (-limit >> HALF <= high) & (high < limit >> HALF)
    if small:
        low &= 2**HALF - 1
        fits = ((high == 0) & (low < limit)) | ((high == -1) & (low >= 2**HALF - limit))
    if not fits.all():
        raise OverflowError(
            f"{np.count_nonzero(~fits)} outputs of the transform do not fit {'int32' if small else 'int64'}: "
            f"give {'int64 or ' if small else ''}float64, or smaller numbers"
        )


def _check_floats(array, result, axes):
    """Raise an error if finite rows have become infinite. ``array`` is None where the result has taken its place."""
    if np.isfinite(result).all():
        return
    if array is None or (np.isfinite(array).all(axis=axes) & ~np.isfinite(result).all(axis=axes)).any():
        raise OverflowError(
            f"the transform overflows {result.dtype}: give a wider type or smaller numbers"
            + ("" if array is not None else ", unless some of them were not finite before")
        )


def _as_cube(array, axis):
    """Return a view (outer, length, inner) whose (length, inner) are contiguous, each apart; None if there is none.

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
    apart = len(cube) <= 1 or cube.strides[0] >= length * inner * item  # Windows of an array may have values in common.
    return cube if contiguous and apart and cube.flags.aligned else None
