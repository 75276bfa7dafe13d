import numpy as np
import pytest

from isrht.files import labels
from isrht.files.labels import NUMBER, TEXT, LabelCounter, Labels, as_written


def of_texts(texts):
    return Labels.of_different(texts, np.arange(len(texts)), False)


def test_numbers_among_texts_are_recognised():
    found = Labels.of_different(
        ["1", "+1", "spam", ".5", "1e3", "1_0", "nan", "1e999", ""],
        np.arange(len(["1", "+1", "spam", ".5", "1e3", "1_0", "nan", "1e999", ""])),
        False,
    )
    np.testing.assert_array_equal(found.values, [1, 1, np.nan, 0.5, 1000, np.nan, np.nan, np.nan, np.nan])
    assert not found.numbers_only
    assert found[1:3].of_type(TEXT).tolist() == ["+1", "spam"]
    assert found[:2].of_type(NUMBER).tolist() == [1, 1]


def test_words_stay_words_and_numbers_can_become_texts():
    assert Labels.of_words(["1", "2"]).numbers_only is False
    assert Labels.of_numbers([1, 2.5, -0.0]).of_type(TEXT).tolist() == ["1", "2.5", "0"]


def test_labels_of_blocks_are_joined():
    joined = Labels.joined([of_texts(["1", "spam"]), Labels.of_numbers([2, 1])])
    np.testing.assert_array_equal(joined.values, [1, np.nan, 2, 1])
    assert joined.texts().tolist() == ["1", "spam", "2", "1"]
    assert joined.counts() == {"1": 2, "spam": 1, "2": 1}


def test_labels_are_written_shortly_and_exactly():
    assert as_written(np.array([1.0, -1.0, 0.1, 1e300])).tolist() == ["1", "-1", "0.1", "1e+300"]
    assert as_written(np.array([2**62 + 1, 3])).tolist() == [str(2**62 + 1), "3"]
    assert as_written(np.array([True, False])).tolist() == ["1", "0"]


def test_the_tally_merges_what_is_the_same_number():
    counter = LabelCounter()
    counter.add(of_texts(["1", "+1", "2"]))
    counter.add(None)
    counter.add(of_texts(["1.0", "2"]))
    assert counter.label_type == NUMBER
    assert counter.classes(NUMBER) == {1.0: 3, 2.0: 2}
    counter.add(of_texts(["spam"]))
    assert counter.label_type == TEXT
    assert counter.classes(TEXT) == {"+1": 1, "1": 1, "1.0": 1, "2": 2, "spam": 1}


def test_without_labels_there_are_no_classes():
    assert (LabelCounter().label_type, LabelCounter().classes(None)) == (None, None)


@pytest.mark.parametrize("most", [3, 4])
def test_too_many_labels_are_no_classes(monkeypatch, most):
    monkeypatch.setattr(labels, "MOST_CLASSES", most)
    counter = LabelCounter()
    for number in range(2):
        counter.add(Labels.of_numbers([number, number + 10]))
    assert (counter.classes(NUMBER) is None) == (most == 3)
    assert counter.label_type == NUMBER
