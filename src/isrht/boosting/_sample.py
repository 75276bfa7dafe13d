"""How many rows a search needs: where there are more than enough, it looks at a sample of them.

A choice among cells is sure when thousands of rows are held out, and columns that were learned from tens of thousands
of rows differ little from those that more rows would give. The columns that are kept are learned from all rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isrht.rows.blocks import few_rows
from isrht.rows.folds import ENOUGH_ROWS
from isrht.rows.labels import CodedLabels
from isrht.rows.samples import sample_of_classes

# A fifth of so many rows, which is held out, are as many as are enough altogether.
MOST_ROWS = 5 * ENOUGH_ROWS
# Of each class at least so many rows are among the sample, if there are so many.
FEWEST_OF_A_CLASS = 250


class SearchedRows(NamedTuple):
    """The rows that a search looks at, and what belongs to them.

    Parameters
    ----------
    X : rows
    labels : CodedLabels
    weights : array, RowValues or None
    """

    X: Any
    labels: CodedLabels
    weights: Any


def searched_rows(X, labels, weights, seed):
    """Return the :class:`SearchedRows`: all rows, or a sample if there are more than :data:`MOST_ROWS`.

    Parameters
    ----------
    X : rows
    labels : CodedLabels
    weights : array, RowValues or None
    seed : int
    """
    if len(labels) <= MOST_ROWS:
        return SearchedRows(X, labels, weights)
    chosen = _drawn_rows(labels, np.random.RandomState(seed))
    sample = CodedLabels(labels.classes, labels.codes[chosen])
    return SearchedRows(few_rows(X, chosen), sample, None if weights is None else weights[chosen])


def _drawn_rows(labels, rng):
    """Return the numbers of rows that are drawn from each class in proportion, and some of the smallest classes."""
    share = MOST_ROWS / len(labels)
    sizes = np.minimum(labels.counts, np.maximum(np.ceil(share * labels.counts), FEWEST_OF_A_CLASS)).astype(np.int64)
    return sample_of_classes(labels, sizes, rng)
