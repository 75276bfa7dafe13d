"""Checks that estimators share."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from isrht import ISRHT, HadamardRotation, LinearSVM
from isrht.rows.weights import check_class_weight, checked_sample_weight
from isrht.support.validation import check_n_jobs, checked_block


def csr():
    return sp.random_array((6, 10), density=0.4, format="csr", random_state=0)


def stepped(array):
    return np.repeat(array, 2)[::2]


def misaligned(array):
    memory = np.zeros(array.nbytes + 1, dtype=np.uint8)
    view = np.ndarray(array.shape, array.dtype, buffer=memory, offset=1)
    view[...] = array
    return view


ODD_PARTS = {
    "steps": stepped,
    "misaligned": misaligned,
    "int16": lambda array: array.astype(np.int16) if array.dtype.kind == "i" else array,
    "uint64": lambda array: array.astype(np.uint64) if array.dtype.kind == "i" else array,
    "swapped": lambda array: array.astype(array.dtype.newbyteorder(">")) if array.dtype.kind == "i" else array,
}


@pytest.mark.parametrize("name", ODD_PARTS)
@pytest.mark.parametrize("parts", [("data", "indices", "indptr"), ("indptr",), ("indices",)])
def test_sparse_rows_come_out_as_compiled_code_needs_them(name, parts):
    X = csr()
    for part in parts:
        setattr(X, part, ODD_PARTS[name](getattr(X, part)))
    before = [getattr(X, part) for part in ("data", "indices", "indptr")]
    found = checked_block(X)
    assert found.indices.dtype == found.indptr.dtype
    assert found.indices.dtype in (np.int32, np.int64)
    for part in (found.data, found.indices, found.indptr):
        assert part.flags.c_contiguous
        assert part.flags.aligned
    assert_array_equal(found.toarray(), csr().toarray())
    assert all(getattr(X, part) is array for part, array in zip(("data", "indices", "indptr"), before, strict=True))


def test_room_behind_the_last_value_is_left_away():
    X = csr()
    X.data, X.indices = np.append(X.data, 1e300), np.append(X.indices, np.int32(2**31 - 1))
    found = checked_block(X)
    assert len(found.data) == len(found.indices) == X.nnz


def test_plain_rows_are_not_copied():
    X = csr()
    assert checked_block(X).data is X.data
    array = np.ones((3, 4))
    assert checked_block(array) is array


def test_misaligned_rows_are_copied():
    array = misaligned(np.arange(12.0).reshape(3, 4))
    found = checked_block(array)
    assert found.flags.aligned
    assert_array_equal(found, array)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_large_values_of_both_signs_are_checked_without_a_word(container):
    """scikit-learn adds them up, which gives infinity less infinity."""
    X = np.full((8, 40), 3e38, dtype=np.float32) * np.where(np.arange(40) % 2, 1, -1).astype(np.float32)
    X[:, :20] = 3e38
    checked_block(container(X))


@pytest.mark.parametrize("n_jobs", ["two", 1.5, True, [2]])
def test_what_is_no_number_of_threads(n_jobs):
    with pytest.raises(TypeError, match="n_jobs must be an integer or None, got"):
        check_n_jobs(n_jobs)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("unbalanced", "class_weight must be None, \"balanced\" or a dict, got 'unbalanced'"),
        ([1, 2], "or a dict, got"),
        ({0: -1.0}, "class_weight must be numbers from 0 to 1e.100, got -1.0 for class 0"),
        ({"a": 1.0, "b": np.nan}, "got nan for class 'b'"),
        ({0: np.inf}, "got inf for class 0"),
        ({0: "heavy"}, "got 'heavy' for class 0"),
        ({0: None}, "got None for class 0"),
    ],
)
def test_class_weights_that_are_none(class_weight, message):
    with pytest.raises(ValueError, match=message):
        check_class_weight(class_weight)


def test_weights_that_are_nothing_beside_the_largest_are_none():
    weights = np.array([1.0, 5e-324, 1e-199, 0.0, 1e-201])
    assert_array_equal(checked_sample_weight(weights, np.zeros((5, 1))), [1.0, 0.0, 1e-199, 0.0, 0.0])
    assert weights[1] == 5e-324


def test_masked_values_are_not_taken_for_what_lies_under_the_mask():
    """As scikit-learn would, without a word."""
    X, y = np.ma.masked_array(np.eye(4), mask=np.eye(4) == 1), [0, 1, 0, 1]
    for estimator in (HadamardRotation(), ISRHT(2), LinearSVM()):
        with pytest.raises(ValueError, match=r"X has masked values: fill them first, by X\.filled\(0\)"):
            estimator.fit(X, y)
    rotation = HadamardRotation(random_state=0).fit(X.data)
    for rotate in (rotation.transform, rotation.inverse_transform):
        with pytest.raises(ValueError, match="masked values"):
            rotate(X)
        assert_array_equal(rotate(np.ma.masked_array(X.data)), rotate(X.data))
