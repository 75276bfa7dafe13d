"""Tables: CSV and TSV by pandas, Parquet by pyarrow, block by block. Every field but the label is a feature.

The first line of a CSV file is its header if it has the name of the label, or if none of its entries is a number. The
text is cut into lines here and given to pandas in blocks, so that an error can name the line and say in our words what
is wrong with it. An entry within quotes cannot hold the end of a line; a label or a number would not either.
"""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from contextlib import contextmanager

import numpy as np

from isrht.files._checks import check_finite, check_width, label_place, refuse_infinite
from isrht.files._trouble import RemoteError
from isrht.files.arrow import (
    ColumnsAsRows,
    bytes_of_row,
    column_of,
    csr,
    interleaved,
    layout_of,
    precision_of,
    rows_of_lists,
    sparse_rows,
)
from isrht.files.errors import FileError, library, name_of, other_columns
from isrht.files.folders import named_by_folders
from isrht.files.labels import LONGEST, WRITTEN_NUMBER, Labels
from isrht.files.rows import FileRows, rows_per_block
from isrht.files.streams import open_bytes, to_seek
from isrht.support.threads import read_ahead

SEPARATORS = {"csv": ",", "tsv": "\t"}
BLANKS = {"csv": b" \t\r\n", "tsv": b" \r\n"}
CHUNK_BYTES = 2**20
# Parquet is decoded so many batches ahead of the computation, and a batch, which Arrow decodes the faster the larger it
# is, has about so many bytes. Of a file that this machine has, each column is read so many bytes at a time.
READ_AHEAD, BATCH_BYTES, READ_BYTES = 2, 2**25, 2**14
# Rows are made of at least so many at a time: every column costs the same few microseconds, however short it is.
PIECE_ROWS = 1024
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
                    raise other_columns(path, found, self.paths[0], names)
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
        columns = np.empty((len(features), len(fields[0])))
        for out, number in zip(columns, features, strict=True):
            out[:] = self._numbers(fields[number], names[number])
        X, finite = interleaved(columns)
        if not finite:
            refuse_infinite(self._path, X, self._row, [names[number] for number in features])
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
        which, found = library("pandas", "reading labels that are texts").factorize(field, use_na_sentinel=False)
        texts = [value.strip() if isinstance(value, str) else "" for value in found]  # few, where labels are classes
        bad = [number for number, text in enumerate(texts) if not is_label(text)]
        if bad:
            row = int(np.flatnonzero(np.isin(which, bad))[0])
            text = texts[which[row]]
            raise FileError(self._path, f"row {self._row + row + 1}, column {name!r}: {text[:24]!r} is no label")
        return Labels.of_different(texts, which, self._are_words)


def is_label(text):
    """Say whether a text may be a label in a table."""
    return 0 < len(text) <= LONGEST and text.isprintable() and text == text.strip() and not NOT_FINITE.fullmatch(text)


class CsvRows(TableRows):
    """Rows of CSV or TSV text."""

    _are_words = False

    def _tables(self, path):
        pandas = library("pandas", "reading CSV or TSV")
        with open_bytes(path, self.limits, self.threads) as stream:
            lines = LineBlocks(self._segments(stream))
            head = lines.take(1)
            if head is None:
                return
            names, has_header = self._header(*next(head.lines()))
            check_width(path, len(names) - (self._label_place(names) is not None), self.n_features)
            n_rows, block = rows_per_block(len(names), self.block_rows), None
            if not has_header:
                lines.give_back(head)
            while block := lines.take(n_rows):
                table = self._table(pandas, block, names, has_header)
                yield names, [table[number].to_numpy() for number in table.columns]

    def _segments(self, stream):
        """Yield ``(number, text)``: consecutive lines of which none is blank, and the number of the first of them.

        Lines end with LF, whatever they end with in the file. A byte order mark is left out.
        """
        number, blanks = 1, BLANKS[self.format]
        blank = re.compile(rb"^[" + blanks.replace(b"\n", b"") + rb"]*\n", re.MULTILINE)
        for text in texts_of(stream):
            text = text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text
            if not blank.search(text):
                yield number, text
                number += text.count(b"\n")
                continue
            for line in text.splitlines(keepends=True):
                if line.strip(blanks):
                    yield number, line
                number += 1

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
            table = self._parsed(pandas, block.text(), names)
            if table.shape != (block.count, len(names)):
                raise pandas.errors.ParserError(f"a table of shape {table.shape}, not {(block.count, len(names))}")
        except (pandas.errors.ParserError, UnicodeDecodeError) as error:
            self._check_entries(block, names, has_header)
            raise FileError(self._path, f"it is no text of columns ({error})", block.first) from error
        if is_text_with_gaps(table[len(names) - 1].to_numpy()):
            self._check_entries(block, names, has_header)
        return table

    def _check_entries(self, block, names, has_header):
        """Refuse the first line that has more or fewer entries than there are names."""
        for number, line in block.lines():
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


def texts_of(stream):
    """Yield pieces of a text that end with a line, which ends with LF here: in the file also with CRLF or CR."""
    unfinished = []
    while chunk := stream.read(CHUNK_BYTES):
        unfinished.append(chunk)
        if b"\n" not in chunk and b"\r" not in chunk and not unfinished[0].endswith(b"\r"):
            continue
        text = b"".join(unfinished)
        end = max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1))  # after a CR at the end there may be an LF
        unfinished = [text[end + 1 :]]
        if end >= 0:
            yield with_line_feeds(text[: end + 1])
    if rest := b"".join(unfinished):
        text = with_line_feeds(rest)
        yield text if text.endswith(b"\n") else text + b"\n"


def with_line_feeds(text):
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


class LineBlocks:
    """Lines of a text that are taken some at a time. Whole pieces of text are handed on, and no line is looked at.

    Parameters
    ----------
    segments : iterator of (int, bytes)
        Consecutive lines, and the number of the first of them.
    """

    def __init__(self, segments):
        self.segments, self.left = segments, deque()

    def take(self, count):
        """Return the next ``count`` lines, or as many as there are; None after the last."""
        block = LineBlock()
        while block.count < count:
            segment = self.left.popleft() if self.left else next(self.segments, None)
            if segment is None:
                break
            number, text = segment
            wanted, n_lines = count - block.count, text.count(b"\n")
            if n_lines > wanted:
                end = int(np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))[wanted - 1]) + 1
                self.left.appendleft((number + wanted, text[end:]))
                text, n_lines = text[:end], wanted
            block.add(number, text, n_lines)
        return block if block.count else None

    def give_back(self, block):
        """Let the lines of a block be taken again."""
        self.left.extendleft(reversed(block.segments))


class LineBlock:
    """Some lines, none of them blank, in segments of consecutive ones."""

    def __init__(self):
        self.segments, self.count = [], 0

    def add(self, number, text, n_lines):
        self.segments.append((number, text))
        self.count += n_lines

    @property
    def first(self):
        """The number of the first line."""
        return self.segments[0][0]

    def text(self):
        return b"".join(text for _, text in self.segments)

    def lines(self):
        """Yield ``(number, line)`` for every line, for those who have to look for what is wrong."""
        for number, text in self.segments:
            yield from enumerate(text.splitlines(keepends=True), start=number)


def is_text_with_gaps(field):
    """Say whether pandas may have filled up short rows: their last entry is then empty, and the field one of texts."""
    return field.dtype.kind == "O" and (field == "").any()


def exactly(pandas):
    """Return the option that asks for correctly rounded numbers.

    They are the default since pandas 3.1, in which the option is deprecated.
    """
    version = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {"float_precision": "round_trip"} if version < (3, 1) else {}


def has_reserve(n_rows):
    """Say whether a batch of so many rows leaves three eighths of the room that Arrow makes for its columns.

    Arrow makes room for the next power of two, and before it is done it has more rows of a page than it was asked for.
    Where they have no room, it moves the whole column to a place of twice the size, and back.
    """
    return 8 * n_rows <= 5 * 2 ** (n_rows - 1).bit_length()


class ParquetRows(TableRows):
    """Rows of Parquet files: columns of numbers, a column of lists, or sparse rows (:mod:`isrht.files.arrow`)."""

    _are_words = True
    _metadata = None  # of the first file, from the question for its layout to the pass that follows at once

    def must_be_scanned(self):
        """Say whether the width of sparse rows is known only after the last of them."""
        return self.n_features is None and self._layout(self.paths[0]) == "sparse"

    def _layout(self, path):
        with self._open(path) as file:
            schema = self._schema(path, file)
            self._metadata = file.metadata
            return layout_of(path, schema, self._label_place(schema.names))

    def _blocks(self, label_type):
        first = None
        for path in self._files():
            with self._open(path) as file:
                schema = self._schema(path, file)
                if first is not None and schema.names != first.names:
                    raise other_columns(path, schema.names, self.paths[0], first.names)
                first = first or schema
                yield from self._file_blocks(path, file, schema)

    def _schema(self, path, file):
        """Return the columns of a file, and those that the names of its folders tell."""
        schema = file.schema_arrow
        for name, value in named_by_folders(path).items():
            schema = schema if name in schema.names else schema.append(column_of(name, value, 0)[0])
        return schema

    def _with_folders(self, path, batch):
        for name, value in named_by_folders(path).items():
            if name not in batch.schema.names:
                batch = batch.append_column(*column_of(name, value, batch.num_rows))
        return batch

    def _file_blocks(self, path, file, schema):
        names = schema.names  # a list that Arrow makes whenever it is asked for
        place = self._label_place(names)
        layout = layout_of(path, schema, place)
        features = [number for number in range(len(names)) if number != place]
        if layout == "columns":
            check_width(path, len(features), self.n_features)
            self.feature_names = [names[number] for number in features]
        stored = self._stored(file, layout, features)
        step = rows_per_block(stored, self.block_rows)
        dtype = np.dtype(precision_of(schema, features) if layout == "columns" else np.float64)
        decoded = bytes_of_row(schema, features) if layout == "columns" else stored * dtype.itemsize
        batches = self._batches(file, self._batch_rows(file, decoded, step))
        several = step if layout == "sparse" else step * -(-PIECE_ROWS // step)
        for batch in read_ahead(self._naming_faults(batches, path), READ_AHEAD):
            whole = self._with_folders(path, batch)
            rows_of = self._maker_of_rows(whole, layout, features, dtype)
            for start in range(0, whole.num_rows, several):
                stop = min(start + several, whole.num_rows)
                X = rows_of(start, stop)
                y = None if place is None else self._labels_of(whole, place, start, stop)
                if several == step:
                    yield X, y
                    continue
                for first in range(0, stop - start, step):
                    rows = slice(first, first + step)
                    yield X[rows], None if y is None else y[rows]

    def _batches(self, file, n_rows):
        """Yield batches of up to so many rows. What is one batch of one row group is read as a table is.

        Arrow takes longer to make a batch of many columns than to read all of them, and to say that they are a batch.
        """
        if file.metadata.num_row_groups == 1 and file.metadata.num_rows <= n_rows:
            yield from file.read().to_batches()
        else:
            yield from file.iter_batches(batch_size=n_rows)

    def _batch_rows(self, file, row_bytes, step):
        """Return how many rows are decoded at once: all of a file that reading ahead would have in memory anyway."""
        if file.metadata.num_rows * row_bytes <= READ_AHEAD * BATCH_BYTES:
            return max(1, file.metadata.num_rows)
        most = max(1, BATCH_BYTES // (step * row_bytes))
        return step * next((blocks for blocks in range(most, 0, -1) if has_reserve(blocks * step)), most)

    def _stored(self, file, layout, features):
        """Return about how many numbers a row has."""
        if layout == "columns":
            return max(1, len(features))
        rows = max(1, file.metadata.num_rows)
        groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
        leaves = [group.column(i).num_values for group in groups for i in range(group.num_columns)]
        return max(1, sum(leaves) // rows)

    def _maker_of_rows(self, batch, layout, features, dtype):
        """Return a function that makes rows of a part of a batch, from its first row to the one after the last."""
        if layout == "sparse":
            return lambda start, stop: self._sparse(batch.slice(start, stop - start), features)
        if layout == "lists":
            return lambda start, stop: self._lists(batch.column(features[0]).slice(start, stop - start))
        columns = ColumnsAsRows(batch, features, dtype)
        return lambda start, stop: self._dense(*columns.rows(start, stop))

    def _dense(self, X, finite):
        if not finite:
            refuse_infinite(self._path, X, self._row, self.feature_names)
        return X

    def _lists(self, column):
        X = rows_of_lists(self._path, self._row, column)
        check_width(self._path, X.shape[1], self.n_features)
        check_finite(self._path, X, self._row)
        return X

    def _sparse(self, batch, features):
        *parts, size = sparse_rows(self._path, self._row, batch, features)
        data, indices, indptr = parts
        if not np.isfinite(data).all():
            row = int(np.searchsorted(indptr, np.argmin(np.isfinite(data)), side="right"))
            raise FileError(self._path, f"row {self._row + row}: a value is not finite")
        found = max(int(indices.max()) + 1 if len(indices) else 0, size or 0)
        width = self._width(self.facts.n_features if self.facts else found)
        if found > width:
            kept = indices < width
            self.n_unseen += int(len(kept) - kept.sum())
            data, indices, indptr = data[kept], indices[kept], np.concatenate([[0], np.cumsum(kept)])[indptr]
        return csr((data, indices, indptr), width)

    def _labels_of(self, batch, place, start, stop):
        labels = batch.column(place).slice(start, stop - start)
        return self._labels(labels.to_numpy(zero_copy_only=False), batch.schema.field(place).name)

    @contextmanager
    def _open(self, path):
        parquet = library("pyarrow.parquet", "reading Parquet")
        source = to_seek(path)
        # Over a network Arrow asks for all of a row group at once; here that would only take memory, and time.
        in_pieces = {"pre_buffer": False, "buffer_size": READ_BYTES} if isinstance(source, str) else {}
        # It takes longer to parse what a wide file says of itself than to read some thousand rows of it.
        known, self._metadata = self._metadata if path is self.paths[0] else None, None
        with self._faults(path), parquet.ParquetFile(source, metadata=known, **in_pieces) as file:
            yield file

    def _naming_faults(self, batches, path):
        with self._faults(path):
            yield from batches

    @contextmanager
    def _faults(self, path):
        arrow = library("pyarrow", "reading Parquet")
        try:
            yield
        except (FileError, RemoteError):
            raise
        except arrow.ArrowMemoryError as error:
            raise MemoryError(f"{name_of(path)}: there is not enough memory for a row group of it ({error})") from error
        except arrow.ArrowInvalid as error:
            raise FileError(path, f"it is no Parquet file ({error})") from error
        except (arrow.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # the system is at fault, and not the file
                raise
            raise FileError(path, f"it is a damaged Parquet file ({error})") from error
