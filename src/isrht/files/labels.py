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
    """The labels of some rows: ``values``, NaN where one is no number, and ``texts()``, which gives them as written."""

    def __init__(self, values, texts):
        self.values, self.texts = values, texts

    @classmethod
    def from_texts(cls, texts):
        """Of strings; the numbers among them are recognised."""
        texts = np.asarray(texts, dtype=str)
        different, places = np.unique(texts, return_inverse=True)
        return cls(np.array([number_or_nan(text) for text in different], dtype=np.float64)[places], lambda: texts)

    @classmethod
    def of_numbers(cls, values):
        """Of numbers that were never text."""
        values = np.asarray(values, dtype=np.float64)
        return cls(values, lambda: as_written(values))

    @classmethod
    def of_words(cls, texts):
        """Of strings that are no numbers, even those that look so."""
        texts = np.asarray(texts, dtype=str)
        return cls(np.full(len(texts), np.nan), lambda: texts)

    def __getitem__(self, rows):
        return Labels(self.values[rows], lambda: self.texts()[rows])

    @property
    def numbers_only(self):
        return not np.isnan(self.values).any()

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
            texts, counts = np.unique(labels.texts(), return_counts=True)
            self.counts.update(dict(zip(texts.tolist(), counts.tolist(), strict=True)))

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
    different, places = np.unique(labels, return_inverse=True)
    return np.array([label_text(label) for label in different.tolist()], dtype=str)[places]
