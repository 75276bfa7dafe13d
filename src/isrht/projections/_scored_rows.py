"""The rows that columns are scored on: all of them, or a sample where that is wished for."""

from __future__ import annotations

import numpy as np
from sklearn.utils.random import sample_without_replacement

from isrht.rows.blocks import take_rows
from isrht.rows.labels import CodedLabels
from isrht.rows.samples import sample_of_classes
from isrht.rows.values import derived


def sampled_rows(X, labels, weights, size, rng):
    """Return about so many of the rows that weigh something, in their order, with their labels and weights.

    They are equally many of each class where there are labels, and all rows if there are no more than ``size``.
    """
    classes = _one_class(X.shape[0], weights) if labels is None else labels
    if weights is not None:
        classes = classes.only(derived(lambda weights: weights > 0, weights))
    if size >= int(classes.counts.sum()):
        return X, labels, weights
    if labels is None and weights is None:
        chosen = np.sort(sample_without_replacement(X.shape[0], size, random_state=rng))
    else:
        each = max(1, size // classes.n_classes)
        chosen = sample_of_classes(classes, np.minimum(classes.counts, each), rng)
    kept = None if labels is None else CodedLabels(classes.classes, classes.codes[chosen])
    return take_rows(X, chosen), kept, None if weights is None else weights[chosen]


def _one_class(n_samples, weights):
    """Return labels for rows that have none."""
    codes = np.zeros(n_samples, dtype=np.int64)
    if weights is not None:
        codes = derived(lambda weights: np.zeros(len(weights), dtype=np.int64), weights)
    return CodedLabels(np.zeros(1), codes)
