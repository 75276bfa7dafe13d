"""The names of folders tell columns of the files in them, as Hive writes them: ``year=2024/month=5``.

Only folders below what was asked for count: what is above says where somebody keeps the data, and is no part of them.
What was asked for is a folder, or a pattern, of which the part before its first sign is fixed; if there are several, it
is the folder that all of them share. A file that is asked for alone has no such columns.
"""

from __future__ import annotations

import re
from itertools import takewhile
from urllib.parse import unquote

SIGNS = re.compile(r"[*?[]")


class PathInFolder(str):
    """A path, and the names of the folders on the way to it that are below what was asked for.

    Attributes
    ----------
    folders : tuple of str
    """

    def __new__(cls, path, folders=()):
        self = super().__new__(cls, path)
        self.folders = tuple(folders)
        return self


def folders_of(path):
    """Return the names of the folders of a path, or of a URL as it is shown, that are below what was asked for."""
    return getattr(path, "folders", ())


def named_by_folders(path):
    """Return the columns that the names of folders tell.

    >>> named_by_folders(PathInFolder("rows/year=2024/kind=a%20b/part-0.parquet", ["year=2024", "kind=a%20b"]))
    {'year': '2024', 'kind': 'a b'}
    """
    pairs = (part.partition("=") for part in folders_of(path))
    return {unquote(name): unquote(value) for name, sign, value in pairs if sign and name}


def fixed_part(pattern):
    """Return the folders of a pattern that come before its first sign.

    >>> fixed_part("rows/year=2024/day-?/*.parquet")
    'rows/year=2024/'
    """
    parts = re.split(r"(?<=[/\\])", pattern)
    return "".join(takewhile(lambda part: not SIGNS.search(part), parts[:-1]))


def below_what_was_asked(found):
    """Return paths that know their folders, of pairs of the folder that was asked for and a list of files in it.

    The folder is None where the files know their folders already, or have none.
    """
    asked = [names_of(folder) for folder, _ in found if folder is not None]
    shared = sum(1 for _ in takewhile(lambda names: len(set(names)) == 1, zip(*asked, strict=False)))
    return [
        path if folder is None else in_folders(path, names_of(path)[shared:-1])
        for folder, paths in found
        for path in paths
    ]


def in_folders(path, folders):
    """Return a path, or a remote file, that knows these names of folders."""
    if isinstance(path, str):
        return PathInFolder(path, folders) if folders else path
    path.folders = tuple(folders)
    return path


def names_of(path):
    """Return the names of which a path or a URL is made.

    >>> names_of("memory:///rows/./day=1/part.csv")
    ['memory:', 'rows', 'day=1', 'part.csv']
    """
    return [name for name in re.split(r"[/\\]", str(path)) if name not in ("", ".")]
