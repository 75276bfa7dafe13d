"""The door for rows that are not in memory: X as :class:`~isrht.rows.blocks.RowsElsewhere`, its labels coded.

An estimator asks :func:`as_rows` first. What is an ordinary array or sparse matrix is None to it, and is validated as
scikit-learn does; everything else is read block by block, here or on the workers of a Dask cluster. Dask is imported
only for what comes from Dask.
"""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from isrht.rows.blocks import RowsElsewhere
from isrht.rows.labels import CodedLabels, part_by_part
from isrht.rows.sources import RowSource, is_matrix


def as_rows(X):
    """X as :class:`RowsElsewhere` if it is to be read block by block, else None: then it is scikit-learn's to check."""
    if isinstance(X, RowsElsewhere):
        return X
    if isinstance(X, np.memmap) and is_matrix(X) and X.size:
        return RowSource(X)
    if _may_be_dask(X):
        from isrht.rows.dask.rows import DaskRows, is_dask

        return DaskRows(X) if is_dask(X) else None
    return None


def _may_be_dask(X):
    """Whether X, or the first in a list, comes from Dask, which is not imported to know it."""
    first = X[0] if isinstance(X, list | tuple) and len(X) else X
    return type(first).__module__.partition(".")[0] in ("dask", "dask_expr")


def validate_rows(estimator, rows, y=None, *, needs_labels=True, reset=True):
    """The labels of the rows, coded, from ``y`` or from the source; set or check the number of features on the way."""
    header = getattr(rows, "header", None)
    header = np.empty((0, rows.shape[1])) if header is None else header
    validate_data(estimator, header, skip_check_array=True, reset=reset)
    if not needs_labels:
        return None
    labels = _coded(rows, y) if y is not None else getattr(rows, "coded_labels", None)
    if labels is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None and the source has no labels"
        )
    return labels


def _coded(rows, y):
    if isinstance(y, CodedLabels):
        return y
    if _may_be_dask(y) and not rows.on_workers:
        raise TypeError("y is in Dask, but the rows are not: give both to Dask, or compute y")
    if not _may_be_dask(y):
        y = column_or_1d(y, warn=True)
        check_consistent_length(rows, y)
        y = part_by_part(y)
    return rows.coded(y) if rows.on_workers else y


@contextmanager
def stored(rows, projections, n_jobs=None):
    """A list of what ``projections`` make of the rows, kept for many passes until the end of the context."""
    kept = rows.store(projections, n_jobs)
    try:
        yield kept
    finally:
        for one in kept:
            one.close()
