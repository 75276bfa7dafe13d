"""Labels as they are written, and when they are numbers.

The labels of a file are numbers (float64) if every one of them is written as one, and otherwise texts, as written. That
is known only after the last row. Whoever wants rows before says which it is (``label_type``), or lets the first label
decide; a label that is no number after one that was, is then an error.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

NUMBER, TEXT = "number", "text"
WRITTEN_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LONGEST = 256
# More different labels than this are no classes.
MOST_CLASSES = 2**16


class Labels:
    """The labels of some rows: ``values``, NaN where one is no number, and as they are written.

    There are few different labels and many rows, so texts are kept apart from which row has which: ``pieces()`` gives,
    for some rows after the other, their different texts and the number of the text of each row.
    """

    def __init__(self, values, pieces):
        self.values, self.pieces = values, pieces

    @classmethod
    def from_texts(cls, texts):
        """Of strings; the numbers among them are recognised."""
        different, which = np.unique(np.asarray(texts, dtype=str), return_inverse=True)
        values = np.array([number_or_nan(text) for text in different], dtype=np.float64)
        return cls(values[which], lambda: [(different, which)])

    @classmethod
    def of_numbers(cls, values):
        """Of numbers that were never text."""
        values = np.asarray(values, dtype=np.float64)
        return cls(values, lambda: [different_texts(values)])

    @classmethod
    def of_words(cls, texts):
        """Of strings that are no numbers, even those that look so."""
        return cls(np.full(len(texts), np.nan), lambda: [different_texts(np.asarray(texts, dtype=str))])

    @classmethod
    def joined(cls, parts):
        """Those of consecutive blocks as one."""
        pieces = [part.pieces for part in parts]
        return cls(np.concatenate([part.values for part in parts]), lambda: (one for many in pieces for one in many()))

    def __getitem__(self, rows):
        return Labels(self.values[rows], lambda: [different_texts(self.texts()[rows])])

    @property
    def numbers_only(self):
        return not np.isnan(self.values).any()

    def texts(self):
        return np.concatenate([different[which] for different, which in self.pieces()])

    def counts(self):
        """Rows by text."""
        total = Counter()
        for different, which in self.pieces():
            counts = np.bincount(which, minlength=len(different))
            total.update(dict(zip(different.tolist(), counts.tolist(), strict=True)))
        return total

    def of_type(self, label_type):
        return self.values if label_type == NUMBER else self.texts()


class Tally:
    """How many rows have each label."""

    def __init__(self):
        self.counts, self.numbers_only, self.any = Counter(), True, False

    def add(self, labels):
        if labels is None:
            return
        self.any = True
        self.numbers_only = self.numbers_only and labels.numbers_only
        if len(self.counts) <= MOST_CLASSES:
            self.counts += labels.counts()

    @property
    def label_type(self):
        if not self.any:
            return None
        return NUMBER if self.numbers_only else TEXT

    def classes(self, label_type):
        """Rows by label, sorted by label; None without labels, or with too many different ones to be classes."""
        if not self.any or len(self.counts) > MOST_CLASSES:
            return None
        if label_type == TEXT:
            return dict(sorted(self.counts.items()))
        by_number = Counter()
        for text, count in self.counts.items():
            by_number[float(text)] += count
        return dict(sorted(by_number.items()))


def number_or_nan(text):
    value = float(text) if WRITTEN_NUMBER.fullmatch(text) else np.nan
    return np.nan if np.isinf(value) else value


def label_text(label):
    """A label as it is written to a file: whole numbers without a point.

    >>> [label_text(label) for label in (1.0, -1, 0.5, "spam")]
    ['1', '-1', '0.5', 'spam']
    """
    if isinstance(label, str):
        return label
    is_whole = isinstance(label, int) or (label.is_integer() and abs(label) < 2**53)
    return str(int(label)) if is_whole else repr(label)


def as_written(labels):
    """:func:`label_text` of each of an array of labels."""
    different, which = different_texts(labels)
    return different[which]


def different_texts(labels):
    """The different labels, as they are written, and which of them each row has."""
    different, which = np.unique(labels, return_inverse=True)
    return np.array([label_text(label) for label in different.tolist()], dtype=str), which
