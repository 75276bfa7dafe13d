import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isrht.rows import labels as coded_labels
from isrht.rows import values as per_row
from isrht.rows.labels import Coder, in_memory, part_by_part
from isrht.rows.values import gathered


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch):
    monkeypatch.setattr(per_row, "AT_ONCE", 7)
    monkeypatch.setattr(coded_labels, "AT_ONCE", 7)


KINDS = {
    "numbers": np.array([3, -1, 8]),
    "floats": np.array([2.0, -1.0, 8.0]),
    "texts": np.array(["b", "a", "longer"]),
    "objects": np.array(["b", "a", "longer"], dtype=object),
    "bools": np.array([True, False]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_coded_part_by_part_as_at_once(kind, rng):
    labels = rng.choice(KINDS[kind], 50)
    labels[:8] = KINDS[kind][0]  # the first parts have one class
    got, expected = part_by_part(labels), in_memory(labels)
    assert_array_equal(got.classes, expected.classes)
    assert_array_equal(gathered(got.codes), expected.codes)
    assert_array_equal(got.counts, expected.counts)
    assert_array_equal(got.values(), labels)
    assert_array_equal(expected.values(), labels)


def test_classes_appear_in_an_order(rng):
    labels = np.array(["q", "q", "a", "q", "z", "a", "b"] * 5)
    coded = part_by_part(labels)
    assert_array_equal(coded.classes[coded.appearance], ["q", "a", "z", "b"])


def test_numbers_and_texts_mix_as_numpy_mixes_them():
    coder = Coder()
    coder.add(np.array([1, 2, 1]))
    coder.add(np.array(["x", "2"]))
    coded = coder.result()
    assert_array_equal(coded.values(), ["1", "2", "1", "x", "2"])


@pytest.mark.parametrize("code", [in_memory, part_by_part])
def test_rows_are_left_out(code, rng):
    labels = rng.choice(["a", "b", "c"], 60)
    kept = (rng.random(60) < 0.6) & (labels != "b")
    some = code(labels).only(kept)
    assert_array_equal(some.classes, ["a", "c"])
    assert_array_equal(some.counts, [np.sum(labels[kept] == "a"), np.sum(labels[kept] == "c")])
    codes = gathered(some.codes)
    assert_array_equal(codes[~kept], 2)
    assert_array_equal(some.classes[codes[kept]], labels[kept])
    everyone = code(labels).only(np.ones(60))
    assert_array_equal(everyone.values(), labels)


def test_what_is_no_class_is_an_error():
    with pytest.raises(ValueError, match="Unknown label type"):
        part_by_part(np.array([0.5, 1.2]))
    with pytest.raises(ValueError, match="Input y contains NaN"):
        part_by_part(np.array([0.0, np.nan]))
    coder = Coder()
    coder.add(np.repeat(np.arange(40_000), 3))
    with pytest.raises(ValueError, match="more than 65535 different labels"):
        coder.add(np.repeat(np.arange(30_000, 70_000), 3))
