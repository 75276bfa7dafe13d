"""Reading and writing the bytes of a model file, which is given by its path or as an open file object.

What is no model file is refused by its first bytes, before the rest is read, and the error says what it is instead.
"""

from __future__ import annotations

import io
import os
import stat
from contextlib import contextmanager

import numpy as np

from isrht.models._zip_format import MANIFEST_NAME, begins_like, local_header_size
from isrht.support.atomic_writes import replaced_when_whole
from isrht.support.codec import ModelFileError, demand

# How much is read from a file object at once.
PIECE = 2**20
HEAD = local_header_size(MANIFEST_NAME)
FOREIGN = {
    b"\x80": "a pickle, which this package never loads",
    b"PK": "a zip archive (an npz, perhaps), but not a model file",
    b"\x93NUMPY": "a single NumPy array, not a model file",
    b"\x89PNG": "a PNG image, not a model file",
    b"\x89HDF": "an HDF5 file, not a model file",
    b"\x1f\x8b": "a gzip file, not a model file",
    b"x\x9c": "a zlib stream (of joblib, perhaps), not a model file",
}


def called(file):
    """Return what errors call a file: its path, or the class of a file object."""
    return f"this {type(file).__name__}" if is_file_object(file) else repr(os.fsdecode(file))


def is_file_object(file):
    """Say whether a file is given as an object that can be read or written, and not by its path."""
    return hasattr(file, "read") or hasattr(file, "write")


def read_model_file(file, max_bytes):
    """Return the bytes of a file that begins like a model file.

    Parameters
    ----------
    file : str, path-like or binary file object
        A file object is read from where it stands to its end.
    max_bytes : int
        A larger file is an error.

    Returns
    -------
    ndarray of shape (n_bytes,), uint8
    """
    return read_to_end(file, max_bytes) if is_file_object(file) else read_path(file, max_bytes)


def read_to_end(file, max_bytes):
    """Return the bytes of a file object from where it stands. It may give fewer at once than it is asked for."""
    content = bytearray()
    while piece := file.read(PIECE):
        if isinstance(piece, str):
            raise TypeError("a model is read from a file object that is open in binary mode, this one gives text")
        seen = len(content)
        content += piece
        if seen < HEAD <= len(content):
            check_beginning(bytes(content[:HEAD]))
        demand(len(content) <= max_bytes, f"it has more than max_bytes={max_bytes} bytes")
    demand(content, "it is empty, or stands at its end: seek(0) goes back to its beginning")
    check_beginning(bytes(content[:HEAD]))
    return np.frombuffer(content, dtype=np.uint8)


def read_path(path, max_bytes):
    """Return the bytes of the file at a path."""
    try:
        is_folder, is_file = os.path.isdir(path), stat.S_ISREG(os.stat(path).st_mode)
        demand(is_file, "it is a directory" if is_folder else "it is not a regular file")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            demand(size > 0, "it is empty")
            check_beginning(file.read(HEAD))
            demand(size <= max_bytes, f"it has {size} bytes, more than max_bytes={max_bytes}")
            file.seek(0)
            return np.fromfile(file, dtype=np.uint8, count=size)
    except FileNotFoundError:
        raise ModelFileError("there is no such file") from None
    except OSError as error:
        raise ModelFileError(f"it cannot be read ({error.strerror})") from error


def check_beginning(head):
    """Raise an error that says what a file is, unless it begins like a model file."""
    if begins_like(head, MANIFEST_NAME):
        return
    for signature, kind in FOREIGN.items():
        demand(not head.startswith(signature), f"it is {kind}")
    is_text = not set(head) & (set(range(32)) - set(b"\t\n\f\r"))
    kind = "a text file" if is_text else "a foreign file"
    raise ModelFileError(f"it is {kind}, not a model file: it begins with {head[:16]!r}")


@contextmanager
def opened_for_writing(file):
    """Yield a file to write bytes to: the object that is given, or a new one that replaces a path once it is whole."""
    if not is_file_object(file):
        with replaced_when_whole(file) as opened:
            yield opened
    elif isinstance(file, io.TextIOBase):
        raise TypeError("a model is written to a file object that is open in binary mode, this one takes text")
    elif isinstance(file, io.RawIOBase):  # which may take fewer bytes than it is given
        buffered = io.BufferedWriter(file)
        try:
            yield buffered
        finally:
            buffered.detach()
    else:
        yield file
