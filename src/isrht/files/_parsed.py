"""What parsers of LIBSVM text give: one parser for all of the text, or one for each of the pieces that threads share.

Nothing of a row depends on the rows before it, but for two things: whether these have labels, and which line it is. So
a text may be cut where lines end, and each piece parsed by itself. Whoever does so has to compare what the pieces say
of labels, and leaves it to a parser of all of the text to tell what is wrong and in which line.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse as sp

from isrht.files.labels import Labels

# How many labels, of up to 256 bytes each, are looked at together.
PIECE = 2**14
# A piece of text that a thread parses: long enough to be a block of rows that is worth the calls that are made for it.
PIECE_BYTES = 2**22
UNLIMITED = 2**62


class Indices:
    """The smallest and the largest index that parsers have found, as they are written; -1 before the first one."""

    def __init__(self):
        self.smallest = self.largest = -1

    def add(self, parser):
        """Take up what a parser has found so far."""
        found = [index for index in (self.smallest, parser.smallest_index) if index >= 0]
        self.smallest, self.largest = min(found, default=-1), max(self.largest, parser.largest_index)


def pieces(chunks, longest_line):
    """Yield the bytes of a text in pieces that end where a line ends, but for the last, and where a line is too long.

    Parameters
    ----------
    chunks : iterable of bytes
    longest_line : int
        What has no line end for so many bytes is a fault, which the parser tells.
    """
    parts, size = [], 0
    for chunk in chunks:
        size += len(chunk)
        end = _end_of_line(chunk) if size >= PIECE_BYTES else 0
        end = end or (len(chunk) if size > longest_line + PIECE_BYTES + len(chunk) else 0)
        if end:
            yield b"".join([*parts, chunk[:end]])
            # What begins with a line end is no beginning of a file, where a mark of the byte order may be.
            parts, size = [b"\n", chunk[end:]], len(chunk) - end
        else:
            parts.append(chunk)
    yield b"".join(parts)


def _end_of_line(chunk):
    """Return where the last line ends that ends in some bytes, or 0."""
    return chunk.rfind(b"\n") + 1 or chunk.rfind(b"\r") + 1


def parsed(new_parser, text):
    """Return the parser of a piece of text, and its rows, or None instead of them if there is a fault."""
    parser = new_parser()
    parser.feed(text, UNLIMITED, UNLIMITED)
    parser.end_file()
    return parser, None if parser.fault else ParsedRows(parser)


class ParsedRows:
    """Rows that a parser has given away."""

    def __init__(self, parser):
        values, texts, text_ends, self.indices, self.values, row_ends = parser.take()
        self.n_rows = len(row_ends)
        self.indptr = np.zeros(self.n_rows + 1, dtype=np.int64)
        self.indptr[1:] = row_ends
        self.labels = Labels(values, partial(different_strings, texts, text_ends)) if len(values) else None

    def drop_from(self, width):
        """Drop the values of features from ``width`` on, and return how many there were."""
        if not len(self.indices) or self.indices.max() < width:
            return 0
        kept = self.indices < width
        kept_before = np.concatenate([[0], np.cumsum(kept)])
        self.indices, self.values, self.indptr = self.indices[kept], self.values[kept], kept_before[self.indptr]
        return len(kept) - int(kept_before[-1])

    def matrix(self, width):
        X = sp.csr_matrix((self.values, self.indices, self.indptr), (self.n_rows, width))
        X.has_canonical_format = True  # the parser accepts only increasing indices
        return X


def different_strings(texts, ends):
    """Yield, piece by piece, the different texts of some rows, and for each row the number of its text among them.

    ``texts`` holds the bytes of all texts one after the other, and ``ends`` tells where each of them ends. The parser
    has made sure that they are short, and UTF-8.
    """
    for start in range(0, len(ends), PIECE):
        stops = ends[start : start + PIECE]
        starts = np.concatenate([ends[start - 1 : start] if start else [0], stops[:-1]])
        places = starts[:, None] + np.arange((stops - starts).max())
        padded = np.where(places < stops[:, None], texts[np.minimum(places, len(texts) - 1)], 0).astype(np.int8)
        different, which = np.unique(padded.view(f"S{padded.shape[1]}")[:, 0], return_inverse=True)
        yield np.array([text.decode("utf-8") for text in different.tolist()], dtype=str), which
