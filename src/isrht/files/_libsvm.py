"""LIBSVM text: its bytes go to the compiled parser, or to the parser's twin in Python, and blocks in CSR come out.

The base of the indices is 0 if an index 0 is found anywhere in the files, and otherwise 1. The base, the number of
features and the type of the labels are known only after the last line. Blocks therefore need a scan first, or a given
``index_base`` and ``n_features``. Values of indices past a given ``n_features`` are dropped and counted.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from isrht import kernels
from isrht.files._checks import HOW_TO_HAVE_MORE, check_feature_count
from isrht.files._parsed import UNLIMITED, Indices, ParsedRows, parsed, pieces
from isrht.files.errors import FileError
from isrht.files.facts import FactsCounter
from isrht.files.labels import NUMBER, TEXT
from isrht.files.rows import FileRows
from isrht.files.streams import can_be_read_again, is_unpacked_by_threads, open_bytes, packing
from isrht.support.threads import read_ahead, stream_in_threads

AUTO: Literal["auto"] = "auto"
# The text is parsed so many bytes at a time, and an archive is unpacked so many of these ahead of the parser.
CHUNK_BYTES, UNPACKED_AHEAD = 2**20, 2
MAX_LINE_BYTES = 2**28
# A block ends at either of these, unless the user sets the number of rows: 12 MB of indices and values, and enough rows
# to be worth a call of the parser.
BLOCK_ROWS, BLOCK_ENTRIES = 2**16, 2**20

LARGEST_INDEX = 2**31 - 1
UNKNOWN = -1
# The numbers by which the parser knows which labels it may accept; by None, the first label decides.
LABEL_RULES = {TEXT: 0, None: 1, NUMBER: 2}

# The parsers give their faults names; here is a sentence for each.
PROBLEMS = {
    "after_value": "{found} follows a value; a space is missing, or it is no number",
    "bad_index": "{found} is in an index, which must be a whole number",
    "bad_qid": "qid must be a whole number",
    "control_byte": "{found} is binary, not text",
    "decreasing_index": "the index in {found} is smaller than the one before",
    "index_zero": "index 0 where indices begin with 1 (index_base=0 would allow it)",
    "label_not_a_number": "the label {found} is no number (label_type='text' would allow it)",
    "label_not_finite": "the label {found} is not finite",
    "label_not_utf8": "the label {found} is not UTF-8",
    "label_overflow": "the label {found} is too large",
    "large_index": "the index in {found} is larger than 2147483647",
    "many_features": "the index in {found} makes more than {most:,} features" + HOW_TO_HAVE_MORE,
    "long_label": "the label {found}... is longer than 256 bytes",
    "long_line": f"the line is longer than {MAX_LINE_BYTES:,} bytes",
    "negative_index": "the index in {found} is negative",
    "no_colon": "a colon is missing after an index",
    "no_index": "{found} where an index is expected",
    "no_label": "the row has no label, but earlier ones have",
    "no_value": "a value is missing after the colon",
    "not_a_number": "the value {found} is no number",
    "not_finite": "the value {found} is not finite",
    "overflow": "the value {found} is too large",
    "repeated_index": "the index in {found} is there twice",
    "several_labels": "a comma in a label: rows of several labels are not supported",
    "unexpected_label": "the row has the label {found}, but earlier ones have none",
}


class LibsvmRows(FileRows):
    """Rows of LIBSVM text, in CSR."""

    def __init__(self, paths, format, *, index_base=AUTO, **options):
        super().__init__(paths, format, **options)
        if index_base not in (AUTO, 0, 1):
            raise ValueError(f"index_base must be 'auto', 0 or 1, got {index_base!r}")
        self.index_base = index_base

    def must_be_scanned(self):
        return self.index_base == AUTO or self.n_features is None

    def _blocks(self, label_type):
        base = self.facts.index_base if self.index_base == AUTO else self.index_base
        width = self._width(self.facts and self.facts.n_features)
        for block in self._parsed_or_kept(base, LABEL_RULES[label_type]):
            self.n_unseen += block.drop_from(width)
            if block.n_rows:
                yield block.matrix(width), block.labels

    def _parsed_or_kept(self, base, rule):
        """Yield rows as they are parsed, or as the scan has kept them, which may not have known the base."""
        if self.scan_cache is None or not self.scan_cache.complete:
            yield from self._parsed(base, rule, Indices())
            return
        for block in self.scan_cache:
            if self._asked_base == UNKNOWN:
                block.indices -= base
            yield block

    def _scan(self):
        # Until the base is known, values past n_features are counted for both bases.
        counter, past, found = FactsCounter(self.label_type), np.zeros(2, dtype=np.int64), Indices()
        blocks = self._parsed(self._asked_base, self._asked_rule, found)
        for block in blocks if self.scan_cache is None else self.scan_cache.keep(blocks):
            counter.add_rows(block.n_rows, len(block.values), block.labels)
            if self.n_features is not None:
                past += [np.count_nonzero(block.indices >= self.n_features + shift) for shift in (0, 1)]
        base = self._found_base(found)
        self.n_unseen = int(past[base if self._asked_base == UNKNOWN else 0])
        return self._facts(counter, found, base)

    def _read(self):
        found = Indices()
        (parser,) = self._parse(self._asked_base, self._asked_rule, UNLIMITED, UNLIMITED)
        found.add(parser)
        block, base, counter = ParsedRows(parser), self._found_base(found), FactsCounter(self.label_type)
        counter.add_rows(block.n_rows, len(block.values), block.labels)
        if self._asked_base == UNKNOWN:
            block.indices -= base
        facts = self._facts(counter, found, base)
        self.n_unseen = block.drop_from(facts.n_features)
        return block.matrix(facts.n_features), block.labels, replace(facts, n_unseen=self.n_unseen)

    def _facts(self, counter, found, base):
        width = self._width(max(0, found.largest + 1 - base))
        # The parser has looked at every index, but an unknown base may turn out to be 0, which makes one feature more.
        check_feature_count(self._path, width, self)
        max_index = found.largest if found.largest >= 0 else None
        return counter.facts(self.format, width, self.n_unseen, index_base=base, max_index=max_index)

    @property
    def _asked_base(self):
        return UNKNOWN if self.index_base == AUTO else self.index_base

    @property
    def _asked_rule(self):
        return LABEL_RULES[self.label_type or TEXT]

    def _found_base(self, found):
        if self.index_base != AUTO:
            return self.index_base
        return 0 if found.smallest == 0 else 1

    def _parsed(self, base, rule, found):
        """Yield rows as they are parsed, by one thread or by several; ``found`` takes up their indices."""
        if self._is_shared(rule):
            given = self._parse_in_threads(base, rule)
        else:
            given = ((parser, ParsedRows(parser)) for parser in self._parse(base, rule))
        for parser, rows in given:
            found.add(parser)
            yield rows

    def _is_shared(self, rule):
        """Say whether threads share the parsing. Archives take longer to unpack, and a pipe could not be read again."""
        if self.threads == 1 or self.block_rows is not None or rule == LABEL_RULES[None]:
            return False
        return all(not packing(path) and can_be_read_again(path) for path in self.paths)

    def _parse_in_threads(self, base, rule):
        """Yield the parsers of pieces of the text, and their rows."""
        new_parser, labelled = partial(self._new_parser, base, rule), None
        for path in self._files():
            with open_bytes(path, self.limits) as stream:
                texts = pieces(iter(partial(stream.read, CHUNK_BYTES), b""), MAX_LINE_BYTES)
                with closing(stream_in_threads(partial(parsed, new_parser), texts, self.threads)) as results:
                    for parser, rows in results:
                        labelled = parser.labelled if labelled is None else labelled
                        if rows is None or parser.labelled not in (None, labelled):
                            self._tell_fault(base, rule)
                        yield parser, rows

    def _tell_fault(self, base, rule):
        """Raise the error of a fault in the text, by parsing all of it again."""
        for _ in self._parse(base, rule):
            pass
        raise FileError(self._path, "it has changed while it was read")

    def _new_parser(self, base, rule):
        return kernels.engine.LibsvmParser(base, rule, MAX_LINE_BYTES, self._max_index(base))

    def _parse(self, base, rule, max_rows=None, max_entries=None):
        """Yield the parser whenever it is full, so that its rows can be taken, and once more at the end."""
        max_rows = max_rows or self.block_rows or BLOCK_ROWS
        max_entries = max_entries or (UNLIMITED if self.block_rows else BLOCK_ENTRIES)
        parser = self._new_parser(base, rule)
        for path in self._files():
            with open_bytes(path, self.limits, self.threads) as stream, closing(self._chunks(stream, parser)) as chunks:
                for chunk in chunks:
                    rest = memoryview(chunk)
                    while rest := rest[parser.feed(rest, max_rows, max_entries) :]:
                        self._check(parser)
                        yield parser
                    self._check(parser)
            parser.end_file()
            self._check(parser)
        yield parser

    def _max_index(self, base):
        """Return the largest index that the text may have; if ``n_features`` is given, larger ones do no harm."""
        return LARGEST_INDEX if self.n_features is not None else min(LARGEST_INDEX, self.limits.features - (base == 0))

    def _chunks(self, stream, parser):
        """Yield the bytes of a stream; what one thread unpacks, is unpacked ahead of the parser if there may be two."""
        chunks = iter(partial(stream.read, CHUNK_BYTES), b"")
        ahead = self.threads > 1 and packing(self._path) and not is_unpacked_by_threads(self._path)
        try:
            yield from read_ahead(chunks, UNPACKED_AHEAD) if ahead else chunks
        except FileError as error:
            raise FileError(error.path, error.problem, parser.line, parser.column) from error

    def _check(self, parser):
        if parser.fault:
            kind, line, column, found = parser.fault
            shown = repr(found.decode("utf-8", "backslashreplace"))
            raise FileError(self._path, PROBLEMS[kind].format(found=shown, most=self.limits.features), line, column)
