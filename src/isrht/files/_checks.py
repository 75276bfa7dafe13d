"""Checks that readers of several formats share; each error names the file, and the place in it where it is known."""

from __future__ import annotations

import numpy as np

from isrht.files.errors import FileError

HOW_TO_HAVE_MORE = "; if that is meant, allow it with limits=Limits(features=...), on the command line --max-features"


def label_place(path, label, names):
    """Return the place of the label among the ``names`` of the fields.

    The label is given by its name or by its place, which may be written as text and may count from the end (-1).
    """
    names = list(names)
    if label in names:
        return names.index(label)
    try:
        place = int(label)
    except ValueError:
        raise FileError(path, f"there is no column {label!r}; there are {_listed(names)}") from None
    if not -len(names) <= place < len(names):
        raise FileError(path, f"there is no column {place}; there are {len(names)} columns")
    return place % len(names)


def check_width(path, found, expected):
    """Refuse dense rows of another width: only the place of a value tells which feature it belongs to."""
    if expected is not None and found != expected:
        raise FileError(path, f"there are {found} features in a row, not {expected}")


def check_feature_count(path, found, rows):
    """Refuse more features than ``rows.limits`` allow: a damaged file must not become a request for all memory."""
    if rows.n_features is None and found > rows.limits.features:
        raise FileError(path, f"it has {found:,} features, more than {rows.limits.features:,}{HOW_TO_HAVE_MORE}")


def check_finite(path, X, first_row, field_names=None):
    """Refuse values that are not finite, and say where the first of them is.

    Rows are counted from ``first_row``, which is how many rows of the file came before X.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = X.sum()  # it is quick, and finite only if all values are
    if not (np.isfinite(total) or np.isfinite(X).all()):
        refuse_infinite(path, X, first_row, field_names)


def refuse_infinite(path, X, first_row, field_names=None):
    """Raise an error that says where the first value that is not finite stands; there must be one."""
    row, place = np.argwhere(~np.isfinite(X))[0].tolist()
    name = place + 1 if field_names is None else field_names[place]
    raise FileError(path, f"row {first_row + row + 1}, column {name!r}: {X[row, place]} is not finite")


def _listed(names):
    return ", ".join(map(repr, names[:10])) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
