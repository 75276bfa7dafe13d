import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import hadamard
from slow_fwht import COMPLEX, FLOATS, INTEGERS, slow_fwht

import isrht
from isrht.transform.hadamard import fwht, fwhtn, ifwht, ifwhtn
from isrht.transform.lengths import SMALL_ORDERS
from isrht.transform.matrices import hadamard_matrix

# Of each type that is taken, that of the result where nothing is divided.
RESULT_TYPES = {
    **{"f2": "f2", "f4": "f4", "f8": "f8", ">f4": "f4", ">f8": "f8", "c8": "c8", "c16": "c16", ">c8": "c8"},
    **{"?": "i4", "i1": "i4", "u1": "i4", "i2": "i4", "u2": "i4", "i4": "i4", "u4": "i8", "i8": "i8", ">i8": "i8"},
    "u8": "f8",
}


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


def test_rows_that_lie_at_no_even_distance_are_transformed_in_a_copy(kernel, rng):
    view = rng.standard_normal((3, 8, 16))[:, :4]
    before = view.copy()
    assert_array_equal(fwht(view, overwrite_x=True), slow_fwht(before))
    assert_array_equal(view, before)


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
        (np.zeros(4), {"norm": "2"}, ValueError, "norm.*'2'"),
        (np.zeros(4), {"norm": True}, ValueError, "norm.*True"),
        (np.zeros(4), {"norm": 1j}, ValueError, "norm.*1j"),
        (np.zeros(4), {"order": "walsh"}, ValueError, "order.*'walsh'"),
        (np.zeros(12), {"order": "sequency"}, ValueError, "power of two.*got 12"),
        (np.zeros(4), {"axis": 1}, ValueError, "axis 1"),
        (np.zeros(4), {"workers": 0}, ValueError, "workers.*0"),
        (np.zeros(4), {"workers": 1.5}, TypeError, "workers.*1.5"),
        (np.ma.array(np.zeros(4), mask=[0, 1, 0, 0]), {}, ValueError, "masked.*filled"),
        (sp.eye_array(4), {}, TypeError, "scipy.sparse"),
        (None, {}, TypeError, "NoneType"),
        (np.zeros(4), {"workers": -1000}, ValueError, "workers.*-1000"),
    ],
)
def test_bad_input_is_named(x, options, error, message):
    with pytest.raises(error, match=message):
        fwht(x, **options)


def test_windows_that_overlap_are_not_transformed_in_place(rng):
    memory = rng.standard_normal(48)
    windows = np.lib.stride_tricks.sliding_window_view(memory, 16, writeable=True)[::8]
    expected = windows @ hadamard_matrix(16)
    assert_allclose(fwht(windows, overwrite_x=True), expected, atol=1e-12)
    apart = windows[::2]
    assert fwht(apart, overwrite_x=True) is apart


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, *COMPLEX])
@pytest.mark.parametrize("order", SMALL_ORDERS)
def test_other_orders_agree_with_the_matrix(kernel, dtype, order, rng):
    for rows, length in itertools.product((1, 17), (order, 4 * order, 16 * order)):
        matrix = hadamard_matrix(length)
        x = rng.integers(-9, 10, (rows, length)).astype(dtype)
        assert_array_equal(fwht(x), x @ matrix.astype(dtype))
        assert_array_equal(fwht(x.T.copy(), axis=0), (x @ matrix.astype(dtype)).T)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("order", SMALL_ORDERS)
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
    assert_allclose(fwhtn(x, axes, norm=0.25), expected * 0.25, rtol=1e-4, atol=1e-4)
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


def test_is_public():
    assert isrht.fwht is isrht.transform.fwht is fwht
    assert (isrht.ifwht, isrht.fwhtn, isrht.ifwhtn) == (ifwht, fwhtn, ifwhtn)
