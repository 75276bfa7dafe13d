"""What a task on an executor of Spark keeps of its piece: values in files on the executor's own disks.

Spark itself would keep them as cached RDDs, but then every value that a function needs comes through a process of
Python of its own. Here a task maps the files of its piece into memory, and copies nothing. The files are in the folders
of the executor, which Spark removes with the executor. Executors on Windows are not supported: it lets no file be
replaced or removed that is mapped.
"""

from __future__ import annotations

import mmap
import os
import pickle
import shutil
import tempfile
from pathlib import Path

# The number of the rows themselves among the values of a piece, and that by which a function is given the piece's own.
ROWS, PIECE = 0, -1
# Arrays begin at multiples of this in a file, as kernels like them.
ALIGNMENT = 64


class MissingValue(KeyError):
    """An executor does not have a value of a piece, whose number is given; its recipe was not sent, either."""


class Store:
    """The values of one piece, by number.

    Parameters
    ----------
    name : str
        The folder of the rows, which all their pieces share.
    piece : int
    recipes : dict of int to (bytes, list of int or None, bool)
        How values are made that have no file: a pickled function, the numbers of the values that it is given, and
        whether what it makes is to be kept.
    """

    def __init__(self, name, piece, recipes=()):
        self.folder, self.piece, self.recipes = _folders()[piece % len(_folders())] / name, piece, dict(recipes)
        self._made = {PIECE: piece}

    def value(self, number):
        """Return a value: as this task made it, from its file, or made now by its recipe."""
        if number not in self._made:
            try:
                self._made[number] = _mapped(self._path(number))
            except FileNotFoundError:
                self._made[number] = self._by_recipe(number)
        return self._made[number]

    def called(self, function, needed):
        """Return what a pickled function makes of some values; None stands for itself."""
        return pickle.loads(function)(*(None if number is None else self.value(number) for number in needed))

    def put(self, number, value):
        """Write a value to a file, which other tasks see whole or not at all. Return its number of bytes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder)
        try:
            with open(handle, "wb") as file:
                size = _write(file, value)
            os.replace(name, self._path(number))
        except BaseException:
            os.unlink(name)
            raise
        return size

    def forget(self, numbers, names):
        """Remove the files of some values, and all of other rows that nobody refers to any more."""
        for number in numbers:
            self._path(number).unlink(missing_ok=True)
        for folder in _folders():
            for name in names:
                shutil.rmtree(folder / name, ignore_errors=True)

    def _by_recipe(self, number):
        if number not in self.recipes:
            raise MissingValue(number)
        function, needed, kept = self.recipes[number]
        made = self.called(function, needed)
        if kept:
            self.put(number, made)
        return made

    def _path(self, number):
        return self.folder / f"{number}-{self.piece}"


def _folders():
    """Return the folders that Spark has given to this executor, one for each disk."""
    return [Path(one) for one in os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(",")]


def _write(file, value):
    """Write the lengths of all parts, a pickle, and the arrays that it refers to."""
    arrays = []
    parts = [pickle.dumps(value, protocol=5, buffer_callback=arrays.append), *(array.raw() for array in arrays)]
    pickle.dump([memoryview(part).nbytes for part in parts], file)
    for part in parts:
        file.write(bytes(-file.tell() % ALIGNMENT))
        file.write(part)
    return file.tell()


def _mapped(path):
    """Return the value of a file, whose arrays are mapped and cannot be written to."""
    with open(path, "rb") as file:
        sizes, at, parts = pickle.load(file), file.tell(), []
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    for size in sizes:
        at += -at % ALIGNMENT
        parts.append(whole[at : at + size])
        at += size
    return pickle.loads(parts[0], buffers=parts[1:])
