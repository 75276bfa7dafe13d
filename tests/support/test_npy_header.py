"""NumPy must read the header as it was meant."""

import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht.support.npy_header import npy_header


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("at_least", [0, 128, 256])
@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3), (3, 1), (1, 70_000)])
@pytest.mark.parametrize("dtype", ["<f8", "<f4", "|u1", "<U7"])
def test_numpy_reads_the_header(dtype, shape, at_least, order):
    array = np.asarray(np.arange(np.prod(shape)).reshape(shape) % 100, dtype=dtype, order=order)
    header = npy_header(dtype, shape, order == "F", at_least=at_least)
    assert len(header) % 64 == 0
    assert len(header) >= at_least
    read = np.load(io.BytesIO(header + array.tobytes(order)), allow_pickle=False)
    assert read.dtype == array.dtype
    assert_array_equal(read, array)


def test_a_header_of_a_given_size_has_room_for_any_shape():
    sizes = {len(npy_header("<f8", shape, at_least=128)) for shape in [(0, 0), (1, 5), (2**62, 2**31)]}
    assert sizes == {128}
