"""From a name to rows, labels, and which rows train and which test."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from isrht.datasets import _embedded, folders, own
from isrht.datasets._verify import check_digest, read_verified
from isrht.datasets.registry import describe
from isrht.files.streams import PACKINGS

SPLIT_SEED = 0


class NotAvailable(LookupError):
    """The files of a set are nowhere to be found."""


@dataclass
class Dataset:
    """Rows and labels, the split into training and test rows, and a checksum of the data they came from."""

    name: str
    X: Any
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray
    checksum: str

    @cached_property
    def scaled(self):
        """``(X_train, y_train, X_test, y_test)``, features scaled to [-1, 1] by what the training rows show."""
        X_train, X_test = scale(describe(self.name).scale, self.X[self.train], self.X[self.test])
        return X_train, self.y[self.train], X_test, self.y[self.test]


def load(name, data_dir=None):
    """The set of this name. Sets in files are looked for in ``data_dir``, ``ISRHT_DATA`` and the download cache.

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
        X, y, is_test = _embedded.MAKERS[name]()
        checksum = _digest_of_arrays(X, y)
    else:
        paths = folders.find(description, data_dir)
        if paths is None:
            raise NotAvailable(missing(description))
        X, y, is_test = _read_files(description, paths)
        checksum = folders.digest(paths)
    train, test = split(description.split, y, is_test)
    return Dataset(name, X, y, train, test, checksum)


def checksum_of(name, data_dir=None):
    """The checksum that :func:`load` would give, without reading text."""
    description = describe(name)
    if description.source:
        return own.digest(description)
    if description.embedded:
        return _digest_of_arrays(*_embedded.MAKERS[name]()[:2])
    paths = folders.find(description, data_dir)
    if paths is None:
        raise NotAvailable(missing(description))
    return folders.digest(paths)


def missing(description):
    """One line that says what is missing and what to do about it."""
    how = f"fetch it with 'isrht data fetch {description.name}'" if description.urls else "it cannot be downloaded"
    names = " and ".join(description.files)
    packings = f"{', '.join(PACKINGS)} or plain"
    return f"{description.name}: no {names} ({packings}) in --data-dir, ISRHT_DATA or the cache; {how}"


def split(rule, y, is_test=None):
    """Row numbers to train on and to test on: as given, or drawn once, stratified, from a fixed seed."""
    if rule == "given":
        return np.flatnonzero(~is_test), np.flatnonzero(is_test)
    from sklearn.model_selection import train_test_split

    return train_test_split(np.arange(len(y)), train_size=rule, stratify=y, random_state=SPLIT_SEED)


def scale(rule, X_train, X_test):
    """Features to [-1, 1]. Sparse data are divided by one number, their largest absolute value, and stay sparse."""
    if rule is None:
        return X_train, X_test
    if rule == "maxabs":
        largest = abs(X_train.data).max()
        return X_train / largest, X_test / largest
    from sklearn.preprocessing import MinMaxScaler

    scaler = MinMaxScaler(feature_range=(-1, 1)).fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test)


def as_they_are(labels):
    return np.unique(labels, return_inverse=True)[1]


def odd_digits(labels):
    """usps labels are digit + 1."""
    return ((labels.astype(int) - 1) % 2).astype(int)


LABELS = {"as_they_are": as_they_are, "odd_digits": odd_digits}


def _read_files(description, paths):
    parts = []
    for path, facts in zip(paths, description.facts, strict=True):
        check_digest(facts, path)
        X, y = read_verified(facts, path)
        parts.append((X, LABELS[description.labels](y)))
    is_test = np.repeat(np.arange(len(parts)) > 0, [len(y) for _, y in parts])
    X = sp.vstack([X for X, _ in parts], format="csr")
    return X if description.sparse else X.toarray(), np.concatenate([y for _, y in parts]), is_test


def _digest_of_arrays(X, y):
    arrays = (X.data, X.indices, X.indptr, y) if sp.issparse(X) else (X, y)
    total = hashlib.sha256()
    for array in arrays:
        total.update(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes())
    return total.hexdigest()
