"""A path: the diagonals that one candidate has learned in one fold, made orthonormal.

A learned column is column 0 of H, which adds up all features, behind a diagonal D that has seen the labels. The small
SVM on these columns must not prefer a feature for its units or its company, so its ridge ``|w|^2`` is to be a ridge
on the weights of the features, in a metric S: ``sd_k`` for the diagonal "z" (features as they are), ``sd_k^2`` for
"standard" (every feature counts the same), where ``sd_k`` is the standard deviation of feature k. Therefore the
columns are mixed by a triangular matrix A, which makes them orthonormal in S: ``R = [D_1 H S_1 | ... | D_T H S_T]
A``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isrht.boosting._rows import Head
from isrht.projections.diagonals import Candidate
from isrht.projections.feature_moments import chunks_of

# A diagonal of which less than this is new adds no column.
SMALLEST_REMAINDER = 1e-6
# The residual is gone when its mean square is less than this.
NO_RESIDUAL = 1e-10


class Assignment(NamedTuple):
    """What a path has to learn.

    Parameters
    ----------
    number : int
        Its number among all paths: under it the rows keep its columns (:mod:`isrht.boosting._rows`).
    candidate : Candidate
        The kind of its diagonals and their threshold.
    fold : int
        The fold from whose training rows it learns.
    mean_label : array of shape (n_problems,)
        The mean of the labels +1/-1 over these rows, for each two-class problem.
    """

    number: int
    candidate: Candidate
    fold: int
    mean_label: np.ndarray


class NewColumn(NamedTuple):
    """How a column follows from the product of the rows with a new diagonal, and from the columns before it.

    Parameters
    ----------
    source : int
        The number of the diagonal among those that the path has just been given.
    scale : float
        The factor of the product.
    overlap : array
        How much of every column before is in the product, and has to be taken away.
    remainder : float
        The norm of what is left then.
    """

    source: int
    scale: float
    overlap: np.ndarray
    remainder: float


class Path:
    """The diagonals learned so far, and the small SVM on their columns.

    Parameters
    ----------
    assignment : Assignment
    features : Features
    n_columns : int
        Room for so many diagonals.
    n_contrasts : int, default=0
        How many Walsh contrasts of each diagonal are wanted.

    Attributes
    ----------
    size : int
        How many diagonals there are.
    z : ndarray of shape (n_columns, n_features), float32
        The diagonals, before they are divided by ``norms``.
    norms : ndarray of shape (n_columns,)
    mixing : ndarray of shape (n_columns, n_columns)
        The triangular matrix A.
    solutions : ndarray of shape (n_problems, size + 1)
        The weights of the small SVM whose residual the next round works on, and its intercepts last.
    contrasts : list of ndarrays
        For each diagonal the best columns of H beside column 0.
    done : bool
        Whether there is nothing left to learn.
    """

    def __init__(self, assignment, features, n_columns, n_contrasts=0):
        self.assignment = assignment
        self.row_scale = 1 / np.sqrt(features.mean_squared_row(self.candidate.diagonal, self.fold))
        self.total = features.total[self.fold]
        self.z = np.empty((n_columns, len(features.mean)), dtype=np.float32)
        self.norms = np.empty(n_columns)
        self.mixing = np.zeros((n_columns, n_columns))
        self.size, self.done = 0, False
        self.solutions = np.zeros((self.n_problems, 1))
        self.n_contrasts, self.contrasts = n_contrasts, []

    @property
    def number(self):
        return self.assignment.number

    @property
    def candidate(self):
        return self.assignment.candidate

    @property
    def fold(self):
        return self.assignment.fold

    @property
    def n_problems(self):
        return len(self.assignment.mean_label)

    @property
    def head(self):
        """What the residual of the path follows from."""
        return self.head_with(self.solutions)

    def head_with(self, solutions):
        """Return the same for other SVMs on its columns, one row of weights for each problem."""
        return Head(self.number, self.size, solutions, self.assignment.mean_label)

    def room(self, per_round):
        """Return how many diagonals a round may add."""
        return min(per_round, len(self.norms) - self.size, self.n_problems)

    def extend(self, norms, grams):
        """Make the new diagonals orthonormal to the others. Return a :class:`NewColumn` for each that is new.

        ``grams[:, i]`` are the products of new diagonal i with all diagonals, the new ones last, before scaling.
        """
        before, kept, new = self.size, list(range(self.size)), []
        for i, norm in enumerate(norms):
            if not norm > 0:
                continue
            t = self.size
            overlap = self.mixing[:t, :t] @ (grams[kept, i] / (self.norms[:t] * norm))
            remainder = np.sqrt(max(0.0, 1 - overlap @ overlap))
            if remainder < SMALLEST_REMAINDER:
                continue
            self.z[t], self.norms[t] = self.z[before + i], norm
            self.mixing[t, :t], self.mixing[t, t] = -(overlap @ self.mixing[:t, :t]) / remainder, 1 / remainder
            kept.append(before + i)
            new.append(NewColumn(i, self.row_scale / norm, overlap, remainder))
            self.size += 1
        return new

    def learn(self, solutions, loss):
        """Take the small SVMs that the next residual is of, and see whether there is any residual."""
        self.solutions = solutions
        if loss.sum() < NO_RESIDUAL * self.total:
            self.done = True

    def distilled(self, weights, features, count):
        """Return a path of ``count`` diagonals, on whose columns the SVMs of these ``weights`` are the same.

        Column 0 of H adds up all features, so any combination of columns is one column with a diagonal of its own. The
        first new columns are those that the SVMs use, the others are what is left of the columns in their order.
        """
        basis = _basis_of_use(weights, count)
        factors = basis @ self.mixing[: self.size, : self.size] / self.norms[: self.size]
        path = Path(self.assignment, features, count)
        grams = np.zeros((count, count))
        for chunk in chunks_of(len(features.mean)):
            path.z[:, chunk] = factors @ self.z[: self.size, chunk]
            z = path.z[:, chunk].astype(np.float64)
            metric = 1 if self.candidate.diagonal == "standard" else features.deviation[chunk, self.fold]
            grams += z @ (z * metric).T
        path.extend(np.sqrt(np.diag(grams)), grams)
        path.contrasts = [np.empty(0, dtype=np.int64)] * path.size
        return path


def _basis_of_use(weights, count):
    """Return ``count`` orthonormal combinations of columns: first those that span the weights of all SVMs."""
    used = np.linalg.svd(weights, full_matrices=False)[2]
    largest = np.abs(used).argmax(axis=1)
    used *= np.sign(used[np.arange(len(used)), largest])[:, None]
    basis = np.linalg.qr(np.column_stack([used.T, np.eye(weights.shape[1])]))[0].T[:count]
    basis[: len(used)] = used[:count]
    return basis
