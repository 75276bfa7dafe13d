"""A sample of the rows of each class, drawn by a seed, wherever the rows are."""

from __future__ import annotations

import numpy as np
from sklearn.utils.random import sample_without_replacement

from isrht.rows.values import rows_by_rank


def sample_of_classes(labels, sizes, rng):
    """Return the numbers of the rows that are drawn, ascending. What is drawn are the ranks of rows in their class.

    Parameters
    ----------
    labels : CodedLabels
    sizes : sequence of int
        How many rows of each class are drawn; no more than there are.
    rng : RandomState
    """
    drawn = [
        np.sort(sample_without_replacement(count, size, random_state=rng))
        for count, size in zip(labels.counts, sizes, strict=True)
    ]

    def is_drawn(codes, ranks):
        found = np.zeros(len(codes), dtype=bool)
        for label, wanted in enumerate(drawn):
            mine = codes == label
            found[mine] = np.isin(ranks[mine], wanted)
        return found

    return rows_by_rank(is_drawn, labels.codes, labels.n_classes)
