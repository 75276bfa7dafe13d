"""Rows and labels from files, and back: LIBSVM text, CSV and TSV, Parquet, NPY and NPZ.

:func:`open_rows` gives rows in blocks, from files that may be larger than memory or from a pipe; :func:`read_rows`
gives all rows at once; :func:`write_rows` writes them. What is wrong with a file is a :class:`FileError`, which names
the file, and the line and column where these are known. ``docs/files.md`` has the rules of every format.

:mod:`~isrht.files.opening` finds the files and tells their format. A format is a subclass of
:class:`~isrht.files.rows.FileRows`: :mod:`~isrht.files._libsvm`, :mod:`~isrht.files._tables`,
:mod:`~isrht.files._arrays`. Their bytes come from :mod:`~isrht.files.streams`, their labels are typed by
:mod:`~isrht.files.labels`, and what a pass over them finds out are :mod:`~isrht.files.facts`.

The room uses ``kernels`` and ``support``; ``rows``, ``datasets`` and ``cli`` use it.
"""

from isrht.files.errors import FileError
from isrht.files.facts import Facts
from isrht.files.limits import Limits
from isrht.files.opening import open_rows, read_rows
from isrht.files.rows import FileRows
from isrht.files.writing import write_rows

__all__ = ["Facts", "FileError", "FileRows", "Limits", "open_rows", "read_rows", "write_rows"]
