"""Tables: CSV and TSV by pandas, Parquet by pyarrow, block by block. Every column but the label is a feature.

The first line of a CSV file is its header if it has the name of the label column, or if none of its fields is a number.
"""

from __future__ import annotations

import csv
import io
import re

import numpy as np

from isrht.files.errors import FileError, library
from isrht.files.labels import LONGEST, WRITTEN_NUMBER, Labels
from isrht.files.rows import Rows, check_finite, check_width, position, rows_per_block
from isrht.files.streams import open_bytes

SEPARATORS = {"csv": ",", "tsv": "\t"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


class TableRows(Rows):
    """Rows of a table of named columns, of which one may be the label."""

    def __init__(self, paths, format, *, label=None, **options):
        super().__init__(paths, format, **options)
        self.label = label

    def _blocks(self, label_type):
        names = None
        for path in self._files():
            for found, columns in self._tables(path):
                names = names or found
                if found != names:
                    raise FileError(path, f"its columns are not those of {self.paths[0]}")
                yield self._block(found, columns)

    def _tables(self, path):
        """Yield the names of the columns and the columns of some rows."""
        raise NotImplementedError

    def _label_place(self, names):
        return None if self.label is None else position(self._path, self.label, names)

    def _block(self, names, columns):
        place = self._label_place(names)
        features = [number for number in range(len(names)) if number != place]
        check_width(self._path, len(features), self.n_features)
        if all(isinstance(name, str) for name in names):
            self.feature_names = [names[number] for number in features]
        X = np.empty((len(columns[0]), len(features)))
        for out, number in enumerate(features):
            X[:, out] = self._numbers(columns[number], names[number])
        check_finite(self._path, X, self._row, [names[number] for number in features])
        return X, None if place is None else self._labels(columns[place], names[place])

    def _numbers(self, column, name):
        if column.dtype.kind in "biuf":
            return column
        for number, value in enumerate(column):
            if not isinstance(value, int | float) and not WRITTEN_NUMBER.fullmatch(str(value).strip()):
                raise FileError(self._path, f"row {self._row + number + 1}, column {name!r}: {value!r} is no number")
        return column.astype(np.float64)

    def _labels(self, column, name):
        if column.dtype.kind in "biuf":
            check_finite(self._path, column.astype(np.float64)[:, None], self._row, [name])
            return Labels.of_numbers(column)
        texts = [value.strip() if isinstance(value, str) else "" for value in column]
        for number, text in enumerate(texts):
            if not 0 < len(text) <= LONGEST or not text.isprintable() or NOT_FINITE.fullmatch(text):
                raise FileError(self._path, f"row {self._row + number + 1}, column {name!r}: {text[:24]!r} is no label")
        return self._labels_of_texts(texts)


class CsvRows(TableRows):
    """Rows of CSV or TSV text."""

    _labels_of_texts = staticmethod(Labels.from_texts)

    def __init__(self, paths, format="csv", *, max_unpacked=None, **options):
        super().__init__(paths, format, **options)
        self.max_unpacked = max_unpacked

    def _tables(self, path):
        pandas = library("pandas", "reading CSV or TSV")
        with open_bytes(path, self.max_unpacked) as stream:
            first = stream.readline().removeprefix(BYTE_ORDER_MARK)
            names, has_header = self._header(first)
            if not names:
                return
            text = stream if has_header else io.BufferedReader(Rejoined(first, stream))
            try:
                for table in self._chunks(pandas, text, names):
                    if len(table.columns) != len(names):
                        raise FileError(self._path, f"{len(table.columns)} columns, but {len(names)} names of columns")
                    yield names, [table[number].to_numpy() for number in table.columns]
            except (pandas.errors.ParserError, UnicodeDecodeError) as error:
                raise FileError(self._path, str(error).strip()) from error
            except pandas.errors.EmptyDataError:
                return

    def _header(self, line):
        """The names of the columns, and whether this first line gives them."""
        try:
            fields = next(csv.reader([line.decode("utf-8")], delimiter=SEPARATORS[self.format]), [])
        except (UnicodeDecodeError, csv.Error) as error:
            raise FileError(self._path, f"it is no text of columns ({error})", 1) from error
        fields = [field.strip() for field in fields]
        has_header = self.label in fields or not any(WRITTEN_NUMBER.fullmatch(field) for field in fields)
        return fields if has_header else list(range(len(fields))), has_header

    def _chunks(self, pandas, text, names):
        place = self._label_place(names)
        return pandas.read_csv(
            text,
            sep=SEPARATORS[self.format],
            header=None,
            dtype=None if place is None else {place: str},
            chunksize=rows_per_block(len(names), self.block_rows),
            na_filter=False,
            skipinitialspace=True,
            low_memory=False,
            **exactly(pandas),
        )


def exactly(pandas):
    """Ask for correctly rounded numbers, which are the default since pandas 3.1; asking is deprecated there."""
    version = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {"float_precision": "round_trip"} if version < (3, 1) else {}


class ParquetRows(TableRows):
    """Rows of Parquet files."""

    _labels_of_texts = staticmethod(Labels.of_words)

    def _tables(self, path):
        parquet = library("pyarrow.parquet", "reading Parquet")
        arrow = library("pyarrow", "reading Parquet")
        try:
            with parquet.ParquetFile(path) as file:
                names = file.schema_arrow.names
                self._check_types(arrow.types, file.schema_arrow)
                for batch in file.iter_batches(batch_size=rows_per_block(len(names), self.block_rows)):
                    if batch.num_rows:
                        yield names, [column.to_numpy(zero_copy_only=False) for column in batch.columns]
        except arrow.ArrowInvalid as error:
            raise FileError(self._path, f"it is no Parquet file ({error})") from error

    def _check_types(self, types, schema):
        place = self._label_place(schema.names)
        for number, field in enumerate(schema):
            of = field.type
            is_number = types.is_integer(of) or types.is_floating(of) or types.is_boolean(of)
            is_text = types.is_string(of) or types.is_large_string(of) or types.is_dictionary(of)
            if not is_number and not (is_text and number == place):
                raise FileError(self._path, f"column {field.name!r} is of type {of}, not of numbers")


class Rejoined(io.RawIOBase):
    """A first line that was read already, and the rest."""

    def __init__(self, first, rest):
        self.first, self.rest = first, rest

    def readable(self):
        return True

    def readinto(self, buffer):
        data, self.first = self.first[: len(buffer)], self.first[len(buffer) :]
        data = data or self.rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
