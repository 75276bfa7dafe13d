"""Compare a file with what is known of the set it should be: its shape, stored values, labels and checksum."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from isrht.files.limits import Limits
from isrht.files.opening import read_rows

# No set of the registry is larger than 300 MB of text; an archive that unpacks to more than this is not one of them.
MAX_TEXT_BYTES = 4 * 2**30


class WrongData(ValueError):
    """A file is not the set it should be."""


def read_verified(facts, path, max_bytes=MAX_TEXT_BYTES):
    """Read a LIBSVM file, compare it with the known facts, and return ``(X, y)``."""
    options = {"format": "libsvm", "n_features": facts.features, "index_base": 1, "label_type": "number"}
    X, y, found = read_rows(path, **options, limits=Limits(unpacked_bytes=max_bytes))
    if found.n_unseen:
        _check(Path(path).name, "features", found.max_index, facts.features)
    check_facts(facts, X, y, path)
    return X, y


def check_facts(facts, X, y, path):
    """Raise :class:`WrongData` naming the first fact that does not hold."""
    name = Path(path).name
    _check(name, "rows", X.shape[0], facts.rows)
    _check(name, "features", X.shape[1], facts.features)
    if facts.nonzeros is not None:
        _check(name, "nonzeros", X.nnz, facts.nonzeros)
    if facts.label_counts:
        labels, counts = np.unique(y, return_counts=True)
        _check(name, "rows by label", dict(zip(labels.tolist(), counts.tolist(), strict=True)), facts.label_counts)


def check_digest(facts, path):
    """Compare the SHA-256 of a file with the one that is expected, if there is one, and return it.

    The LIBSVM site publishes no checksums. So the first download is compared with its facts alone, and its checksum is
    kept beside it (:func:`remember_digest`): from then on the file must not change.
    """
    path = Path(path)
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    remembered = path.with_name(path.name + ".sha256")
    expected = facts.sha256 or (remembered.read_text().split()[0] if remembered.is_file() else None)
    if expected is not None:
        _check(path.name, "sha256", found, expected)
    return found


def remember_digest(path, found):
    """Keep the checksum of a file in a ``.sha256`` file beside it."""
    path = Path(path)
    path.with_name(path.name + ".sha256").write_text(f"{found}  {path.name}\n")


def _check(name, what, found, expected):
    if found != expected:
        raise WrongData(f"{name} is not the set it should be: {what} {found}, expected {expected}")
