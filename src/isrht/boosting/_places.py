"""Where boosting keeps what it learns of every row: in memory, in a file, or on the workers of a cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isrht.boosting._rows import FiledRows, LearnedRows
from isrht.rows.blocks import Rows


def learned_rows(X, roles, folds, n_columns):
    """Return rows with room for ``n_columns`` of every path, whose folds are ``folds``, kept where the rows of X are."""
    if not isinstance(X, Rows):
        roles = replace(roles, codes=roles.codes.astype(np.min_scalar_type(roles.n_classes)))
        return LearnedRows(roles, folds, np.zeros((n_columns, len(folds), len(roles))))
    if X.on_workers:
        from isrht.boosting._rows_on_dask import LearnedDaskRows

        return LearnedDaskRows(X, roles, folds, n_columns)
    return FiledRows(roles, folds, n_columns)
