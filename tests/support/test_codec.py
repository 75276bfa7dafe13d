"""Fields of a file are handed out once, and only as what they should be."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht.support.codec import (
    FLOATS,
    Codec,
    ModelFileError,
    StoredFields,
    check_increasing,
    check_range,
    packed_signs,
)


def stored(prefix="", **fields):
    """Return fields, of which arrays and parts are told by their type."""
    arrays = {prefix + name: value for name, value in fields.items() if isinstance(value, np.ndarray)}
    parts = {name: value for name, value in fields.items() if isinstance(value, dict)}
    values = {name: value for name, value in fields.items() if name not in parts and prefix + name not in arrays}
    return StoredFields(values, parts, arrays, prefix, lambda *arguments: arguments)


def test_a_field_is_handed_out_once():
    fields = stored(a=1, b=np.ones(2), c={})
    for take in (lambda: fields.integer("a"), lambda: fields.array("b", "<f8", (2,)), lambda: fields.part("c")):
        take()
        with pytest.raises(ModelFileError, match="is missing"):
            take()
    assert [fields.values, fields.parts, fields.arrays] == [{}, {}, {}]


def test_fields_are_known_by_their_kind():
    fields = stored("part/", a=1, b=np.ones(2), c={})
    assert [fields.has(name) for name in "abcd"] == [True, True, True, False]
    assert [fields.has_value(name) for name in "abcd"] == [True, False, False, False]
    assert [fields.has_part(name) for name in "abcd"] == [False, False, True, False]


def test_arrays_of_other_estimators_are_left_alone():
    arrays = {"a": np.zeros(1), "part/a": np.ones(1)}
    fields = StoredFields({}, {}, arrays, "part/", None)
    assert_array_equal(fields.array("a", "<f8", (1,)), [1])
    assert list(arrays) == ["a"]


def test_a_part_is_asked_for_by_its_place_and_classes():
    assert stored("outer/", inner={"x": 1}).part("inner", int, str) == ({"x": 1}, "outer/inner/", ["int", "str"])
    assert stored(inner={}).part("inner") == ({}, "inner/", [])


@pytest.mark.parametrize(
    ("value", "kinds", "fits"),
    [(1, (int,), True), (1.5, (int,), False), (True, (int,), False), (True, (bool,), True), ("a", (str, int), True)],
)
def test_values_have_the_right_type(value, kinds, fits):
    if fits:
        assert stored(a=value).value("a", *kinds) == value
    else:
        with pytest.raises(ModelFileError, match="a is .*, which is of the wrong type"):
            stored(a=value).value("a", *kinds)


@pytest.mark.parametrize("value", [0, -1, 2**62])
def test_an_integer_is_positive(value):
    with pytest.raises(ModelFileError, match="not a positive integer"):
        stored(a=value).integer("a")


@pytest.mark.parametrize("value", [0, -0.5, np.inf, np.nan])
def test_a_number_is_positive_and_finite(value):
    with pytest.raises(ModelFileError, match="not a positive number"):
        stored(a=value).number("a")


def test_a_number_that_is_missing_may_have_a_default():
    assert stored().number("a", missing=1.0) == 1.0
    assert stored(a=2).number("a", missing=1.0) == 2
    with pytest.raises(ModelFileError, match="a is missing"):
        stored().number("a")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((2, 3), dtype=np.int64), "p/a is of type <i8, not <f4 or <f8"),
        (np.ones((3, 2)), r"p/a has shape \(3, 2\), not \(any, 3\)"),
        (np.ones(3), r"p/a has shape \(3,\), not \(any, 3\)"),
        (np.array([[1, 2, np.nan]]), "p/a is not finite"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(array, message):
    with pytest.raises(ModelFileError, match=message):
        stored("p/", a=array).array("a", FLOATS, (None, 3))


def test_arrays_that_fit_are_those_of_the_file():
    array = np.array([[1, 2, np.nan]])
    assert stored(a=array).array("a", FLOATS, (None, 3), finite=False) is array


def test_an_optional_array_may_be_missing():
    assert stored().optional_array("a", "<f8", (1,)) is None
    assert_array_equal(stored(a=np.ones(1)).optional_array("a", "<f8", (1,)), [1])
    with pytest.raises(ModelFileError, match="a is missing"):
        stored().optional_array("a", "<f8", (1,), required=True)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1], "not two or more labels"),
        ([[1, 2]], "not two or more labels"),
        ([1, 1], "not different labels in order"),
        ([2, 1], "not different labels in order"),
        ([1.0, np.inf], "not finite"),
    ],
)
def test_labels_are_two_or_more_in_order(labels, message):
    with pytest.raises(ModelFileError, match=message):
        stored(a=np.array(labels)).labels("a")
    assert_array_equal(stored(a=np.array(["a", "b"])).labels("a"), ["a", "b"])


@pytest.mark.parametrize("size", [1, 7, 8, 9, 100])
def test_signs_take_a_bit_each(size):
    signs = np.random.default_rng(size).choice([-1, 1], size).astype(np.int8)
    bits = packed_signs(signs)
    assert bits.nbytes == -(-size // 8)
    unpacked = stored(signs_=bits).signs("signs_", size)
    assert unpacked.dtype == np.int8
    assert_array_equal(unpacked, signs)


def test_signs_of_another_number_are_refused():
    bits = packed_signs(np.ones(10, dtype=np.int8))
    with pytest.raises(ModelFileError, match="has shape"):
        stored(signs_=bits).signs("signs_", 17)
    with pytest.raises(ModelFileError, match="signs_ are for another number of features"):
        stored(signs_=bits).signs("signs_", 9)
    with pytest.raises(ModelFileError, match=r"signs_ are not all \+1 or -1"):
        packed_signs(np.zeros(3))


def test_indices_are_in_range_and_in_order():
    check_increasing("indices", np.array([0, 2, 2]), 3, repeated=True)
    with pytest.raises(ModelFileError, match="indices are not in increasing order"):
        check_increasing("indices", np.array([0, 2, 2]), 3, repeated=False)
    for wrong in ([-1, 2], [0, 3]):
        with pytest.raises(ModelFileError, match="indices are out of range"):
            check_range("indices", np.array(wrong), 3)
    with pytest.raises(ModelFileError, match="indices are missing"):
        check_range("indices", np.array([]), 3)


def test_a_codec_makes_unfitted_models():
    class Whole:
        def __init__(self, steps, memory=None):
            self.steps, self.memory = steps, memory

    model = Codec(Whole, None, None, made_of="steps").make(memory=1)
    assert (model.steps, model.memory) == ([], 1)
