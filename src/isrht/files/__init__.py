"""Rows and labels from files, and back: LIBSVM text, CSV and TSV, Parquet, NPY and NPZ.

:func:`open_rows` gives blocks of rows, from files that may be larger than memory or from a pipe; :func:`read_rows`
gives all of them at once; :func:`write_rows` writes. What is wrong with a file is a :class:`FileError`, which names the
file, and the line and column where there are such. The rules stand in ``docs/files.md``.
"""

from isrht.files.errors import FileError
from isrht.files.facts import Facts
from isrht.files.opening import open_rows, read_rows
from isrht.files.writing import write_rows

__all__ = ["Facts", "FileError", "open_rows", "read_rows", "write_rows"]
