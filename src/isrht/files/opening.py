"""From a path, several, a pattern, or a binary file object, to rows of the right format."""

from __future__ import annotations

import glob
import os
from numbers import Integral
from pathlib import Path

from isrht.files.arrays import NpyRows, NpzRows
from isrht.files.errors import STANDARD_INPUT, FileError
from isrht.files.labels import NUMBER, TEXT
from isrht.files.libsvm import AUTO, LibsvmRows
from isrht.files.streams import FileObject, can_be_read_again, packing
from isrht.files.tables import CsvRows, ParquetRows

FORMATS = {"libsvm": LibsvmRows, "csv": CsvRows, "tsv": CsvRows, "parquet": ParquetRows, "npy": NpyRows, "npz": NpzRows}
TEXTS = ("libsvm", "csv", "tsv")
# More features than this are taken for a damaged file unless they are asked for: one number for each takes 2 GiB.
MAX_FEATURES = 2**28


def open_rows(
    paths,
    *,
    format=None,
    n_features=None,
    index_base=AUTO,
    label=None,
    label_type=None,
    block_rows=None,
    max_features=None,
    max_unpacked=None,
):
    """Rows to iterate over in blocks ``(X, y)``, with bounded memory, as often as wanted.

    Parameters
    ----------
    paths : path, "-" for standard input, a pattern such as ``"part-*.svm"``, a binary file object, or a list of these
        Several files are read as if they were one. A file object is read from where it stands, as it is (not
        unpacked), and stays open; one that cannot seek is read once, as a pipe.
    format : "libsvm", "csv", "tsv", "parquet", "npy", "npz", or None to tell it by the extension
        What has none of these extensions is LIBSVM text. Text may also be packed: .gz, .bz2, .xz, .zst. The extension
        of a file object is that of its name, if it has one.
    n_features : int or None
        Of LIBSVM text and sparse NPZ, features past it are left out, and counted by ``n_unseen``; features that the
        file lacks are zeros. Dense rows must have exactly so many. None takes what a scan finds.
    index_base : "auto", 0 or 1
        Of LIBSVM text. "auto" is 0 if there is an index 0 anywhere, and otherwise 1; it needs a scan.
    label : name or position of the label column, or None for none
        Of CSV, TSV, Parquet and NPY, where a position counts from 0, or from -1 at the end. LIBSVM text and NPZ have
        their labels in a place of their own.
    label_type : "number", "text" or None
        None: numbers if all labels of the file are. Without a scan the first label decides.
    block_rows : int or None
        Rows of each block but the last; None makes blocks of a few megabytes.
    max_features : int or None
        How many features LIBSVM text and sparse NPZ may have where ``n_features`` is not given; None: 2**28. A damaged
        index should be an error, not a request for all memory.
    max_unpacked : int or None
        The bytes an archive may unpack to; None: 200 times its size, and 1 GiB in any case.

    Returns
    -------
    rows : :class:`~isrht.files.rows.Rows`
        Iterating over LIBSVM text scans it first unless both ``n_features`` and ``index_base`` are given; a pipe cannot
        be read twice, so it needs them. ``rows.scan()`` gives the facts.
    """
    _check_whole_number("n_features", n_features)
    _check_whole_number("block_rows", block_rows)
    _check_whole_number("max_features", max_features)
    if label_type not in (None, NUMBER, TEXT):
        raise ValueError(f"label_type must be 'number', 'text' or None, got {label_type!r}")
    paths = find(paths)
    format = format_of(paths) if format is None else format
    if format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
    options = {"n_features": n_features, "label_type": label_type, "block_rows": block_rows}
    options |= _options_of(format, paths, label, index_base)
    if format in ("libsvm", "npz"):
        options["max_features"] = max_features or MAX_FEATURES
    if format in (*TEXTS, "npz"):
        options["max_unpacked"] = max_unpacked
    return FORMATS[format](paths, format, **options)


def read_rows(paths, **options):
    """``(X, y, facts)`` of all rows in memory, in one pass; the arguments are those of :func:`open_rows`.

    X is a CSR matrix (LIBSVM text, sparse NPZ) or an array, y float64 or strings, or None without labels.
    """
    return open_rows(paths, **options).read()


def find(paths):
    """The files that are meant, all of which are there."""
    asked = [paths] if isinstance(paths, str | os.PathLike) or hasattr(paths, "read") else list(paths)
    found = [path for one in asked for path in _matches(one)]
    if not found:
        raise ValueError("no files are given")
    return found


def format_of(paths):
    """The one format that the extensions of these files tell."""
    formats = [format_by_extension(str(path)) for path in paths]
    if len(set(formats)) > 1:
        listed = ", ".join(f"{path} ({format})" for path, format in zip(paths, formats, strict=True))
        raise ValueError(f"files of different formats cannot be read as one: {listed}")
    return formats[0]


def format_by_extension(path):
    """LIBSVM text unless the extension, without that of a packing, is known.

    >>> [format_by_extension(name) for name in ("a.csv", "a.tsv.gz", "a.npz", "a.t", "a.svm.xz", "-")]
    ['csv', 'tsv', 'npz', 'libsvm', 'libsvm', 'libsvm']
    """
    inner = Path(path).with_suffix("") if packing(path) else Path(path)
    extension = inner.suffix.lower().removeprefix(".")
    return extension if extension in FORMATS else "libsvm"


def _matches(asked):
    if hasattr(asked, "read") and not isinstance(asked, os.PathLike):
        return [FileObject(asked)]
    path = os.fspath(asked)
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder: name files, or a pattern such as {os.path.join(path, '*.svm')}")
    if path == STANDARD_INPUT or _is_there(path):
        return [path]
    matches = sorted(glob.glob(path)) if glob.has_magic(path) else []
    if not matches:
        raise FileNotFoundError(f"no file matches {path}" if glob.has_magic(path) else f"there is no file {path}")
    return matches


def _is_there(path):
    """Unlike ``os.path.exists``, tell a file that is not there from one in a folder that may not be looked into."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _options_of(format, paths, label, index_base):
    """The options that only some formats have; what has no meaning for this one is an error."""
    if format not in TEXTS:
        _refuse_pipes_and_packings(format, paths)
    if format != "libsvm" and index_base != AUTO:
        raise ValueError(f"index_base is for LIBSVM text, not for {format}")
    if format in ("libsvm", "npz") and label is not None:
        raise ValueError(f"label is for tables: {format} has its labels in a place of their own")
    return {"libsvm": {"index_base": index_base}, "npz": {}}.get(format, {"label": label})


def _refuse_pipes_and_packings(format, paths):
    for path in paths:
        if packing(path):
            raise FileError(path, f"only text may be packed, not {format}")
        if not isinstance(path, FileObject) and not can_be_read_again(path):
            raise FileError(path, f"{format} cannot be read from a pipe")


def _check_whole_number(name, value):
    if value is not None and (not isinstance(value, Integral) or value < 1):
        raise ValueError(f"{name} must be a positive whole number or None, got {value!r}")
