import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht.transform.halves import is_half, narrowed, widened

ALL = np.arange(2**16, dtype=np.uint16)


def half_type(name):
    return np.dtype(pytest.importorskip("ml_dtypes").bfloat16 if name == "bfloat16" else name)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_every_number_goes_there_and_back(kernel, name):
    halves = ALL.view(half_type(name))
    values = widened(halves)
    with np.errstate(invalid="ignore"):
        assert_array_equal(values, halves.astype(np.float32))
    assert_array_equal(np.signbit(values), np.signbit(halves))
    nan = np.isnan(values)
    assert_array_equal(narrowed(values, halves.dtype).view(np.uint16)[~nan], ALL[~nan])
    assert np.isnan(narrowed(values, halves.dtype)[nan]).all()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_rounds_as_numpy_does(kernel, name, rng):
    dtype = half_type(name)
    half_a_place = 2**12 if name == "float16" else 2**15  # Ties go to the even one.
    halfway = (widened(ALL.view(dtype)).view(np.uint32).astype(np.int64) + half_a_place) % 2**32
    values = (
        np.concatenate([rng.integers(0, 2**32, 50_003), halfway, halfway - 1, halfway + 1])
        .astype(np.uint32)
        .view(np.float32)
    )
    with np.errstate(over="ignore", invalid="ignore"):
        expected = values.astype(dtype)
    result, nan = narrowed(values, dtype), np.isnan(values)
    assert_array_equal(result.view(np.uint16)[~nan], expected.view(np.uint16)[~nan])
    assert np.isnan(result[nan].astype(np.float32)).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(0, 4), (3, 5), (2, 3, 7)])
def test_any_layout(kernel, shape, order, rng):
    halves = rng.standard_normal(shape).astype(np.float16, order=order)
    for some in (halves, halves[..., ::2], halves[::-1], halves.astype(">f2")):
        values = widened(some)
        assert values.dtype == np.float32
        assert_array_equal(values, some)
        assert_array_equal(narrowed(values, some.dtype), some)
        assert narrowed(values, some.dtype).dtype == np.float16


def test_which_types_are_halves():
    assert is_half(np.dtype(np.float16))
    assert not is_half(np.dtype(np.float32))
    assert not is_half(np.dtype(np.int16))
