import itertools
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import hadamard

import isrht
from isrht import kernels
from isrht.kernels import _reference
from isrht.transform import hadamard as fwht_module
from isrht.transform.hadamard import fwht, fwhtn, ifwht, ifwhtn
from isrht.transform.lengths import PALEY_ORDERS, paley_order
from isrht.transform.paley import hadamard_matrix, paley_matrix

FLOATS = [np.float32, np.float64]
INTEGERS = [np.int32, np.int64]
COMPLEX = [np.complex64, np.complex128]
# Of each type that is taken, that of the result where nothing is divided.
RESULT_TYPES = {
    **{"f2": "f2", "f4": "f4", "f8": "f8", ">f4": "f4", ">f8": "f8", "c8": "c8", "c16": "c16", ">c8": "c8"},
    **{"?": "i4", "i1": "i4", "u1": "i4", "i2": "i4", "u2": "i4", "i4": "i4", "u4": "i8", "i8": "i8", ">i8": "i8"},
    "u8": "f8",
}


@pytest.fixture
def always_threads(monkeypatch):
    monkeypatch.setattr(fwht_module, "WORTH_A_THREAD", 1)


def slow_fwht(x, axis=-1):
    """The NumPy twin along any axis, always a copy."""
    moved = np.ascontiguousarray(np.moveaxis(x, axis, -1)).copy()
    rows, order = moved.reshape(-1, moved.shape[-1], 1), paley_order(moved.shape[-1])
    if order == 1:
        _reference.transform(rows, 1)
    else:
        _reference.transform_paley(rows, paley_matrix(order), 1)
    return np.moveaxis(moved, -1, axis)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("log_length", range(11))
def test_agrees_with_the_matrix(kernel, dtype, log_length, rng):
    x = rng.standard_normal((7, 2**log_length)).astype(dtype)
    expected = x.astype(np.float64) @ hadamard(2**log_length)
    assert_allclose(fwht(x), expected, rtol=0, atol=np.finfo(dtype).eps * 8 * 2**log_length)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("log_length", range(21))
def test_every_kernel_gives_the_bits_of_the_twin(kernel, dtype, log_length, rng):
    x = rng.standard_normal((3, 2**log_length)).astype(dtype)
    assert_array_equal(fwht(x), slow_fwht(x))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("log_length", [0, 1, 3, 6, 7, 9, 13, 16])
def test_twice_is_the_length_times_the_identity(kernel, dtype, log_length, rng):
    x = rng.integers(-8, 8, (2, 2**log_length)).astype(dtype)
    assert_array_equal(fwht(fwht(x)), x * 2**log_length)
    assert_allclose(fwht(fwht(x, norm="ortho"), norm="ortho"), x, atol=1e-4)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows", range(34))
@pytest.mark.parametrize("length", [1, 2, 8, 32, 128, 512])
def test_any_number_of_rows(kernel, dtype, rows, length, rng):
    x = rng.standard_normal((rows, length)).astype(dtype)
    assert_array_equal(fwht(x), slow_fwht(x))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("offset", range(0, 68, 4))
@pytest.mark.parametrize("length", [4, 64, 1024, 4096, 8192, 16384])
def test_any_alignment(kernel, dtype, offset, length, rng):
    size = 3 * length * np.dtype(dtype).itemsize
    memory = np.full(size + 128, 7, np.uint8)
    if offset % np.dtype(dtype).itemsize:
        offset += 4  # NumPy calls a double at 4 bytes misaligned; see the test of misaligned input
    x = memory[offset : offset + size].view(dtype).reshape(3, length)
    x[...] = rng.standard_normal(x.shape)
    expected = slow_fwht(x)
    result = fwht(x, overwrite_x=True)
    assert result is x
    assert_array_equal(result, expected)
    assert (memory[:offset] == 7).all()
    assert (memory[offset + size :] == 7).all()


def test_misaligned_input_is_copied(kernel):
    x = np.frombuffer(b"\0" + np.arange(8.0).tobytes(), np.uint8)[1:].view(np.float64)
    assert not x.flags.aligned
    assert_array_equal(fwht(x, overwrite_x=True), slow_fwht(np.arange(8.0)))


@given(
    lengths=st.lists(st.integers(0, 4), min_size=0, max_size=3),
    log_length=st.integers(0, 8),
    place=st.integers(0, 3),
    dtype=st.sampled_from([*RESULT_TYPES]),
    order=st.permutations(range(4)),
    steps=st.lists(st.sampled_from([1, 1, -1, 2]), min_size=4, max_size=4),
    workers=st.sampled_from([None, 2, -1]),
)
@settings(deadline=None, max_examples=200)
def test_any_shape_axis_stride_and_type(lengths, log_length, place, dtype, order, steps, workers):
    axis = min(place, len(lengths))
    shape = [*lengths[:axis], 2**log_length, *lengths[axis:]]
    memory_order = [a for a in order if a < len(shape)]
    x = np.random.default_rng(0).integers(0, 100, [shape[a] * abs(steps[a]) for a in memory_order]).astype(dtype)
    x = x.transpose(np.argsort(memory_order))[tuple(slice(None, None, step) for step in steps[: len(shape)])]
    assert x.shape == tuple(shape)
    before = x.copy()
    result = fwht(x, axis=axis, workers=workers)
    assert_array_equal(x, before)
    assert result.dtype == RESULT_TYPES[dtype]
    assert_array_equal(result, slow_fwht(x.astype("f4" if dtype == "f2" else result.dtype), axis).astype(result.dtype))


def test_the_axis_may_be_given_by_position_and_the_rest_by_name(rng):
    x = rng.standard_normal((8, 3))
    assert_array_equal(fwht(x, 0), slow_fwht(x, 0))
    with pytest.raises(TypeError, match="positional"):
        fwht(x, 0, "ortho")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_in_place_wherever_the_memory_has_no_gaps(kernel, order, axis, rng):
    x = np.asarray(rng.standard_normal((4, 16, 8)), order=order)
    expected = slow_fwht(x, axis)
    assert fwht(x, axis=axis, overwrite_x=True) is x
    assert_array_equal(x, expected)


def test_in_place_in_rows_of_a_wider_array(kernel, rng):
    wide = rng.standard_normal((5, 40))
    view, rest = wide[:, :32], wide[:, 32:].copy()
    expected = slow_fwht(view)
    assert fwht(view, overwrite_x=True) is view
    assert_array_equal(view, expected)
    assert_array_equal(wide[:, 32:], rest)


def test_overwrite_leaves_what_cannot_be_overwritten(kernel, rng):
    for x in (rng.standard_normal((4, 8))[:, ::2], np.arange(8, dtype=np.int8), rng.standard_normal(8)[::-1]):
        before = x.copy()
        fwht(x, overwrite_x=True)
        assert_array_equal(x, before)
    frozen = rng.standard_normal(8)
    frozen.flags.writeable = False
    before = frozen.copy()
    assert fwht(frozen, overwrite_x=True) is not frozen
    assert_array_equal(frozen, before)


def test_nan_and_infinity_follow_ieee(kernel):
    with np.errstate(invalid="ignore"):
        assert np.isnan(fwht(np.array([np.nan, 1.0, 2.0, 3.0]))).all()
        assert_array_equal(fwht(np.array([np.inf, 1.0])), [np.inf, np.inf])
        assert_array_equal(fwht(np.array([1.0, np.inf])), [np.inf, -np.inf])
        assert np.isnan(fwht(np.array([np.inf, np.inf]))[1])


@pytest.mark.parametrize(
    ("length", "message"),
    [(13, "length 13: the nearest lengths are 12 and 16"), (3, "2 and 4"), (1000, "960 and 1024"), (0, "got 0")],
)
def test_other_lengths_are_refused(length, message):
    with pytest.raises(ValueError, match=message):
        fwht(np.zeros((2, length)))


@pytest.mark.parametrize(
    ("x", "options", "error", "message"),
    [
        (np.zeros(4, np.longdouble), {}, TypeError, "got float128|got longdouble"),
        (np.zeros(4, np.clongdouble), {}, TypeError, "complex"),
        (np.array(["a", "b"]), {}, TypeError, "got <U1"),
        (np.array([None, 1]), {}, TypeError, "object"),
        (np.zeros(4, "M8[s]"), {}, TypeError, "datetime"),
        (np.float64(1.0), {}, ValueError, "scalar"),
        (np.zeros(4), {"norm": "sideways"}, ValueError, "norm.*'sideways'"),
        (np.zeros(4), {"norm": ["ortho"]}, ValueError, "norm"),
        (np.zeros(4), {"norm": "ortho", "scale": 2.0}, ValueError, "either a norm or a scale"),
        (np.zeros(4), {"scale": "2"}, TypeError, "scale"),
        (np.zeros(4), {"scale": True}, TypeError, "scale"),
        (np.zeros(4), {"order": "walsh"}, ValueError, "order.*'walsh'"),
        (np.zeros(12), {"order": "sequency"}, ValueError, "power of two.*got 12"),
        (np.zeros(4), {"axis": 1}, ValueError, "axis 1"),
        (np.zeros(4), {"workers": 0}, ValueError, "workers.*0"),
        (np.zeros(4), {"workers": -1000}, ValueError, "workers.*-1000"),
    ],
)
def test_bad_input_is_named(x, options, error, message):
    with pytest.raises(error, match=message):
        fwht(x, **options)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, *COMPLEX])
@pytest.mark.parametrize("order", PALEY_ORDERS)
def test_other_orders_agree_with_the_matrix(kernel, dtype, order, rng):
    for rows, length in itertools.product((1, 17), (order, 4 * order, 16 * order)):
        matrix = hadamard_matrix(length)
        x = rng.integers(-9, 10, (rows, length)).astype(dtype)
        assert_array_equal(fwht(x), x @ matrix.astype(dtype))
        assert_array_equal(fwht(x.T.copy(), axis=0), (x @ matrix.astype(dtype)).T)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("order", PALEY_ORDERS)
def test_other_orders_give_the_bits_of_the_twin(kernel, dtype, order, rng, always_threads):
    for log_factor, inner in [(0, 1), (1, 1), (2, 1), (3, 1), (3, 3), (4, 1), (5, 2), (7, 1), (9, 1), (10, 1)]:
        x = rng.standard_normal((3, order << log_factor, inner)).astype(dtype)
        expected = slow_fwht(x, 1)
        for workers in (1, 2):
            assert_array_equal(fwht(x, 1, workers=workers), expected)


@pytest.mark.parametrize("length", [12 * 2048, 60 * 1024])
def test_other_orders_beyond_a_block_are_orthogonal_and_symmetric(kernel, length, rng):
    x, y = rng.integers(-9, 10, (2, length))
    assert_array_equal(fwht(fwht(x)), length * x)
    assert fwht(x) @ y == x @ fwht(y)
    assert fwht(x)[0] == x.sum()


def test_other_orders_beyond_a_block_have_their_matrix(rng):
    length = 12 * 512
    places = rng.integers(0, length, 5)
    units = np.zeros((5, length), np.int32)
    units[range(5), places] = 1
    assert_array_equal(fwht(units), hadamard_matrix(length, np.int8)[places])


@pytest.mark.parametrize("length", [1, 2, 32, 12, 96, 4096])
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_norms_are_those_of_scipy(kernel, length, dtype, rng):
    x = rng.standard_normal((3, length)).astype(dtype)
    tolerance = {"rtol": 1e-3 if x.real.dtype == np.float32 else 1e-11, "atol": np.abs(x).max() * 1e-4}
    factors = {None: 1, "backward": 1, "ortho": 1 / np.sqrt(length), "forward": 1 / length}
    for norm, factor in factors.items():
        assert_allclose(fwht(x, norm=norm), fwht(x) * factor, **tolerance)
        assert_allclose(ifwht(fwht(x, norm=norm), norm=norm), x, **tolerance)
        assert_allclose(fwht(ifwht(x, norm=norm), norm=norm), x, **tolerance)
        assert fwht(x, norm=norm).dtype == ifwht(x, norm=norm).dtype == dtype
    assert_array_equal(
        fwht(x, scale=0.3), fwht(x, scale=np.float32(0.3)).astype(dtype)
    ) if dtype == np.float32 else None
    assert_allclose(fwht(x, scale=0.3), fwht(x) * 0.3, **tolerance)
    assert_allclose(ifwht(x, scale=-2), fwht(x) * -2, **tolerance)


def test_integers_are_kept_where_nothing_is_divided():
    x = np.arange(8, dtype=np.int16)
    assert fwht(x).dtype == fwht(x, norm="backward").dtype == ifwht(x, norm="forward").dtype == np.int32
    for result in (
        fwht(x, norm="ortho"),
        fwht(x, norm="forward"),
        ifwht(x),
        fwht(x, scale=1),
        fwht(x[:1], norm="ortho"),
    ):
        assert result.dtype == np.float64
    assert_array_equal(ifwht(fwht(x)), x)
    assert_array_equal(fwht(np.arange(4, dtype=np.uint64) + 2**63).dtype, np.float64)
    large = np.array([2**53 + 1, 1, 0, 0])
    assert_array_equal(fwht(large), [2**53 + 2, 2**53, 2**53 + 2, 2**53])


@pytest.mark.parametrize("dtype", [np.float16, "bfloat16"])
def test_half_precision_is_transformed_in_float32_and_comes_back(kernel, dtype, rng):
    dtype = np.dtype(pytest.importorskip("ml_dtypes").bfloat16 if dtype == "bfloat16" else dtype)
    x = rng.standard_normal((5, 96)).astype(dtype)
    before = x.copy()
    for options in ({}, {"norm": "ortho"}, {"scale": 0.5}):
        result = fwht(x, **options)
        assert result.dtype == dtype
        assert_array_equal(result, fwht(x.astype(np.float32), **options).astype(dtype))
    assert fwht(x, overwrite_x=True) is not x
    assert_array_equal(x, before)
    assert fwhtn(x[:4], 0).dtype == dtype


def test_half_precision_may_overflow():
    x = np.full(4, 60000, np.float16)
    assert_array_equal(fwht(x), np.array([np.inf, 0, 0, 0], np.float16))
    with pytest.raises(OverflowError, match="float16"):
        fwht(x, check_overflow=True)
    assert_array_equal(fwht(x, norm="forward", check_overflow=True), np.array([60000, 0, 0, 0], np.float16))


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("log_length", range(15))
def test_complex_numbers_are_two_transforms(kernel, dtype, log_length, rng):
    x = (rng.standard_normal((3, 2**log_length, 2)) @ [1, 1j]).astype(dtype)
    expected = slow_fwht(x.real) + 1j * slow_fwht(x.imag)
    assert_array_equal(fwht(x), expected)
    assert fwht(x, overwrite_x=True) is x
    assert_array_equal(x, expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_complex_numbers_of_any_layout_need_no_copy(kernel, order, axis, rng):
    x = np.asarray(rng.standard_normal((4, 16, 8, 2)) @ [1, 1j], order=order)
    expected = slow_fwht(x.real, axis) + 1j * slow_fwht(x.imag, axis)
    assert fwht(x, axis, overwrite_x=True) is x
    assert_array_equal(x, expected)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("length", [1, 2, 4, 8, 16, 64, 512, 4096, 16384, 12, 3072])
def test_integers_wrap_around(kernel, dtype, length, rng):
    """So that the transform of the transform is the length times the values, whatever overflows on the way."""
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, (3, length), dtype=dtype, endpoint=True)
    with np.errstate(over="ignore"):
        assert_array_equal(fwht(fwht(x)), x * dtype(length))
    assert_array_equal(fwht(x), slow_fwht(x))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_overflow_of_integers_is_told_exactly(kernel, dtype):
    limits = np.iinfo(dtype)
    largest, least, half = int(limits.max), int(limits.min), int(limits.max) // 2 + 1
    fits = [
        [largest, 0],
        [least, 0],
        [half - 1, half],
        [-half, -half],
        [half, half - 1],
        [largest, 0, least + 1, 0][:2],
    ]
    overflows = [[half, half], [largest, 1], [least, -1], [0, least], [1, largest], [-1, largest - 1, 0, 3]]
    for values in fits:
        assert_array_equal(fwht(np.array(values, dtype), check_overflow=True), [sum(values), values[0] - values[1]])
    for values in overflows[:3] + overflows[3:4] + overflows[4:5]:
        with pytest.raises(OverflowError, match=f"do not fit {np.dtype(dtype).name}"):
            fwht(np.array(values, dtype), check_overflow=True)
    # What overflows only on the way is right in the end.
    many = np.array([largest, largest, -largest, -largest], dtype)
    with pytest.raises(OverflowError, match="1 outputs"):
        fwht(many, check_overflow=True)
    assert_array_equal(fwhtn(np.zeros((4, 4), dtype), check_overflow=True), 0)


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=8, max_size=8), st.sampled_from(INTEGERS))
@settings(deadline=None, max_examples=100)
def test_overflow_is_what_python_says(values, dtype):
    values = values if dtype == np.int32 else [value << 32 for value in values]
    exact = [sum(v * int(h) for v, h in zip(values, row, strict=True)) for row in hadamard(8)]
    limits = np.iinfo(dtype)
    x = np.array(values, dtype)
    if all(limits.min <= value <= limits.max for value in exact):
        assert fwht(x, check_overflow=True).tolist() == exact
    else:
        with pytest.raises(OverflowError):
            fwht(x, check_overflow=True)


def test_overflow_of_floats_is_told():
    x = np.full(4, 3e38, np.float32)
    assert np.isinf(fwht(x)[0])
    for overwrite in (False, True):
        with pytest.raises(OverflowError, match="float32"):
            fwht(x.copy(), check_overflow=True, overwrite_x=overwrite)
    assert np.isnan(fwht(np.array([np.inf, np.inf]), check_overflow=True)[1])


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "c16"])
@pytest.mark.parametrize("axes", [None, (0, 1), (1, 0), (-1,), 2, (), (0, 1, 2)])
def test_several_axes(kernel, dtype, axes, rng):
    x = rng.integers(-9, 10, (4, 12, 8)).astype(dtype)
    expected = x
    for axis in range(3) if axes is None else np.atleast_1d(np.array(axes, int)):
        expected = fwht(expected, int(axis))
    before = x.copy()
    assert_array_equal(fwhtn(x, axes), expected)
    assert_array_equal(x, before)
    size = np.prod([x.shape[a] for a in (range(3) if axes is None else np.atleast_1d(np.array(axes, int)))])
    assert_allclose(fwhtn(x, axes, norm="ortho"), expected / np.sqrt(size), rtol=1e-4, atol=1e-4)
    assert_allclose(fwhtn(x, axes, scale=0.25), expected * 0.25, rtol=1e-4, atol=1e-4)
    for norm in (None, "ortho", "forward"):
        assert_allclose(ifwhtn(fwhtn(x, axes, norm=norm), axes, norm=norm), x, rtol=1e-4, atol=1e-4)


def test_an_axis_is_transformed_once():
    with pytest.raises(ValueError, match=r"once, got \(0, -2\)"):
        fwhtn(np.zeros((4, 4)), (0, -2))
    with pytest.raises(ValueError, match="axis 2"):
        fwhtn(np.zeros((4, 4)), (0, 2))
    assert fwhtn(np.zeros((4, 4)), overwrite_x=True).shape == (4, 4)


@pytest.mark.parametrize("log_length", range(10))
def test_orders(kernel, log_length, rng):
    length = 2**log_length
    x = rng.integers(-9, 10, (3, length))
    matrix = hadamard(length)
    changes = np.count_nonzero(np.diff(matrix, axis=1), axis=1)
    by_sequency = matrix[np.argsort(changes)]
    reversed_bits = [int(f"{j:0{log_length}b}"[::-1], 2) if log_length else 0 for j in range(length)]
    for order, rows in {"sequency": by_sequency, "dyadic": matrix[reversed_bits], "natural": matrix}.items():
        assert_array_equal(fwht(x, order=order), x @ rows.T)
        assert_array_equal(fwht(x.T.copy(), 0, order=order, overwrite_x=True), (x @ rows.T).T)
        assert_array_equal(ifwht(fwht(x, order=order), order=order), x)
    image = rng.integers(-9, 10, (length, 8))
    expected = fwht(fwht(image, 0, order="sequency"), 1, order="sequency")
    assert_array_equal(fwhtn(image, order="sequency"), expected)


def test_orders_leave_their_input_alone(rng):
    x = rng.standard_normal((4, 64)).astype(np.float32)
    before = x.copy()
    result = fwht(x, order="sequency", overwrite_x=True)
    assert_array_equal(x, before)
    assert result.dtype == np.float32
    assert_allclose(ifwht(result, order="sequency"), x, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [1, 2, 8, 16, 256, 1024])
@pytest.mark.parametrize("inner", [2, 3, 16, 20, 33, 1001])
def test_along_an_axis_that_is_not_the_last(kernel, dtype, length, inner, rng):
    memory = rng.standard_normal(2 * length * inner + 1).astype(dtype)
    x = memory[1:].reshape(2, length, inner)
    assert_array_equal(fwht(x, axis=1), slow_fwht(x, 1))
    assert_allclose(
        fwht(x, axis=1, norm="ortho"), slow_fwht(x, 1) / np.sqrt(length), rtol=1e-5 if dtype == np.float32 else 1e-13
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((2**18,), 0),
        ((8,), 0),
        ((3, 2**17), 1),
        ((3, 4), 1),
        ((300, 1024), 1),
        ((64, 5000), 0),
        ((2, 256, 701), 1),
        ((4, 50000), 0),
        ((2, 70000, 2), 2),
        ((12 * 2**14,), 0),
        ((2, 28 * 2**12), 1),
        ((300, 96), 1),
    ],
)
def test_workers_give_the_same_bits(kernel, dtype, shape, axis, rng, always_threads):
    """Whether rows are shared out or, where they are few, the work within one."""
    x = rng.standard_normal(shape).astype(dtype)
    expected = slow_fwht(x, axis)
    for workers in (1, 2, 5):
        assert_array_equal(fwht(x, axis=axis, workers=workers), expected)


def test_workers_and_threads_give_the_same_bits(kernel, rng, always_threads):
    x = rng.standard_normal((37, 4096)).astype(np.float32)
    expected = fwht(x)
    assert_array_equal(fwht(x, workers=3), expected)
    assert_array_equal(fwht(x.T, axis=0, workers=2).T, expected)
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(fwht, [x] * 8):
            assert_array_equal(result, expected)


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads in /proc")
def test_helpers_end_with_the_thread_they_help(always_threads):
    if kernels.active() == "numpy":
        pytest.skip("the twin has no threads")

    def running():
        return set(os.listdir("/proc/self/task"))

    def helped():
        fwht(np.zeros((8, 1024)), workers=4)
        started.update(running() - before)

    before, started = running(), set()
    thread = threading.Thread(target=helped)
    thread.start()
    thread.join()
    assert len(started) == 4  # three help
    deadline = time.monotonic() + 20
    while started & running() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not started & running()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
def test_works_where_no_thread_can_be_started():
    """A thread's stack is memory, too: 1 MB more is too little for one."""
    script = """
import resource, threading
import numpy as np
from isrht import fwht
x = np.random.default_rng(0).standard_normal((2048, 1024), np.float32)
expected, equal = fwht(x), np.empty(x.shape, bool)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    threading.Thread(target=int).start()
except RuntimeError:
    fwht(x, workers=2, overwrite_x=True)
np.equal(x, expected, out=equal)
print(np.count_nonzero(equal))
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == str(2048 * 1024)


def _child(x):
    return fwht(x, workers=2)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # forking a threaded process is the point
def test_other_processes_after_use(method, rng):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    x = rng.standard_normal((2048, 1024), np.float32)
    assert x.size >= 2 * fwht_module.WORTH_A_THREAD
    expected = fwht(x, workers=2)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for result in pool.map_async(_child, [x] * 4).get(timeout=60):
            assert_array_equal(result, expected)


def test_environment_chooses_the_kernels():
    script = "import isrht.kernels as k; print(k.active())"
    for name in kernels.available():
        env = os.environ | {"ISRHT_KERNEL": name}
        out = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
        assert out.stdout.strip() == name
    env = os.environ | {"ISRHT_KERNEL": "abacus"}
    out = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True)
    assert out.returncode != 0
    assert "ISRHT_KERNEL='abacus' is not available here" in out.stderr


def test_is_public():
    assert isrht.fwht is isrht.transform.fwht is fwht
    assert (isrht.ifwht, isrht.fwhtn, isrht.ifwhtn) == (ifwht, fwhtn, ifwhtn)
