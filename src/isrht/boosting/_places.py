"""Where boosting keeps what it learns of every row: in memory, in a file, or on the workers of a cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isrht.boosting._rows import FiledRows, LearnedRows
from isrht.rows.blocks import RowsElsewhere


def learned_rows(X, roles, folds, n_columns):
    """Return what boosting keeps of the rows, with room for columns, where the rows of X are.

    Parameters
    ----------
    X : rows
    roles : Roles
    folds : array of shape (n_paths,)
        The fold of each path.
    n_columns : int
        The most columns that a path learns.

    Returns
    -------
    LearnedRows
    """
    if not isinstance(X, RowsElsewhere):
        roles = replace(roles, codes=roles.codes.astype(np.min_scalar_type(roles.n_classes)))
        return LearnedRows(roles, folds, np.zeros((n_columns, len(folds), len(roles))))
    if X.on_workers:
        from isrht.boosting._rows_on_workers import LearnedWorkerRows

        return LearnedWorkerRows(X, roles, folds, n_columns)
    return FiledRows(roles, folds, n_columns)
