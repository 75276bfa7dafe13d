"""The twin of the compiled parser of LIBSVM text (``core/text/libsvm.hpp``), of the same names and effects.

It takes the same texts, gives the same numbers, and finds the same fault at the same place, wherever the pieces end in
which a text is fed. A fault is ``(kind, line, column, what was found there)``.
"""

from __future__ import annotations

import math
import re

import numpy as np

# Which labels may be texts instead of numbers: any of them; any of them if the first label is one; none.
ANY, AS_THE_FIRST, NUMBERS = range(3)

LARGEST_INDEX = 2**31 - 1
LONGEST_LABEL = 256
# So many bytes of what was found are told with a fault.
SHOWN = 24

LINE_END = re.compile(rb"[\r\n]")
SPACE = re.compile(rb"[ \t]*")
LABEL = re.compile(rb"[^ \t#:,\x00-\x1f\x7f]*")
QID = re.compile(rb"qid:[ \t]*[+-]?(\d*)")
INDEX = re.compile(rb"\d*")
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
TOKEN = re.compile(rb"[^ \t#]*")
FOUND = re.compile(rb"[^ \t]{0,%d}" % SHOWN)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Fault(Exception):
    """A fault of the text: what is wrong, and where in the line."""

    def __init__(self, kind, place):
        self.kind, self.place = kind, place


class LibsvmParser:
    """A parser that is fed bytes in pieces of any size, and gives rows."""

    def __init__(self, base, label_rule, max_line, max_index=LARGEST_INDEX):
        if base not in (-1, 0, 1):
            raise ValueError("base must be 0, 1, or -1 for unknown")
        if label_rule not in (ANY, AS_THE_FIRST, NUMBERS):
            raise ValueError("label_rule must be 0, 1 or 2")
        if max_line < 0:
            raise ValueError("max_line must not be negative")
        self.base, self.label_rule, self.max_line, self.max_index = base, label_rule, max_line, max_index
        self.line, self.fault, self.labelled, self.numbers_only = 1, None, None, True
        self.smallest_index = self.largest_index = -1
        self._unfinished, self._file_begins, self._any_labels = b"", True, False
        self._after_return = False  # The last byte was a CR: if the next one is LF, it belongs to the same line end.
        self._forget_rows()

    @property
    def column(self):
        return len(self._unfinished) + 1

    @property
    def n_rows(self):
        return len(self._row_ends)

    def feed(self, data, max_rows, max_entries):
        """Parse until a fault, the end, or until so many rows or entries wait; return how many bytes were used."""
        data = bytes(data)
        used = self._feed_after_return(data, 0)
        while used < len(data) and not self.fault and self.n_rows < max_rows and len(self._values) < max_entries:
            line_end = LINE_END.search(data, used)
            stop = line_end.start() if line_end else len(data)
            if len(self._unfinished) + stop - used > self.max_line:
                self.fault = ("long_line", self.line, self.max_line + 1, b"")
                break
            self._unfinished += data[used:stop]
            used = stop
            if line_end:
                self._end_line()
                self._after_return = line_end[0] == b"\r" and not self.fault
                used = self._feed_after_return(data, line_end.end())
        return used

    def _feed_after_return(self, data, place):
        """Return where to read on, which is past an LF that follows a CR."""
        if place == len(data) or not self._after_return:
            return place
        self._after_return = False
        return place + data.startswith(b"\n", place)

    def end_file(self):
        """End the file; what is fed next is another file."""
        if self._unfinished and not self.fault:
            self._end_line()
        if not self.fault:
            self.line, self._file_begins, self._after_return = 1, True, False

    def take(self):
        """Return the labels (NaN if not a number), their texts, where each text ends, indices, values and row ends."""
        if self.fault:
            raise ValueError("nothing can be taken after a fault")
        taken = (
            np.array(self._labels, dtype=np.float64),
            np.frombuffer(b"".join(self._texts), dtype=np.int8),
            np.cumsum([len(text) for text in self._texts], dtype=np.int64),
            np.array(self._indices, dtype=np.int32),
            np.array(self._values, dtype=np.float64),
            np.array(self._row_ends, dtype=np.int64),
        )
        self._forget_rows()
        return taken

    def _forget_rows(self):
        self._labels, self._texts, self._indices, self._values, self._row_ends = [], [], [], [], []

    def _end_line(self):
        text, self._unfinished = self._unfinished, b""
        begin = len(BYTE_ORDER_MARK) if self._file_begins and text.startswith(BYTE_ORDER_MARK) else 0
        self._file_begins = False
        try:
            self._parse_line(text, SPACE.match(text, begin).end())
            self.line += 1
        except Fault as fault:
            self.fault = (fault.kind, self.line, fault.place + 1, FOUND.match(text, fault.place)[0])

    def _parse_line(self, text, place):
        if ends_row(text, place):
            return
        place = SPACE.match(text, self._parse_label(text, place)).end()
        if text.startswith(b"qid:", place):
            place = parse_qid(text, place)
        indices, values = [], []
        place = SPACE.match(text, place).end()
        while not ends_row(text, place):
            index, value, place = self._parse_entry(text, place, indices[-1] if indices else -1)
            indices.append(index)
            values.append(value)
            place = SPACE.match(text, place).end()
        self._keep(indices, values)

    def _parse_label(self, text, begin):
        place = LABEL.match(text, begin).end()
        if text[place : place + 1] == b",":
            raise Fault("several_labels", place)
        labelled = text[place : place + 1] != b":"
        if labelled and not ends_token(text, place):
            raise Fault("control_byte", place)
        if self.labelled not in (None, labelled):
            raise Fault("unexpected_label" if labelled else "no_label", begin)
        self.labelled = labelled
        if not labelled:
            return begin
        label = text[begin:place]
        value = label_value(label, begin)
        if math.isnan(value) and not self._may_be_text():
            raise Fault("label_not_a_number", begin)
        self._any_labels = True
        self._labels.append(value)
        self._texts.append(label)
        self.numbers_only = self.numbers_only and not math.isnan(value)
        return place

    def _may_be_text(self):
        after_numbers = self._any_labels and self.numbers_only
        return self.label_rule == ANY or (self.label_rule == AS_THE_FIRST and not after_numbers)

    def _parse_entry(self, text, begin, previous):
        """Return the index, the value, and where they end."""
        place = INDEX.match(text, begin).end()
        if place == begin:
            raise Fault("negative_index" if re.match(rb"-\d", text[begin:]) else "no_index", begin)
        if text[place : place + 1] != b":":
            raise Fault("no_colon" if ends_token(text, place) else "bad_index", place)
        index = self._checked_index(text[begin:place], begin, previous)
        begin = SPACE.match(text, place + 1).end()
        found = NUMBER.match(text, begin)
        if not found:
            raise Fault(value_problem(text, begin), begin)
        if not ends_token(text, found.end()):
            raise Fault("after_value", found.end())
        value = float(found[0])
        if math.isinf(value):
            raise Fault("overflow", begin)
        return index, value, found.end()

    def _checked_index(self, digits, place, previous):
        # Python refuses to read numbers of thousands of digits, so zeros in front are taken away first.
        significant = digits.lstrip(b"0") or b"0"
        if len(significant) > 10 or int(significant) > LARGEST_INDEX:
            raise Fault("large_index", place)
        index = int(significant)
        if index > self.max_index:
            raise Fault("many_features", place)
        if index < self.base:
            raise Fault("index_zero", place)
        if index <= previous:
            raise Fault("repeated_index" if index == previous else "decreasing_index", place)
        return index

    def _keep(self, indices, values):
        if indices:
            self.smallest_index = indices[0] if self.smallest_index < 0 else min(self.smallest_index, indices[0])
            self.largest_index = max(self.largest_index, indices[-1])
        self._indices += [index - max(self.base, 0) for index in indices]
        self._values += values
        self._row_ends.append(len(self._values))


def ends_row(text, place):
    return text[place : place + 1] in (b"", b"#")


def ends_token(text, place):
    return text[place : place + 1] in (b"", b" ", b"\t", b"#")


def label_value(label, place):
    if len(label) > LONGEST_LABEL:
        raise Fault("long_label", place)
    if NUMBER.fullmatch(label):
        value = float(label)
        if math.isinf(value):
            raise Fault("label_overflow", place)
        return value
    if NOT_FINITE.fullmatch(label):
        raise Fault("label_not_finite", place)
    try:
        label.decode("utf-8")
    except UnicodeDecodeError:
        raise Fault("label_not_utf8", place) from None
    return math.nan


def parse_qid(text, place):
    found = QID.match(text, place)
    if not found[1] or not ends_token(text, found.end()):
        raise Fault("bad_qid", found.end())
    return found.end()


def value_problem(text, place):
    if ends_row(text, place):
        return "no_value"
    return "not_finite" if NOT_FINITE.fullmatch(TOKEN.match(text, place)[0]) else "not_a_number"
