"""Load a set by its name: rows, labels, and which rows train and which test."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from isrht.datasets import _embedded, folders, own
from isrht.datasets._verify import check_digest, read_verified
from isrht.datasets.registry import describe
from isrht.files.streams import PACKINGS
from isrht.support.hints import Array

SPLIT_SEED = 0


class NotAvailable(LookupError):
    """The files of a set were not found in any folder, or what is needed to read them is not installed."""


@dataclass
class Dataset:
    """A set that has been loaded.

    Attributes
    ----------
    name : str
        Its name in the registry.
    X : array or CSR matrix of shape (n_samples, n_features)
        All rows, not scaled.
    y : array of shape (n_samples,)
        The number of the class of every row.
    train, test : array of int
        The numbers of the rows that train and of those that test.
    checksum : str
        A SHA-256 of the data that the set was made of.
    """

    name: str
    X: Any
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray
    checksum: str

    @cached_property
    def scaled(self) -> tuple[Any, Array, Any, Array]:
        """The rows as ``(X_train, y_train, X_test, y_test)``, scaled to [-1, 1] by what the training rows show."""
        X_train, X_test = scale(describe(self.name).scale, self.X[self.train], self.X[self.test])
        return X_train, self.y[self.train], X_test, self.y[self.test]


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a set by its name.

    Parameters
    ----------
    name : str
        One of ``DATASETS``.
    data_dir : path or None, default=None
        The folder with the files of the set, if it has any. They are also looked for in the folder that the variable
        ``ISRHT_DATA`` names, if ``data_dir`` is None, and in the cache of downloads.

    Returns
    -------
    dataset : :class:`Dataset`
        Rows and labels, and which rows train and which test. If the files are not there, the error says how to get
        them.

    See Also
    --------
    describe : What is known of a set, without loading it.

    Examples
    --------
    >>> from isrht.datasets import load
    >>> digits = load("digits")
    >>> digits.X.shape, len(digits.train), len(digits.test)
    ((1797, 64), 1257, 540)
    """
    description = describe(name)
    if description.source:
        X, y, is_test = own.read(description)
        checksum = own.digest(description)
    elif description.embedded:
        X, y, is_test = _made(name)
        checksum = _digest_of_arrays(X, y)
    else:
        paths = _files_of(description, data_dir)
        X, y, is_test = _read_files(description, paths)
        checksum = folders.digest(paths)
    train, test = split(description.split, y, is_test)
    return Dataset(name, X, y, train, test, checksum)


def checksum_of(name, data_dir=None):
    """Return the checksum that :func:`load` would give, without parsing any text."""
    description = describe(name)
    if description.source:
        return own.digest(description)
    if description.embedded:
        return _digest_of_arrays(*_made(name)[:2])
    return folders.digest(_files_of(description, data_dir))


def _made(name):
    """Return an embedded set as ``(X, y, is_test)``."""
    try:
        return _embedded.MAKERS[name]()
    except ImportError as error:
        raise NotAvailable(f"{name}: Pillow is missing: pip install 'isrht[data]'") from error


def missing(description):
    """Return one line that says which files are missing and how to get them."""
    how = f"fetch it with 'isrht data fetch {description.name}'" if description.urls else "it cannot be downloaded"
    names = " and ".join(description.files)
    packings = f"{', '.join(PACKINGS)} or plain"
    return f"{description.name}: no {names} ({packings}) in --data-dir, ISRHT_DATA or the cache; {how}"


def split(rule, y, is_test=None):
    """Return the numbers of the rows that train and of those that test.

    They are as ``is_test`` says if the rule is "given"; otherwise they are drawn, with all classes in proportion and
    from a fixed seed.
    """
    if rule == "given":
        return np.flatnonzero(~is_test), np.flatnonzero(is_test)
    from sklearn.model_selection import train_test_split

    return train_test_split(np.arange(len(y)), train_size=rule, stratify=y, random_state=SPLIT_SEED)


def scale(rule, X_train, X_test):
    """Scale features to [-1, 1] by what the training rows show.

    "minmax" maps every feature by itself. "largest" divides everything by one number, the largest absolute value, so
    that sparse data stay sparse.
    """
    if rule is None:
        return X_train, X_test
    if rule == "largest":
        largest = abs(X_train.data).max()
        return X_train / largest, X_test / largest
    from sklearn.preprocessing import MinMaxScaler

    scaler = MinMaxScaler(feature_range=(-1, 1)).fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test)


def as_they_are(labels):
    return np.unique(labels, return_inverse=True)[1]


def odd_digits(labels):
    """Make two classes of the labels of usps, which are the digit plus 1: even digits and odd ones."""
    return ((labels.astype(int) - 1) % 2).astype(int)


LABELS = {"as_they_are": as_they_are, "odd_digits": odd_digits}


def _files_of(description, data_dir):
    paths = folders.find_files(description, data_dir)
    if paths is None:
        raise NotAvailable(missing(description))
    return paths


def _read_files(description, paths):
    parts = []
    for path, facts in zip(paths, description.facts, strict=True):
        check_digest(facts, path)
        parts.append(read_verified(facts, path))
    is_test = np.repeat(np.arange(len(parts)) > 0, [len(y) for _, y in parts])
    X = sp.vstack([X for X, _ in parts], format="csr")
    y = LABELS[description.labels](np.concatenate([y for _, y in parts]))  # at once: a file may lack a class
    return X if description.sparse else X.toarray(), y, is_test


def _digest_of_arrays(X, y):
    arrays = (X.data, X.indices, X.indptr, y) if sp.issparse(X) else (X, y)
    total = hashlib.sha256()
    for array in arrays:
        total.update(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes())
    return total.hexdigest()
