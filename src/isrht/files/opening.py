"""Open files: find those that are meant, tell their format, and make rows of them.

Files are given by one path or several, by a pattern, or as binary file objects.
"""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import Any, Literal

from isrht.files import remote
from isrht.files._arrays import NpyRows, NpzRows
from isrht.files._libsvm import AUTO, LibsvmRows
from isrht.files._tables import CsvRows, ParquetRows
from isrht.files.errors import STANDARD_INPUT, FileError
from isrht.files.facts import Facts
from isrht.files.folders import PathInFolder, below_what_was_asked, fixed_part, in_folders
from isrht.files.labels import NUMBER, TEXT
from isrht.files.limits import Limits, check_whole_number
from isrht.files.rows import FileRows
from isrht.files.streams import FileObject, can_be_read_again, packing
from isrht.files.urls import is_url, local_path
from isrht.support.hints import Array, RowFiles

FORMATS = {"libsvm": LibsvmRows, "csv": CsvRows, "tsv": CsvRows, "parquet": ParquetRows, "npy": NpyRows, "npz": NpzRows}
TEXTS = ("libsvm", "csv", "tsv")
# What others read, by the extension, and how their rows come here. Without this they would be taken for LIBSVM text.
_HDF5 = "HDF5: give RowSource one of its arrays, as h5py.File(path)[name]"
_ARROW = "a file of Arrow: give RowSource a pyarrow.dataset.dataset(path, format={!r})"
OTHERS = {
    **dict.fromkeys(("h5", "hdf5"), _HDF5),
    "h5ad": "AnnData: give RowSource what anndata.read_h5ad(path, backed='r') returns, or its X",
    "zarr": "Zarr: give RowSource one of its arrays, as zarr.open(path) or zarr.open(path)[name]",
    **{name: _ARROW.format(name) for name in ("arrow", "feather", "ipc", "orc")},
}


def open_rows(
    paths: RowFiles,
    *,
    format: str | None = None,
    n_features: int | None = None,
    index_base: Literal["auto", 0, 1] = AUTO,
    label: str | int | None = None,
    label_type: Literal["number", "text"] | None = None,
    limits: Limits = Limits(),
) -> FileRows:
    """Open files as rows to iterate over in blocks ``(X, y)``, as often as wanted, in little memory.

    Parameters
    ----------
    paths : path, "-" for standard input, a pattern such as ``"part-*.svm"``, a binary file object, or a list of these
        Several files are read as if they were one. A file object is read from where it stands and stays open. Its bytes
        are taken as they are, never unpacked; one that cannot seek is read only once, like a pipe.
    format : {"libsvm", "csv", "tsv", "parquet", "npy", "npz"} or None, default=None
        None tells the format by the extension; a file without one of these extensions is LIBSVM text. Text may also be
        packed: .gz, .bz2, .xz, .zst. The extension of a file object is that of its name, if it has one.
    n_features : int or None, default=None
        How many features rows have; None takes what a scan finds. In LIBSVM text and sparse NPZ, features past this
        number are left out and counted by ``n_unseen``, and features that the file lacks are zeros. Dense rows must
        have exactly this number.
    index_base : {"auto", 0, 1}, default="auto"
        The index of the first feature in LIBSVM text. "auto" is 0 if there is an index 0 anywhere, and otherwise 1,
        which only a scan can tell.
    label : str, int or None, default=None
        The name of the label column, or its position, which counts from 0 or, at the end, from -1; None if there is
        none. It is for CSV, TSV, Parquet and NPY: LIBSVM text and NPZ have their labels in a place of their own.
    label_type : {"number", "text"} or None, default=None
        None makes labels numbers if all labels of the file are numbers. Without a scan the first label decides.
    limits : :class:`~isrht.files.Limits`
        How many features there may be, and to how many bytes an archive may unpack. A damaged index should be an error,
        not a request for all memory.

    Returns
    -------
    rows : :class:`~isrht.files.FileRows`
        Iterating over LIBSVM text scans it first, unless both ``n_features`` and ``index_base`` are given. A pipe
        cannot be read twice, so it needs them. ``rows.scan()`` returns the :class:`~isrht.files.Facts`. Blocks have a
        few megabytes; ``rows.in_blocks(1000)`` makes blocks of that many rows.

    See Also
    --------
    read_rows : Read all rows into memory at once.
    isrht.RowSource : Fit an estimator to rows that are read anew in every pass.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from isrht.files import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rows.svm")
    ...     _ = path.write_text("1 1:0.5 3:2\\n-1 2:1\\n")
    ...     for X, y in open_rows(path):
    ...         print(X.toarray().tolist(), y)
    [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]] [ 1. -1.]
    """
    if n_features is not None:
        check_whole_number("n_features", n_features, "or None")
    if not isinstance(limits, Limits):
        raise ValueError(f"limits must be an isrht.files.Limits, got {limits!r}")
    if label_type not in (None, NUMBER, TEXT):
        raise ValueError(f"label_type must be 'number', 'text' or None, got {label_type!r}")
    paths = find(paths)
    format = format_of(paths) if format is None else format
    if format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
    options = {"n_features": n_features, "label_type": label_type, "limits": limits}
    options |= _options_of(format, paths, label, index_base)
    return FORMATS[format](paths, format, **options)


def read_rows(paths: RowFiles, **options: Any) -> tuple[Any, Array | None, Facts]:
    """Read all rows of files into memory, in one pass.

    Parameters
    ----------
    paths : path, "-" for standard input, a pattern such as ``"part-*.svm"``, a binary file object, or a list of these
        Several files are read as if they were one.
    **options
        The options of :func:`open_rows`.

    Returns
    -------
    X : CSR matrix or array of shape (n_samples, n_features)
        It is a CSR matrix if the files are LIBSVM text or sparse NPZ.
    y : array of shape (n_samples,) or None
        The labels as float64 or as strings; None if there are none.
    facts : :class:`~isrht.files.Facts`
        What the pass has found out.

    See Also
    --------
    open_rows : Iterate over the rows in blocks, in little memory.
    """
    return open_rows(paths, **options).read()


def find(paths):
    """Return the files that are meant; one that is not there is an error."""
    asked = [paths] if isinstance(paths, str | bytes | os.PathLike) or hasattr(paths, "read") else list(paths)
    if not asked:
        raise ValueError("no files are given")
    return below_what_was_asked([_matches(one) for one in asked])


def format_of(paths):
    """Return the one format that the extensions of these files tell."""
    for path in paths:
        _refuse_others(path)
    formats = [format_by_extension(str(path)) for path in paths]
    if len(set(formats)) > 1:
        listed = ", ".join(f"{path} ({format})" for path, format in zip(paths, formats, strict=True))
        raise ValueError(f"files of different formats cannot be read as one: {listed}")
    return formats[0]


def format_by_extension(path):
    """Return the format that the extension tells, not counting that of a packing; unknown ones mean LIBSVM text.

    >>> [format_by_extension(name) for name in ("a.csv", "a.tsv.gz", "a.npz", "a.t", "a.svm.xz", "-")]
    ['csv', 'tsv', 'npz', 'libsvm', 'libsvm', 'libsvm']
    """
    inner = Path(path).with_suffix("") if packing(path) else Path(path)
    extension = inner.suffix.lower().removeprefix(".")
    return extension if extension in FORMATS else "libsvm"


def _refuse_others(path):
    """Refuse files of formats that are not read here; those of Zarr lie in a folder with its name."""
    named = re.match(r".*?\.zarr(?=[/\\])", str(path))
    name = named.group() if named else str(path)
    if what := OTHERS.get(Path(name).suffix.lower().removeprefix(".")):
        raise FileError(name, f"it is {what} (or say format=, if it is one of {', '.join(FORMATS)})")


def _matches(asked):
    """Return the folder that was asked for, if what is below it counts, and the files."""
    if hasattr(asked, "read") and not isinstance(asked, os.PathLike):
        return None, [FileObject(asked)]
    path = os.fsdecode(asked)
    folder, found = remote.find(path) if is_url(path) and local_path(path) is None else _found_here(path)
    if isinstance(asked, PathInFolder):  # it was found by another process
        return None, [in_folders(one, asked.folders) for one in found]
    return folder, found


def _found_here(path):
    path = local_path(path) if is_url(path) else path
    if os.path.isdir(path):
        return path, _files_in(path)
    if path == STANDARD_INPUT:
        return None, [path]
    if _is_there(path):
        return os.path.dirname(path), [path]
    matches = sorted(glob.glob(path)) if glob.has_magic(path) else []
    if not matches:
        raise FileNotFoundError(f"no file matches {path}" if glob.has_magic(path) else f"there is no file {path}")
    return fixed_part(path), matches


def _files_in(folder):
    """Return all files in a folder and those in it, in order, but for those that tools hide beside data."""
    found = sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
    found = [path for path in found if not remote.is_hidden(os.path.relpath(path, folder))]
    if not found:
        raise FileNotFoundError(f"there are no files in the folder {folder}")
    return found


def _is_there(path):
    """Say whether there is such a file.

    Unlike ``os.path.exists`` this raises an error for a file in a folder that may not be looked into.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _options_of(format, paths, label, index_base):
    """Return the options that only some formats have; an option without meaning for this format is an error."""
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
