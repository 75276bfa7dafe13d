"""The folder in which the files of a set are: one that the user names, or the download cache."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from isrht.files.streams import PACKINGS

VARIABLE = "ISRHT_DATA"


def cache_folder():
    """Return the folder in which downloads are kept unless another one is named."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "isrht" / "data"


def folders(data_dir=None):
    """Return the folders to look in: the one that is given, or else that of ``ISRHT_DATA``, and then the cache."""
    named = data_dir or os.environ.get(VARIABLE)
    return [*([Path(named)] if named else []), cache_folder()]


def download_folder(data_dir=None):
    """Return the folder into which files are downloaded."""
    return folders(data_dir)[0]


def find_files(description, data_dir=None):
    """Return the paths of the files of a set, all of them in one folder, or None if no folder has all of them."""
    for folder in folders(data_dir):
        paths = [_find_one(folder, stem) for stem in description.files]
        if paths and all(paths):
            return paths
    return None


def digest(paths):
    """Return one SHA-256 of the bytes of all files, as they are on disk."""
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _find_one(folder, stem):
    return next((path for extension in ("", *PACKINGS) if (path := folder / f"{stem}{extension}").is_file()), None)
