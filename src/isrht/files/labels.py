"""Labels as they are written in a file, and whether they are numbers.

The labels of a file are numbers (float64) if every one of them is written as a number, and otherwise texts, as they are
written. This is known only after the last row. A reader who wants rows before that says which type it is
(``label_type``), or lets the first label decide; a label that is no number after one that was is then an error.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial

import numpy as np

NUMBER, TEXT = "number", "text"
WRITTEN_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# The most bytes that a label may have, and the most different labels that are taken for classes.
LONGEST = 256
MOST_CLASSES = 2**16


class Labels:
    """The labels of some rows: their ``values``, which are NaN where a label is no number, and their texts.

    There are many rows and few different labels, so the texts are kept apart from which row has which of them.
    ``pieces()`` goes through the rows piece by piece; of every piece it gives the different texts, and for each row the
    number of its text among them. It is a ``partial``, so that labels can be pickled.
    """

    def __init__(self, values, pieces):
        self.values, self.pieces = values, pieces

    @classmethod
    def of_different(cls, texts, which, are_words):
        """Make labels of different strings and the number of each row's string among them.

        Words are never taken for numbers, even if they look like them.
        """
        different, place = np.unique(np.asarray(texts, dtype=str), return_inverse=True)
        which = place[which]
        values = np.array([np.nan if are_words else number_or_nan(text) for text in different], dtype=np.float64)
        return cls(values[which], partial(list, [(different, which)]))

    @classmethod
    def of_numbers(cls, values):
        """Make labels of numbers that were never written as text."""
        values = np.asarray(values, dtype=np.float64)
        return cls(values, partial(_one_piece, values))

    @classmethod
    def of_words(cls, texts):
        """Make labels of strings, none of which is taken for a number even if it looks like one."""
        return cls(np.full(len(texts), np.nan), partial(_one_piece, np.asarray(texts, dtype=str)))

    @classmethod
    def joined(cls, parts):
        """Join the labels of consecutive blocks."""
        pieces = [part.pieces for part in parts]
        return cls(np.concatenate([part.values for part in parts]), partial(_all_pieces, pieces))

    def __getitem__(self, rows):
        if self.pieces.func is _one_piece:
            return Labels(self.values[rows], partial(_one_piece, self.pieces.args[0][rows]))
        return Labels(self.values[rows], partial(_one_piece, self.texts()[rows]))

    @property
    def numbers_only(self):
        return not np.isnan(self.values).any()

    def texts(self):
        return np.concatenate([different[which] for different, which in self.pieces()])

    def counts(self):
        """Return the number of rows by text."""
        total = Counter()
        for different, which in self.pieces():
            counts = np.bincount(which, minlength=len(different))
            total.update(dict(zip(different.tolist(), counts.tolist(), strict=True)))
        return total

    def of_type(self, label_type):
        """Return the labels as an array of numbers or of texts."""
        return self.values if label_type == NUMBER else self.texts()


class LabelCounter:
    """Counts how many rows have each label."""

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
        """Return the number of rows by label, sorted by label.

        The result is None if there are no labels, or too many different ones to be classes.
        """
        if not self.any or len(self.counts) > MOST_CLASSES:
            return None
        if label_type == TEXT:
            return dict(sorted(self.counts.items()))
        by_number = Counter()
        for text, count in self.counts.items():
            by_number[float(text)] += count
        return dict(sorted(by_number.items()))


def _one_piece(labels):
    return [different_texts(labels)]


def _all_pieces(pieces):
    return (one for many in pieces for one in many())


def number_or_nan(text):
    value = float(text) if WRITTEN_NUMBER.fullmatch(text) else np.nan
    return np.nan if np.isinf(value) else value


def label_text(label):
    """Return a label as it is written to a file: whole numbers without a point.

    >>> [label_text(label) for label in (1.0, -1, 0.5, "spam")]
    ['1', '-1', '0.5', 'spam']
    """
    if isinstance(label, str):
        return label
    is_whole = isinstance(label, int) or (label.is_integer() and abs(label) < 2**53)
    return str(int(label)) if is_whole else repr(label)


def as_written(labels):
    """Return the :func:`label_text` of every label of an array."""
    different, which = different_texts(labels)
    return different[which]


def different_texts(labels):
    """Return the different labels, as they are written, and for each row the number of its label among them."""
    different, which = np.unique(labels, return_inverse=True)
    return np.array([label_text(label) for label in different.tolist()], dtype=str), which
