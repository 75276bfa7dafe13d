"""NPY files, which are mapped to memory and read block by block, and NPZ files, which are held whole.

An NPZ file has the array ``X``, or those that ``scipy.sparse.save_npz`` writes of a CSR matrix (``data``, ``indices``,
``indptr``, ``shape``), and perhaps ``y``. Pickled objects are never loaded. Both formats are held whole if they come
from a file object.
"""

from __future__ import annotations

import io
import math
import os
import tokenize
import zipfile
import zlib
from functools import partial

import numpy as np
import scipy.sparse as sp

from isrht.files._checks import check_feature_count, check_finite, check_width, label_place
from isrht.files.errors import FileError
from isrht.files.labels import Labels
from isrht.files.remote import RemoteFile
from isrht.files.rows import FileRows, rows_per_block
from isrht.files.streams import to_search
from isrht.support.matrices import rows_of

CSR_PARTS = ("data", "indices", "indptr", "shape")
# NumPy raises these for an array whose length is damaged, or whose header, which is a piece of Python.
DAMAGED = (ValueError, TypeError, EOFError, OverflowError, SyntaxError, tokenize.TokenError)


class NpyRows(FileRows):
    """Rows of a two-dimensional NPY array, of which one field may be the label."""

    def __init__(self, paths, format, *, label=None, **options):
        super().__init__(paths, format, **options)
        self.label = label

    @property
    def is_dear(self):
        return any(isinstance(path, RemoteFile) for path in self.paths)

    def _blocks(self, label_type):
        width = self.n_features
        for path in self._files():
            array = StreamedArray.of(path) or self._map(path)
            place = None if self.label is None else label_place(path, self.label, range(array.shape[1]))
            found = array.shape[1] - (place is not None)
            check_width(path, found, width)
            width = found
            step = rows_per_block(width, self.block_rows)
            for start in range(0, len(array), step):
                yield self._block(np.array(array[start : start + step]), place, start)

    def _map(self, path):
        source = to_search(path)
        try:
            if isinstance(source, io.BytesIO):
                array = load_array(partial(io.BytesIO, source.getvalue()), len(source.getvalue()), "it")
            else:
                array = np.load(source, mmap_mode="r", allow_pickle=False)
        except DAMAGED as error:
            raise FileError(path, f"it is no NPY file of numbers ({error})") from error
        return check_table(path, array, "the array")

    def _block(self, block, place, start):
        block = as_floats(block)
        check_finite(self._path, block, start, field_names=range(block.shape[1]))
        if place is None:
            return block, None
        return np.delete(block, place, axis=1), Labels.of_numbers(block[:, place])


class StreamedArray:
    """An NPY array at a URL, whose rows are read in order, some at a time."""

    def __init__(self, path, stream, shape, dtype):
        self.path, self.stream, self.shape, self.dtype = path, stream, shape, dtype

    @classmethod
    def of(cls, path):
        """Return the array of a remote file, or None if it is not remote, or has no rows that lie side by side."""
        if not isinstance(path, RemoteFile):
            return None
        stream = path.open()
        try:
            version = np.lib.format.read_magic(stream)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, in_columns, dtype = header(stream)
        except DAMAGED as error:
            raise FileError(path, f"it is no NPY file of numbers ({error})") from error
        array = cls(path, stream, shape, dtype)
        check_table(path, array, "the array")
        return None if in_columns else array

    @property
    def ndim(self):
        return len(self.shape)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        """Return the next rows."""
        count = min(rows.stop, self.shape[0]) - rows.start
        data = self.stream.read(count * self.shape[1] * self.dtype.itemsize)
        if len(data) < count * self.shape[1] * self.dtype.itemsize:
            raise FileError(self.path, "it is shorter than its header says")
        return np.frombuffer(data, dtype=self.dtype).reshape(count, self.shape[1])


class NpzRows(FileRows):
    """Rows of an NPZ file."""

    def _blocks(self, label_type):
        width = self.n_features
        for path in self._files():
            X, labels = rows_of_npz(path, self.limits)
            check_feature_count(path, X.shape[1], self)
            X = self._fitted(X, width)
            width = X.shape[1]
            stored = X.nnz // max(1, X.shape[0]) if sp.issparse(X) else width
            step = rows_per_block(stored, self.block_rows)
            for start in range(0, X.shape[0], step):
                rows = slice(start, min(start + step, X.shape[0]))
                yield rows_of(X, rows), labels[rows] if labels is not None else None

    def _fitted(self, X, width):
        if width is None or X.shape[1] == width:
            return X
        if not sp.issparse(X) or self.n_features is None:
            check_width(self._path, X.shape[1], width)
        seen = X[:, :width]
        self.n_unseen += X.nnz - seen.nnz
        return sp.csr_matrix((seen.data, seen.indices, seen.indptr), (X.shape[0], width))


def rows_of_npz(path, limits):
    """Return ``(X, labels)`` of an NPZ file, both of them checked."""
    arrays = load_npz(path, limits)
    if set(CSR_PARTS) <= set(arrays):
        X = checked_csr(path, arrays)
    elif "X" in arrays:
        X = as_floats(check_table(path, arrays["X"], "X"))
        check_finite(path, X, 0)
    else:
        raise FileError(path, f"it has neither X nor {', '.join(CSR_PARTS)}")
    if "y" not in arrays:
        return X, None
    y = arrays["y"]
    if y.shape != (X.shape[0],):
        raise FileError(path, f"y has the shape {y.shape}, but there are {X.shape[0]} rows")
    if y.dtype.kind == "U":
        return X, Labels.of_words(y)
    y = as_floats(check_numbers(path, y, "y", 1))
    check_finite(path, y[:, None], 0, ["y"])
    return X, Labels.of_numbers(y)


def load_npz(path, limits):
    """Return the arrays of an NPZ file that are of use, by name.

    The file must hold as much as it says, and may not unpack to more than the limits allow.
    """
    source = to_search(path)
    size = len(source.getvalue()) if isinstance(source, io.BytesIO) else os.path.getsize(source)
    cap = limits.unpacked_bytes_of(size)
    try:
        with zipfile.ZipFile(source) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            wanted = {name: members[name] for name in (*CSR_PARTS, "format", "X", "y") if name in members}
            if sum(info.file_size for info in wanted.values()) > cap:
                raise FileError(path, f"the archive unpacks to more than {cap:,} bytes")
            return {
                name: load_array(partial(archive.open, info), info.file_size, info.filename)
                for name, info in wanted.items()
            }
    except FileError:
        raise
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, *DAMAGED) as error:
        raise FileError(path, f"it is no NPZ file of numbers ({error})") from error


def load_array(open_stream, size, name):
    """Return the array in a stream of ``size`` bytes, which must hold as much as the header of the array says."""
    with open_stream() as stream:
        version = np.lib.format.read_magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(stream)
    if math.prod(shape) * dtype.itemsize > size:  # checked before so much memory is asked for
        raise ValueError(f"{name} is shorter than its header says")
    with open_stream() as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def checked_csr(path, arrays):
    if "format" in arrays and arrays["format"].item() not in (b"csr", "csr"):
        raise FileError(path, f"its sparse matrix is not CSR but {arrays['format'].item()!r}")
    data = as_floats(check_numbers(path, arrays["data"], "data", 1))
    for name in ("indices", "indptr", "shape"):
        check_numbers(path, arrays[name], name, 1, "iu")
    try:
        X = sp.csr_matrix((data, arrays["indices"], arrays["indptr"]), tuple(arrays["shape"].tolist()))
        X.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise FileError(path, f"its sparse matrix is inconsistent ({error})") from error
    if not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.argmin(np.isfinite(X.data)), side="right"))
        raise FileError(path, f"row {row}: a value is not finite")
    return X


def check_numbers(path, array, name, dimensions, kinds="biuf"):
    if array.dtype.kind not in kinds:
        raise FileError(path, f"{name} is of type {array.dtype}, not of {'numbers' if 'f' in kinds else 'integers'}")
    if array.ndim != dimensions:
        raise FileError(path, f"{name} has {array.ndim} dimensions, not {dimensions}")
    return array


def check_table(path, array, name):
    check_numbers(path, array, name, 2)
    if not array.shape[1]:  # any number of such rows would take no bytes
        raise FileError(path, f"{name} has no columns: its shape is {array.shape}")
    return array


def as_floats(array):
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
