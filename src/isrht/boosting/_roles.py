"""The role of every row: its class, how often each fold trains on it or holds it out, and its weight.

This is all that boosting is told of the rows beside X. Each of these is an array for rows in memory, and otherwise row
values that lie where the rows are (:mod:`isrht.rows.values`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isrht.rows.values import class_totals, derived, total


@dataclass
class Roles:
    """The roles of some or all rows.

    Parameters
    ----------
    codes : array of shape (n_samples,)
        The number of each row's class.
    n_classes : int
    training, held_out : arrays of shape (n_samples, n_folds)
        How often each fold trains on a row, or holds it out.
    weights : array of shape (n_samples,) or None
    """

    codes: Any
    n_classes: int
    training: Any
    held_out: Any
    weights: Any = None

    def __len__(self):
        return len(self.codes)

    def __getitem__(self, rows):
        weights = None if self.weights is None else self.weights[rows]
        return Roles(self.codes[rows], self.n_classes, self.training[rows], self.held_out[rows], weights)

    @property
    def n_folds(self):
        """How many folds there are."""
        return self.training.shape[1]

    @property
    def n_problems(self):
        """How many two-class problems there are: one for two classes, otherwise one per class, against the rest."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def positive_classes(self):
        """The number of the class that each two-class problem tells from the others."""
        return np.arange(1 if self.n_classes == 2 else 0, self.n_classes, dtype=np.int32)

    @cached_property
    def Y(self):
        """The labels as +1/-1, a column for each two-class problem."""
        return np.where(self.codes[:, None] == self.positive_classes, 1.0, -1.0)

    def training_weights(self, folds):
        """Return the weights of rows in the training of a fold, or of several: one value per row, or (rows, folds)."""
        return _weighted_by(folds)(self.training, self.weights)

    def held_out_weights(self, fold):
        """Return the weights of rows among those that a fold holds out."""
        return _weighted_by(fold)(self.held_out, self.weights)

    def mean_label(self, fold):
        """Return the mean of each column of ``Y`` over the training rows of a fold."""
        weights = derived(_weighted_by(fold), self.training, self.weights)
        shares = class_totals(self.codes, weights, self.n_classes)
        means = 2 * shares / shares.sum() - 1
        return means[1:] if self.n_classes == 2 else means

    def held_out_totals(self, fold):
        """Return the sum of the weights of the rows that a fold holds out, and of the squares of these weights."""
        weight_of = _weighted_by(fold)

        def of_part(counts, weights):
            weights = weight_of(counts, weights)
            return np.array([weights.sum(), weights @ weights])

        return total(of_part, self.held_out, self.weights)

    def all_training(self):
        """Return the same rows with one fold that trains on all of them and holds none out."""
        ones = derived(lambda codes: np.ones((len(codes), 1), dtype=np.uint8), self.codes, width=1)
        zeros = derived(lambda codes: np.zeros((len(codes), 1), dtype=np.uint8), self.codes, width=1)
        return Roles(self.codes, self.n_classes, ones, zeros, self.weights)


def _weighted_by(folds):
    """Return a function of counts and weights of rows: the weights of these rows in a fold, or in several."""

    def weighted(counts, weights):
        counts = counts[:, folds]
        if weights is None:
            return counts.astype(np.float64)
        return counts * (weights if counts.ndim == 1 else weights[:, None])

    return weighted
