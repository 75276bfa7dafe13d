"""Tables: CSV and TSV by pandas, Parquet by pyarrow, block by block. Every field but the label is a feature.

The first line of a CSV file is its header if it has the name of the label, or if none of its entries is a number. The
text is cut into lines here and given to pandas in blocks, so that an error can name the line and say in our words what
is wrong with it. An entry within quotes cannot hold the end of a line; a label or a number would not either.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import islice

import numpy as np

from isrht.files._checks import check_finite, check_width, label_place
from isrht.files.errors import FileError, library
from isrht.files.labels import LONGEST, WRITTEN_NUMBER, Labels
from isrht.files.rows import FileRows, rows_per_block
from isrht.files.streams import open_bytes, to_search

SEPARATORS = {"csv": ",", "tsv": "\t"}
BLANKS = {"csv": b" \t\r\n", "tsv": b" \r\n"}
CHUNK_BYTES = 2**20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


class TableRows(FileRows):
    """Rows of a table of named fields, of which one may be the label."""

    def __init__(self, paths, format, *, label=None, **options):
        super().__init__(paths, format, **options)
        self.label = label

    def _blocks(self, label_type):
        names = None
        for path in self._files():
            for found, fields in self._tables(path):
                names = names or found
                if found != names:
                    raise FileError(path, f"its columns are not those of {self.paths[0]}")
                yield self._block(found, fields)

    def _tables(self, path):
        """Yield, block by block, the names of the fields and an array of values for each of them."""
        raise NotImplementedError

    def _label_place(self, names):
        return None if self.label is None else label_place(self._path, self.label, names)

    def _block(self, names, fields):
        place = self._label_place(names)
        features = [number for number in range(len(names)) if number != place]
        check_width(self._path, len(features), self.n_features)
        if all(isinstance(name, str) for name in names):
            self.feature_names = [names[number] for number in features]
        X = np.empty((len(fields[0]), len(features)))
        for out, number in enumerate(features):
            X[:, out] = self._numbers(fields[number], names[number])
        check_finite(self._path, X, self._row, [names[number] for number in features])
        return X, None if place is None else self._labels(fields[place], names[place])

    def _numbers(self, field, name):
        if field.dtype.kind in "biuf":
            return field
        for number, value in enumerate(field):
            if not isinstance(value, int | float) and not WRITTEN_NUMBER.fullmatch(str(value).strip()):
                raise FileError(self._path, f"row {self._row + number + 1}, column {name!r}: {value!r} is no number")
        return field.astype(np.float64)

    def _labels(self, field, name):
        if field.dtype.kind in "biuf":
            check_finite(self._path, field.astype(np.float64)[:, None], self._row, [name])
            return Labels.of_numbers(field)
        texts = [value.strip() if isinstance(value, str) else "" for value in field]
        for number, text in enumerate(texts):
            if not is_label(text):
                raise FileError(self._path, f"row {self._row + number + 1}, column {name!r}: {text[:24]!r} is no label")
        return self._labels_of_texts(texts)


def is_label(text):
    """Say whether a text may be a label in a table."""
    return 0 < len(text) <= LONGEST and text.isprintable() and text == text.strip() and not NOT_FINITE.fullmatch(text)


class CsvRows(TableRows):
    """Rows of CSV or TSV text."""

    _labels_of_texts = staticmethod(Labels.from_texts)

    def __init__(self, paths, format, *, max_unpacked=None, **options):
        super().__init__(paths, format, **options)
        self.max_unpacked = max_unpacked

    def _tables(self, path):
        pandas = library("pandas", "reading CSV or TSV")
        with open_bytes(path, self.max_unpacked) as stream:
            lines = self._numbered_lines(stream)
            head = next(lines, None)
            if head is None:
                return
            names, has_header = self._header(*head)
            check_width(path, len(names) - (self._label_place(names) is not None), self.n_features)
            block = [] if has_header else [head]
            n_rows = rows_per_block(len(names), self.block_rows)
            while block := [*block, *islice(lines, n_rows - len(block))]:
                table = self._table(pandas, block, names, has_header)
                yield names, [table[number].to_numpy() for number in table.columns]
                block = []

    def _numbered_lines(self, stream):
        """Yield ``(number, line)`` for the lines that are not blank; a byte order mark is left out."""
        for number, line in enumerate(lines_of(stream), start=1):
            line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if line.strip(BLANKS[self.format]):
                yield number, line

    def _header(self, number, line):
        """Return the names of the fields, and whether it is this first line that gives them."""
        entries = [entry.strip() for entry in self._entries(number, line)]
        has_header = self.label in entries or not any(WRITTEN_NUMBER.fullmatch(entry) for entry in entries)
        return entries if has_header else list(range(len(entries))), has_header

    def _entries(self, number, line):
        try:
            text = line.decode("utf-8").rstrip("\r\n")
            return next(csv.reader([text], delimiter=SEPARATORS[self.format], skipinitialspace=True, strict=True))
        except (UnicodeDecodeError, csv.Error) as error:
            problem = "a quotation mark is not closed" if "unexpected end" in str(error) else str(error)
            raise FileError(self._path, f"it is no text of columns ({problem})", number) from error

    def _table(self, pandas, block, names, has_header):
        """Return a data frame of a block of lines, each of which must have an entry for every name."""
        try:
            table = self._parsed(pandas, b"".join(line for _, line in block), names)
            if len(table.columns) != len(names):
                raise pandas.errors.ParserError(f"{len(table.columns)} columns instead of {len(names)}")
        except (pandas.errors.ParserError, UnicodeDecodeError) as error:
            self._check_entries(block, names, has_header)
            raise FileError(self._path, f"it is no text of columns ({error})", block[0][0]) from error
        if is_text_with_gaps(table[len(names) - 1].to_numpy()):
            self._check_entries(block, names, has_header)
        return table

    def _check_entries(self, block, names, has_header):
        """Refuse the first line that has more or fewer entries than there are names."""
        for number, line in block:
            count = len(self._entries(number, line))
            if count != len(names):
                columns = f"the {'header' if has_header else 'first row'} has {len(names)}"
                raise FileError(self._path, f"the row has {count} field{'s'[: count != 1]}, but {columns}", number)

    def _parsed(self, pandas, text, names):
        place = self._label_place(names)
        return pandas.read_csv(
            io.BytesIO(text),
            sep=SEPARATORS[self.format],
            header=None,
            dtype=None if place is None else {place: str},
            na_filter=False,
            skipinitialspace=True,
            low_memory=False,
            **exactly(pandas),
        )


def lines_of(stream):
    """Yield the lines of a text with their ends, which may be LF, CRLF or CR."""
    unfinished = []
    while chunk := stream.read(CHUNK_BYTES):
        unfinished.append(chunk)
        if b"\n" in chunk or b"\r" in chunk:
            *lines, rest = b"".join(unfinished).splitlines(keepends=True)
            unfinished = [rest]  # even if it is whole, because after a CR there may be an LF
            yield from lines
    yield from b"".join(unfinished).splitlines(keepends=True)


def is_text_with_gaps(field):
    """Say whether pandas may have filled up short rows: their last entry is then empty, and the field one of texts."""
    return field.dtype.kind == "O" and (field == "").any()


def exactly(pandas):
    """Return the option that asks for correctly rounded numbers.

    They are the default since pandas 3.1, in which the option is deprecated.
    """
    version = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {"float_precision": "round_trip"} if version < (3, 1) else {}


class ParquetRows(TableRows):
    """Rows of Parquet files."""

    _labels_of_texts = staticmethod(Labels.of_words)

    def _tables(self, path):
        parquet = library("pyarrow.parquet", "reading Parquet")
        arrow = library("pyarrow", "reading Parquet")
        try:
            with parquet.ParquetFile(to_search(path)) as file:
                names = file.schema_arrow.names
                self._check_types(arrow.types, file.schema_arrow)
                for batch in file.iter_batches(batch_size=rows_per_block(len(names), self.block_rows)):
                    if batch.num_rows:
                        yield names, [field.to_numpy(zero_copy_only=False) for field in batch.columns]
        except arrow.ArrowInvalid as error:
            raise FileError(self._path, f"it is no Parquet file ({error})") from error
        except (arrow.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # the system is at fault, and not the file
                raise
            raise FileError(self._path, f"it is a damaged Parquet file ({error})") from error

    def _check_types(self, types, schema):
        place = self._label_place(schema.names)
        for number, field in enumerate(schema):
            of = field.type
            is_number = types.is_integer(of) or types.is_floating(of) or types.is_boolean(of)
            is_text = types.is_string(of) or types.is_large_string(of) or types.is_dictionary(of)
            if not is_number and not (is_text and number == place):
                raise FileError(self._path, f"column {field.name!r} is of type {of}, not of numbers")
