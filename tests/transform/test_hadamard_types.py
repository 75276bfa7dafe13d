"""What the transform makes of types: norms, integers, half precision, complex numbers, and what overflows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import hadamard
from slow_fwht import COMPLEX, FLOATS, INTEGERS, slow_fwht

from isrht.transform.hadamard import fwht, fwhtn, ifwht


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
    for factor in (0.3, np.float32(0.3), -2):
        assert_allclose(fwht(x, norm=factor), fwht(x) * factor, **tolerance)
        assert_allclose(ifwht(x, norm=factor), fwht(x) * factor, **tolerance)


def test_integers_are_kept_where_nothing_is_divided():
    x = np.arange(8, dtype=np.int16)
    assert fwht(x).dtype == fwht(x, norm="backward").dtype == ifwht(x, norm="forward").dtype == np.int32
    for result in (
        fwht(x, norm="ortho"),
        fwht(x, norm="forward"),
        ifwht(x),
        fwht(x, norm=1),
        fwht(x[:1], norm="ortho"),
    ):
        assert result.dtype == np.float64
    assert_array_equal(ifwht(fwht(x)), x)
    assert_array_equal(fwht(np.arange(4, dtype=np.uint64) + 2**63).dtype, np.float64)
    large = np.array([2**53 + 1, 1, 0, 0])
    assert_array_equal(fwht(large), [2**53 + 2, 2**53, 2**53 + 2, 2**53])


@pytest.mark.parametrize("dtype", ["i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_the_order_of_bytes_changes_nothing(dtype, rng):
    x = rng.integers(0, 100, (3, 8)).astype(dtype)
    swapped = x.astype(x.dtype.newbyteorder("S"))
    for options in ({}, {"check_overflow": True}, {"order": "sequency"}, {"norm": "ortho"}, {"overwrite_x": True}):
        result, expected = fwht(swapped, **options), fwht(x.copy(), **options)
        assert result.dtype == expected.dtype
        assert_array_equal(result, expected)
    if dtype == "i4":
        with pytest.raises(OverflowError, match="int32"):
            fwht(np.full(4, 2**30, swapped.dtype), check_overflow=True)


@pytest.mark.parametrize("dtype", [np.float16, "bfloat16"])
def test_half_precision_is_transformed_in_float32_and_comes_back(kernel, dtype, rng):
    dtype = np.dtype(pytest.importorskip("ml_dtypes").bfloat16 if dtype == "bfloat16" else dtype)
    x = rng.standard_normal((5, 96)).astype(dtype)
    before = x.copy()
    for options in ({}, {"norm": "ortho"}, {"norm": 0.5}):
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
    nothing = fwht(np.zeros((0, 4), dtype), check_overflow=True)
    assert (nothing.shape, nothing.dtype) == ((0, 4), dtype)


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


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_overflow_is_told_beside_rows_that_were_not_finite(dtype, bad):
    largest = np.finfo(dtype).max
    rows = np.array([[bad, 1], [largest, largest]], dtype)
    for x, axis in ((rows, -1), (rows.T.copy(), 0)):
        with pytest.raises(OverflowError, match=np.dtype(dtype).name):
            fwht(x, axis, check_overflow=True)
    rows[1] = 1
    assert_array_equal(fwht(rows, check_overflow=True)[1], [2, 0])
    assert not np.isfinite(fwhtn(rows, check_overflow=True)).all()
