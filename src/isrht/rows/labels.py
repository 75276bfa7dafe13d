"""The classes of rows as small numbers, found part by part.

``CodedLabels`` are what every fit needs of labels: which different labels there are, and the number of each row's
label among them. Labels that come with rows from files are coded as the rows are first read, and only the codes are
kept, in a file (:mod:`isrht.rows.values`). Labels that belong to Dask are coded by its workers.
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
# The largest code is left for rows that belong to no class.
MOST_CLASSES = np.iinfo(CODE).max


@dataclass(eq=False)
class CodedLabels:
    """The labels of rows as numbers.

    Parameters
    ----------
    classes : ndarray
        The different labels, sorted.
    codes : array or RowValues
        The number, in ``classes``, of each row's label. A row whose code is ``n_classes`` or more is left out.
    appearance : ndarray or None
        The numbers of the classes in the order in which they appear in the rows. Rows in memory do not need it, and
        have None.
    """

    classes: np.ndarray
    codes: Any
    appearance: np.ndarray | None = field(default=None, repr=False)

    def __len__(self):
        return len(self.codes)

    @property
    def n_classes(self):
        """The number of classes."""
        return len(self.classes)

    @cached_property
    def counts(self):
        """The number of rows of every class."""
        return class_totals(self.codes, None, self.n_classes).astype(np.int64)

    def numbered(self):
        """Return the same codes, whose classes are the numbers 0, 1, 2 themselves."""
        numbered = CodedLabels(np.arange(self.n_classes), self.codes, self.appearance)
        vars(numbered).update((name, value) for name, value in vars(self).items() if name == "counts")  # if it is known
        return numbered

    def totals(self, weights=None):
        """Return the total weight of the rows of every class, or their number where rows have no weights: float64."""
        if weights is None:
            return self.counts.astype(np.float64)
        return class_totals(self.codes, weights, self.n_classes)

    def values(self):
        """Return the label of every row, in memory."""
        return self.classes[gathered(self.codes)]

    def held(self):
        """Return the same labels with their codes in the memory of this process, as rows in memory have them."""
        return CodedLabels(self.classes, gathered(self.codes).astype(np.intp))

    def only(self, kept):
        """Return the labels of some rows. Codes leave the other rows out, and classes that have no row are dropped.

        Parameters
        ----------
        kept : array or RowValues
            Not zero for the rows that count.

        Returns
        -------
        CodedLabels
        """
        nowhere = self.n_classes
        codes = derived(lambda codes, kept: np.where(kept, codes, nowhere), self.codes, kept)
        present = np.flatnonzero(class_totals(codes, None, nowhere))
        if len(present) == nowhere:
            return CodedLabels(self.classes, codes)
        places = np.full(nowhere + 1, len(present))
        places[present] = np.arange(len(present))
        return CodedLabels(self.classes[present], derived(places.__getitem__, codes))


def one_dimensional(labels, warn=False):
    """Return labels as an array of one dimension, or raise an error if they have more.

    scikit-learn takes 0.2 ms to look at an array that is one already, which matters where blocks of rows are small.
    """
    is_plain = type(labels) is np.ndarray and labels.ndim == 1 and labels.dtype.kind in "biufU"
    return labels if is_plain else column_or_1d(labels, warn=warn)


def in_memory(labels):
    """Return the coded labels of rows in memory, from an array-like of labels."""
    labels = one_dimensional(labels, warn=True)
    check_classification_targets(labels)
    classes = np.unique(labels)
    # np.unique with return_inverse=True would take five times the memory and time.
    return CodedLabels(classes, np.searchsorted(classes, labels))


def check_two_classes(estimator, labels, weights=None):
    """Raise an error unless rows of at least two classes have a weight."""
    present = np.flatnonzero(labels.totals(weights))
    if len(present) >= 2:
        return
    name, only = type(estimator).__name__, shown(labels.classes[present])
    if labels.n_classes == 1:
        raise ValueError(f"{name} needs at least two classes, but y holds one class: {only}")
    raise ValueError(f"{name} needs at least two classes, but y holds one class of positive sample_weight: {only}")


def shown(classes, most=5):
    """Return labels as text for a message: the first few of them, and how many more there are."""
    listed = ", ".join(map(repr, classes[:most].tolist()))
    return listed + (f" and {len(classes) - most} more" if len(classes) > most else "")


def part_by_part(labels):
    """Return the coded labels of rows that are not in memory, from an array of labels. The codes lie in a file."""
    coder = Coder()
    for start in range(0, len(labels), AT_ONCE):
        coder.add(labels[start : start + AT_ONCE])
    return coder.result()


def codes_in(classes, labels):
    """Return the number of each label in ``classes``, which are sorted."""
    if labels.dtype != classes.dtype:
        labels = labels.astype(classes.dtype)
    return np.searchsorted(classes, labels).astype(CODE)


def different(labels):
    """Return the different labels in the order in which they appear, or raise an error if they are no classes."""
    check_labels(labels)
    values, first = np.unique(labels, return_index=True)
    return values[np.argsort(first)]


def check_labels(labels):
    """Raise an error if labels are not finite, or are numbers to predict rather than classes."""
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)


class Appearance:
    """Gathers the different labels, in the order in which they appear, from consecutive parts of the rows."""

    def __init__(self):
        self.known = None

    def add(self, values):
        """Take up the different labels of the next part, in the order in which they appear in it."""
        if self.known is None:
            self.known = values
        else:
            fresh = values[~np.isin(values, self.known)]
            self.known = np.concatenate([self.known, fresh]) if len(fresh) else self.known
        if len(self.known) > MOST_CLASSES:
            raise ValueError(f"y has more than {MOST_CLASSES} different labels, which are not classes")

    def sorted(self):
        """Return the classes, sorted, and the number of each class in the order in which the classes appear."""
        classes = np.unique(self.known)
        return classes, np.searchsorted(classes, self.known)


class Coder:
    """Codes labels part by part.

    Until all labels have come, a label is coded by its place in the order of appearance. When all have come, the codes
    are changed to those of the sorted classes.
    """

    def __init__(self):
        self._appearance, self._codes = Appearance(), RowValuesFile(CODE)
        # The labels so far, sorted, and the place of each in the order of appearance.
        self._sorted, self._order = None, None

    def add(self, labels):
        """Code the labels of the next rows."""
        codes = self._codes_of_known(labels)
        if codes is None:
            self._appearance.add(different(labels))
            self._order = np.argsort(self._appearance.known)
            self._sorted = self._appearance.known[self._order]
            codes = self._order[codes_in(self._sorted, labels)]
        self._codes.append(codes)

    def _codes_of_known(self, labels):
        """Return the codes of labels that were all seen before, as most are, or None if some were not."""
        if self._sorted is None or labels.dtype.kind != self._sorted.dtype.kind or labels.dtype.kind not in "biufU":
            return None
        places = np.minimum(np.searchsorted(self._sorted, labels), len(self._sorted) - 1)
        return self._order[places] if np.array_equal(self._sorted[places], labels) else None

    def result(self):
        """Return the coded labels of all rows that were added."""
        classes, appearance = self._appearance.sorted()
        codes = self._codes.finished()
        if not np.array_equal(appearance, np.arange(len(classes))):
            for start in range(0, len(codes), AT_ONCE):
                part = codes.array[start : start + AT_ONCE]
                part[:] = appearance[part]
        return CodedLabels(classes, codes, appearance)
