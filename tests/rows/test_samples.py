"""A sample has as many rows of each class as are asked for, and the same ones wherever the codes are kept."""

import numpy as np
from numpy.testing import assert_array_equal

from isrht.rows.labels import CodedLabels, in_memory
from isrht.rows.samples import sample_of_classes
from isrht.rows.values import RowValuesFile


def test_each_class_has_its_size(rng):
    labels = in_memory(rng.permutation(np.repeat(["a", "b", "c"], [50, 30, 7])))
    chosen = sample_of_classes(labels, [10, 30, 0], np.random.RandomState(0))
    assert_array_equal(chosen, np.unique(chosen))
    assert_array_equal(np.bincount(labels.codes[chosen], minlength=3), [10, 30, 0])
    other = sample_of_classes(labels, [10, 30, 0], np.random.RandomState(1))
    assert not np.array_equal(chosen, other)


def test_rows_without_a_class_are_not_drawn():
    labels = CodedLabels(np.arange(2), np.array([0, 2, 1, 2, 0, 1, 2]))
    assert_array_equal(sample_of_classes(labels, labels.counts, np.random.RandomState(0)), [0, 2, 4, 5])


def test_codes_in_a_file_give_the_same_rows(rng):
    codes = rng.integers(0, 3, 1000)
    file = RowValuesFile(np.int64)
    file.append(codes)
    here, there = CodedLabels(np.arange(3), codes), CodedLabels(np.arange(3), file.finished())
    assert_array_equal(
        sample_of_classes(there, [5, 6, 7], np.random.RandomState(0)),
        sample_of_classes(here, [5, 6, 7], np.random.RandomState(0)),
    )
