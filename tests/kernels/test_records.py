"""Records travel to the compiled kernels field by field."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from isrht import kernels
from isrht.kernels.records import CsrRows, csr_rows

needs_core = pytest.mark.skipif(kernels._core is None, reason="no compiled kernels")


def test_indices_and_pointers_have_one_type():
    matrix = sp.csr_array(np.eye(3))
    assert csr_rows(matrix).indptr is matrix.indptr
    matrix.indices = matrix.indices.astype(np.int64)
    rows = csr_rows(matrix)
    assert np.shares_memory(rows.indices, matrix.indices)
    assert rows.indptr.dtype == np.int64
    assert_array_equal(rows.indptr, matrix.indptr)


def test_room_behind_the_last_value_is_left_out():
    matrix = sp.csr_array(np.eye(3))
    matrix.indices, matrix.data = np.append(matrix.indices, 99), np.append(matrix.data, np.nan)
    rows = csr_rows(matrix)
    assert_array_equal(rows.data, np.ones(3))
    assert_array_equal(rows.indices, np.arange(3))


@needs_core
@pytest.mark.parametrize(
    "change",
    [
        {"data": np.ones(3, int)},
        {"indices": np.arange(3)},
        {"indptr": np.array([0, 3])},
        {"data": np.ones(6)[::2]},
        {"data": None},
    ],
)
def test_arrays_of_other_types_or_strides_do_not_fit(change):
    rows = csr_rows(sp.csr_array(np.ones((1, 3))))
    kernels._core.add_csr_rows(rows, np.array([0]), np.zeros(3))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels._core.add_csr_rows(rows._replace(**change), np.array([0]), np.zeros(3))


@needs_core
@pytest.mark.parametrize("wrong", [(), (np.ones(1), np.zeros(1, np.int32)), [1, 2, 3], None, 5])
def test_what_is_no_record_does_not_fit(wrong):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernels._core.add_csr_rows(wrong, np.array([0]), np.zeros(3))


@needs_core
def test_signatures_name_the_records():
    assert f"{CsrRows.__module__}.{CsrRows.__name__}" in kernels._core.project_csr.__doc__
