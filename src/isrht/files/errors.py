"""What is wrong with a file, and where."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

STANDARD_INPUT = "-"


class FileError(ValueError):
    """A file is not what it should be.

    Attributes
    ----------
    path : path
        The file, or what a file object calls itself.
    problem : str
        What is wrong with it.
    line, column : int or None
        Where that is in a text, counted from 1, if it is known.
    """

    def __init__(self, path: Any, problem: str, line: int | None = None, column: int | None = None) -> None:
        path = path if isinstance(path, str | os.PathLike) else str(path)  # a file object cannot be pickled
        super().__init__(path, problem, line, column)  # all arguments, so that the error can be pickled
        self.path, self.problem, self.line, self.column = path, problem, line, column

    def __str__(self) -> str:
        place = [name_of(self.path)]
        place += [f"line {self.line}"] if self.line is not None else []
        place += [f"column {self.column}"] if self.column is not None else []
        return f"{', '.join(place)}: {self.problem}"


def name_of(path):
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def other_columns(path, found, first, names):
    """Return the error that a file has other columns than the first one of several, or has them in another order."""
    lacks, more = set(names).difference(found), set(found).difference(names)
    words = [f"{verb} {min(some, key=str)!r}" for verb, some in (("lacks", lacks), ("has", more)) if some]
    difference = "it " + " and ".join(words) if words else "their order is another"
    return FileError(path, f"its columns are not those of {name_of(first)}: {difference}")


def library(name, purpose):
    """Import an optional library, or raise an error that says how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        raise ModuleNotFoundError(
            f"{purpose} needs {package}, which is not installed: pip install 'isrht[files]'", name=package
        ) from error
