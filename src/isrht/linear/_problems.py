"""The two-class problems that are solved together, because one pass over the rows can serve all of them.

Several classes are one problem each, against the rest, and the folds of a cross-validation have their own problems
again. They share the rows. A fold is a column of row weights, zero on the rows that it holds out, so no row is
copied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isrht.support.matrices import as_float64


@dataclass(frozen=True)
class TwoClassProblems:
    """Problems on the same rows.

    Parameters
    ----------
    fold : array of shape (n_problems,)
        The number of the fold whose rows a problem is trained on: a column of the row weights.
    positive : array of shape (n_problems,)
        The number of the class whose rows have the label +1.
    """

    fold: np.ndarray
    positive: np.ndarray

    @classmethod
    def of(cls, n_folds, n_classes):
        """Return the problems of all folds and classes. Two classes are one problem, whose positive class is 1."""
        positive = np.arange(n_classes) if n_classes > 2 else np.array([1])
        return cls(np.repeat(np.arange(n_folds), len(positive)), np.tile(positive, n_folds))

    def __len__(self):
        return len(self.fold)

    def __getitem__(self, chosen):
        return TwoClassProblems(self.fold[chosen], self.positive[chosen])

    def signs(self, block):
        """Return the labels +1/-1 of the rows of a block: an array (problems, rows)."""
        return np.where(block.y == self.positive[:, None], 1.0, -1.0)

    def row_weights(self, block):
        """Return the weights of the rows of a block: an array (problems, rows)."""
        return weights_by_fold(block)[self.fold]


def weights_by_fold(block):
    """Return the weights of the rows of a block in every fold: an array (folds, rows). Without weights all are 1."""
    if block.sample_weight is None:
        return np.ones((1, block.X.shape[0]))
    return np.atleast_2d(as_float64(block.sample_weight).T)
