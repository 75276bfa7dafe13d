"""The door for rows that are not in memory: X becomes rows elsewhere, and its labels are coded.

An estimator asks :func:`as_rows` first. For an ordinary array or sparse matrix the answer is None, and scikit-learn
validates it; everything else is read block by block, here or on the workers of a Dask cluster. Dask is imported only if
X comes from Dask.
"""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from isrht.rows.blocks import RowsElsewhere
from isrht.rows.labels import CodedLabels, part_by_part
from isrht.rows.sources import RowSource, is_matrix


def as_rows(X):
    """Return X as rows that are read block by block, or None if it is in memory.

    Parameters
    ----------
    X : anything
        Rows elsewhere stay as they are; a memory map, a Dask array or data frame, or a list of delayed blocks become
        such rows.

    Returns
    -------
    RowsElsewhere or None
    """
    if isinstance(X, RowsElsewhere):
        return X
    if isinstance(X, np.memmap) and is_matrix(X) and X.size:
        return RowSource(X)
    if _may_be_dask(X):
        from isrht.rows.dask.rows import DaskRows, is_dask

        return DaskRows(X) if is_dask(X) else None
    return None


def _may_be_dask(X):
    """Say whether X, or the first one in a list, comes from Dask; Dask need not be imported to know."""
    first = X[0] if isinstance(X, list | tuple) and len(X) else X
    return type(first).__module__.partition(".")[0] in ("dask", "dask_expr")


def rows_to_fit(estimator, rows, y=None, *, needs_labels=True, reset=True):
    """Return rows elsewhere and their labels, coded, for a fit: both in memory if the rows are few enough.

    A fit in memory is faster, most of all that of a linear model on many features, which would be a hundred passes.

    Parameters
    ----------
    estimator, rows, y, needs_labels, reset
        As :func:`validate_rows` has them.

    Returns
    -------
    rows : RowsElsewhere, ndarray or CSR array
    labels : CodedLabels or None
    """
    labels = validate_rows(estimator, rows, y, needs_labels=needs_labels, reset=reset)
    held = rows.held()
    if held is None:
        return rows, labels
    return held, None if labels is None else labels.held()


def validate_rows(estimator, rows, y=None, *, needs_labels=True, reset=True):
    """Return the labels of rows elsewhere, coded, and set or check the features of an estimator.

    Parameters
    ----------
    estimator : object
        The number and names of its features are set, or compared with those of the rows.
    rows : RowsElsewhere
    y : array-like, Dask array, CodedLabels or None
        None where the labels come with the rows.
    needs_labels : bool, default=True
        Whether rows without labels are an error; if not, no labels are looked for.
    reset : bool, default=True
        Whether to set the features, as ``fit`` does, or to compare them.

    Returns
    -------
    CodedLabels or None
    """
    rows.survey(getattr(estimator, "n_jobs", None))
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


def fitted_rows(estimator, X):
    """Return X as rows elsewhere, checked for an estimator that must be fitted; or None if it is in memory."""
    rows = as_rows(X)
    if rows is not None:
        check_is_fitted(estimator)
        validate_rows(estimator, rows, needs_labels=False, reset=False)
    return rows


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
    """Keep what several projections make of the rows, for many passes, until the end of the context.

    Parameters
    ----------
    rows : RowsElsewhere
    projections : list of (callable, int)
        Each turns an array or CSR array into a dense array of so many columns.
    n_jobs : int, default=None
        Threads, as in scikit-learn.

    Yields
    ------
    list of RowsElsewhere
        One for each projection.
    """
    kept = rows.store(projections, n_jobs)
    try:
        yield kept
    finally:
        for one in kept:
            one.close()
