"""Where boosting keeps what it knows of every row: in memory, in a file, or on the workers of a cluster."""

from __future__ import annotations

import numpy as np

from isrht.boosting._rows import FiledRows, LearnedRows
from isrht.rows.blocks import Rows
from isrht.rows.values import derived


def learned_rows(X, codes, n_classes, training, held_out, weights, folds, n_columns):
    """:class:`LearnedRows` where the rows of X are; arguments as there."""
    if not isinstance(X, Rows):
        codes = codes.astype(np.min_scalar_type(n_classes))
        columns = np.zeros((n_columns, len(folds), len(codes)))
        return LearnedRows(codes, n_classes, training, held_out, weights, folds, columns)
    if X.on_workers:
        from isrht.boosting._rows_on_dask import LearnedDaskRows

        return LearnedDaskRows(X, codes, n_classes, training, held_out, weights, folds, n_columns)
    return FiledRows(codes, n_classes, training, held_out, weights, folds, n_columns)


def all_rows(X, codes, n_classes, weights, n_columns):
    """:func:`learned_rows` for one path that trains on every row."""
    training = derived(lambda codes: np.ones((len(codes), 1), dtype=np.uint8), codes, width=1)
    held_out = derived(lambda codes: np.zeros((len(codes), 1), dtype=np.uint8), codes, width=1)
    return learned_rows(X, codes, n_classes, training, held_out, weights, np.zeros(1, dtype=np.int64), n_columns)
