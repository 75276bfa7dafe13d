"""Where the files of a set are: in a folder that the user names, or in the download cache."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from isrht.files.streams import PACKINGS

VARIABLE = "ISRHT_DATA"


def cache_folder():
    """Where downloads are kept unless a folder is named."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "isrht" / "data"


def folders(data_dir=None):
    """The folders to look in, in order: the one given, that of ``ISRHT_DATA``, the cache."""
    named = data_dir or os.environ.get(VARIABLE)
    return [*([Path(named)] if named else []), cache_folder()]


def download_folder(data_dir=None):
    return folders(data_dir)[0]


def find(description, data_dir=None):
    """The paths of the files of a set, all in one folder, or None where they are not all there."""
    for folder in folders(data_dir):
        paths = [_find_one(folder, stem) for stem in description.files]
        if paths and all(paths):
            return paths
    return None


def digest(paths):
    """One SHA-256 of the bytes of all files, as they lie there."""
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _find_one(folder, stem):
    return next((path for extension in ("", *PACKINGS) if (path := folder / f"{stem}{extension}").is_file()), None)
