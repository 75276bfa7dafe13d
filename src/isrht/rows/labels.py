"""The classes of rows as small numbers, found part by part.

``CodedLabels`` is what every fit needs of labels: the different ones, and of each row the number of its own. Labels
that come with rows from files are coded as the rows are first read, and only codes are kept, in a file
(:mod:`isrht.rows.values`). Labels that belong to Dask are coded by its workers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from isrht.rows.values import AT_ONCE, RowValuesFile, class_totals, derived, gathered

CODE = np.uint16
MOST_CLASSES = np.iinfo(CODE).max  # which itself is left for rows that belong to no class


@dataclass(eq=False)
class CodedLabels:
    """``codes`` (array or column) number the sorted ``classes``; a row whose code is beyond them is left out.

    ``appearance`` lists the numbers of the classes in the order in which the rows first have them. It is None for rows
    in memory, where nobody asks.
    """

    classes: np.ndarray
    codes: Any
    appearance: np.ndarray | None = field(default=None, repr=False)

    def __len__(self):
        return len(self.codes)

    @property
    def n_classes(self):
        return len(self.classes)

    @cached_property
    def counts(self):
        """The number of rows of every class."""
        return class_totals(self.codes, None, self.n_classes).astype(np.int64)

    def numbered(self):
        """The same with the numbers themselves for classes."""
        return CodedLabels(np.arange(self.n_classes), self.codes, self.appearance)

    def values(self):
        """The labels themselves, in memory."""
        return self.classes[gathered(self.codes)]

    def only(self, kept):
        """Those of the rows where ``kept`` (a column) is not zero; a class that has none is no class of theirs."""
        nowhere = self.n_classes
        codes = derived(lambda codes, kept: np.where(kept, codes, nowhere), self.codes, kept)
        present = np.flatnonzero(class_totals(codes, None, nowhere))
        if len(present) == nowhere:
            return CodedLabels(self.classes, codes)
        places = np.full(nowhere + 1, len(present))
        places[present] = np.arange(len(present))
        return CodedLabels(self.classes[present], derived(places.__getitem__, codes))


def in_memory(labels):
    """Of an array. ``np.unique`` with its inverse would take five times the memory and time."""
    labels = column_or_1d(labels, warn=True)
    check_classification_targets(labels)
    classes = np.unique(labels)
    return CodedLabels(classes, np.searchsorted(classes, labels))


def check_two_classes(estimator, labels, weights=None):
    """Raise an error unless rows of at least two classes have a weight."""
    present = np.flatnonzero(class_totals(labels.codes, weights, labels.n_classes))
    if len(present) >= 2:
        return
    name, only = type(estimator).__name__, shown(labels.classes[present])
    if labels.n_classes == 1:
        raise ValueError(f"{name} needs at least two classes, but y holds one class: {only}")
    raise ValueError(f"{name} needs at least two classes, but y holds one class of positive sample_weight: {only}")


def shown(classes, most=5):
    """Return labels as text for a message, the first few of them."""
    listed = ", ".join(map(repr, classes[:most].tolist()))
    return listed + (f" and {len(classes) - most} more" if len(classes) > most else "")


def part_by_part(labels):
    """Of an array that belongs to rows which are not in memory: the codes are not, either."""
    coder = Coder()
    for start in range(0, len(labels), AT_ONCE):
        coder.add(labels[start : start + AT_ONCE])
    return coder.result()


def codes_in(classes, labels):
    """The number in ``classes``, which are sorted, of each of the labels."""
    if labels.dtype != classes.dtype:
        labels = labels.astype(classes.dtype)
    return np.searchsorted(classes, labels).astype(CODE)


def different(labels):
    """The different labels, in the order in which they appear, checked that they are classes."""
    check_labels(labels)
    values, first = np.unique(labels, return_index=True)
    return values[np.argsort(first)]


def check_labels(labels):
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)


class Appearance:
    """The different labels in order of appearance, from those of consecutive parts of the rows."""

    def __init__(self):
        self.known = None

    def add(self, values):
        if self.known is None:
            self.known = values
        else:
            fresh = values[~np.isin(values, self.known)]
            self.known = np.concatenate([self.known, fresh]) if len(fresh) else self.known
        if len(self.known) > MOST_CLASSES:
            raise ValueError(f"y has more than {MOST_CLASSES} different labels, which are not classes")

    def sorted(self):
        """The classes, and the number of each of the labels in their order of appearance."""
        classes = np.unique(self.known)
        return classes, np.searchsorted(classes, self.known)


class Coder:
    """Codes labels as they come: by order of appearance, which is put right when all have come."""

    def __init__(self):
        self._appearance, self._codes = Appearance(), RowValuesFile(CODE)

    def add(self, labels):
        self._appearance.add(different(labels))
        known = self._appearance.known
        order = np.argsort(known)
        self._codes.append(order[codes_in(known[order], labels)])

    def result(self):
        classes, appearance = self._appearance.sorted()
        codes = self._codes.finished()
        if not np.array_equal(appearance, np.arange(len(classes))):
            for start in range(0, len(codes), AT_ONCE):
                part = codes.array[start : start + AT_ONCE]
                part[:] = appearance[part]
        return CodedLabels(classes, codes, appearance)
