"""Learned columns, grown round by round: ``R = [D_1 H S_1 | ... | D_T H S_T] A`` with diagonals that have seen labels.

A round takes the residual g of a small SVM on the columns so far and asks every feature how sure it is to help:
``z_k = v_k / se_k``, the gradient ``v = X'g`` (features centred) over its standard error. The diagonal is z,
soft-thresholded at tau, so that column 0 of H, which adds up all features, points along what is still unexplained; no
random sign cancels it. The rows are never rotated for this: a round is two passes over them, one for the moments
``X'g, X'g^2, (X*X)'g^2`` and one for the new column; rows stored by feature (:mod:`isrht.rows.by_feature`) need one for
both. What is kept of every row, its columns among them, is in :mod:`isrht.boosting._rows`.

The small SVM must not prefer a feature for its units or its company, so its ridge ``|w|^2`` is to be a ridge on the
weights of the features, in a metric S: ``sd_k`` for the diagonal "z" (features as they are), ``sd_k^2`` for "standard"
(every feature counts the same). That is what A is for: it makes the learned columns orthonormal in S.

Several :class:`Path`\\ s (candidates for the diagonal, folds of a cross-validation) grow side by side and share every
pass. A fold is a column of row weights, zero where rows are held out: no row is copied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isrht import kernels
from isrht.boosting._rows import Head
from isrht.boosting._small_svm import Problems, SmallSVMs, Solutions, solve_elsewhere
from isrht.projections.diagonals import Diagonals, leading_directions
from isrht.projections.feature_moments import chunks_of, gradients
from isrht.projections.selection import comparable
from isrht.support.matrices import as_float64
from isrht.support.threads import in_threads
from isrht.transform.hadamard import next_power_of_two

# The C of the SVM whose residual the next round works on, in units in which the mean squared row is 1.
INNER_C = 1.0
# A diagonal of which less than this is new adds no column.
SMALLEST_REMAINDER = 1e-6
# The residual is gone when its mean square is less than this.
NO_RESIDUAL = 1e-10


class NewColumn(NamedTuple):
    """How a column follows from a product with new diagonal ``source`` and from the columns before it."""

    source: int
    scale: float
    overlap: np.ndarray
    remainder: float


class Path:
    """The diagonals learned so far by one candidate in one fold, and the small SVM on their columns.

    The columns themselves are those of path ``number`` in :mod:`isrht.boosting._rows`.
    """

    def __init__(self, number, candidate, fold, features, mean_label, n_columns, n_contrasts=0):
        self.number, self.candidate, self.fold = number, candidate, fold
        self.row_scale = 1 / np.sqrt(features.mean_squared_row(candidate.diagonal, fold))
        self.total = features.total[fold]
        self.z = np.empty((n_columns, len(features.mean)), dtype=np.float32)
        self.norms = np.empty(n_columns)
        self.mixing = np.zeros((n_columns, n_columns))
        self.size, self.done = 0, False
        self.mean_label = mean_label
        self.solutions = np.zeros((len(mean_label), 1))
        self.n_contrasts, self.contrasts = n_contrasts, []

    @property
    def n_problems(self):
        return len(self.mean_label)

    @property
    def head(self):
        return Head(self.number, self.size, self.solutions, self.mean_label)

    def room(self, per_round):
        return min(per_round, len(self.norms) - self.size, self.n_problems)

    def directions(self, gradient, pull, features, per_round):
        """The classes' residuals, combined along the leading directions of their gradients: (classes, directions)."""
        return leading_directions(gradient, pull, features, self, self.room(per_round))

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

    def distilled(self, weights, features, count):
        """A path of ``count`` diagonals, on whose columns the SVMs of these ``weights`` are the same.

        Column 0 of H adds up all features, so any combination of columns is one column with a diagonal of its own. The
        first are those that the SVMs use, the others what is left of the columns in their order.
        """
        used = np.linalg.svd(weights, full_matrices=False)[2]
        largest = np.abs(used).argmax(axis=1)
        used *= np.sign(used[np.arange(len(used)), largest])[:, None]
        basis = np.linalg.qr(np.column_stack([used.T, np.eye(self.size)]))[0].T[:count]
        basis[: len(used)] = used[:count]
        factors = basis @ self.mixing[: self.size, : self.size] / self.norms[: self.size]
        path = Path(self.number, self.candidate, self.fold, features, self.mean_label, count)
        grams = np.zeros((count, count))
        for chunk in chunks_of(len(features.mean)):
            path.z[:, chunk] = factors @ self.z[: self.size, chunk]
            z = path.z[:, chunk].astype(np.float64)
            metric = 1 if self.candidate.diagonal == "standard" else features.deviation[chunk, self.fold]
            grams += z @ (z * metric).T
        path.extend(np.sqrt(np.diag(grams)), grams)
        path.contrasts = [np.empty(0, dtype=np.int64)] * path.size
        return path

    def learn(self, solutions, loss):
        """Take the small SVMs that the next residual is of, and see whether there is any residual."""
        self.solutions = solutions[:, [*range(self.size), -1]]
        if loss.sum() < NO_RESIDUAL * self.total:
            self.done = True


def grow(X, rows, features, paths, per_round=1, n_jobs=None):
    """One round for all paths: at most ``per_round`` new columns each, and the small SVMs on all they have."""
    paths = [path for path in paths if not path.done and path.room(per_round)]
    if not paths:
        return
    directions = _directions(X, rows, features, paths, per_round, n_jobs)
    sides, n_new = _Sides([path.head for path in paths], directions), [len(each.T) for each in directions]
    owner = np.repeat(np.arange(len(paths)), n_new)
    new = Diagonals(features, paths, owner)
    new.make(X, rows, sides, n_jobs)
    added = [path.extend(new.norms[mine], gram) for path, mine, gram in zip(paths, new.mine, new.grams, strict=True)]
    for path, columns, mine in zip(paths, added, new.mine, strict=True):
        path.done = not columns
        if path.n_contrasts:
            signals = [new.signals[:, mine.start + column.source] for column in columns]
            path.contrasts += [best_contrasts(signal, path.n_contrasts) for signal in signals]
    growing = [path for path in paths if not path.done]
    if growing:
        heads, first = [path.head for path in paths], [mine.start for mine in new.mine]
        write = _Writer(new.matrix, new.offsets, heads, first, added)
        if new.products is None:
            rows.append(X, write, max(path.size for path in growing), n_jobs)
        else:
            write.columns(new.products - new.offsets, rows)
        train(rows, growing, n_jobs)


def train(rows, paths, n_jobs=None):
    """The small SVMs of every path, from where they were."""
    starts = [path.solutions for path in paths]
    for path, (solutions, loss) in zip(paths, solve(rows, paths, [INNER_C], starts, n_jobs), strict=True):
        path.learn(solutions, loss)


def solve(rows, paths, Cs, starts, n_jobs=None):
    """:class:`~isrht.boosting._small_svm.Solutions` for each path: all classes for the first C, then for the next."""
    n_problems = paths[0].n_problems
    label, C = np.tile(np.arange(n_problems), len(Cs)), np.repeat(Cs, n_problems)
    if rows.elsewhere:
        return _solve_elsewhere(rows, paths, label, C, starts, n_jobs)

    def solve_one(p):
        weights = rows.training_weights(paths[p].number)
        counted = np.flatnonzero(weights)
        columns = rows.columns_of(paths[p].number, paths[p].size)[counted]
        return SmallSVMs(columns, rows.Y[counted], weights[counted]).solve(label, C, starts[p])

    return list(in_threads(solve_one, range(len(paths)), n_jobs))


def _solve_elsewhere(rows, paths, label, C, starts, n_jobs):
    width, count = max(path.size for path in paths), len(label)
    start = np.zeros((len(paths), count, width + 1))
    for own, given in zip(start, starts, strict=True):
        own[:, : given.shape[1] - 1], own[:, -1] = given[:, :-1], given[:, -1]
    numbers = np.repeat([path.number for path in paths], count)
    problems = Problems(numbers, np.tile(label, len(paths)), np.tile(C, len(paths)))
    solved = solve_elsewhere(rows, problems, width, start.reshape(-1, width + 1), n_jobs)
    return [Solutions(*each) for each in zip(*(np.split(values, len(paths)) for values in solved), strict=True)]


def _directions(X, rows, features, paths, per_round, n_jobs):
    """Which combinations of the classes' residuals the new columns are to explain: one array per path."""
    n_problems = paths[0].n_problems
    if n_problems == 1:
        return [np.ones((1, 1))] * len(paths)
    weigh = _Residuals([path.head for path in paths])
    parts, pulls = gradients(X, rows, weigh, n_problems * len(paths), n_jobs)
    parts, pulls = np.split(parts, len(paths), axis=1), np.split(pulls, len(paths))
    return [
        path.directions(part, pull, features, per_round) for path, part, pull in zip(paths, parts, pulls, strict=True)
    ]


@dataclass(frozen=True)
class _Residuals:
    """Weights times residuals of all paths: (rows, paths times classes)."""

    heads: list

    def __call__(self, rows):
        return np.hstack([rows.training_weights(head.path)[:, None] * head.residual(rows) for head in self.heads])


@dataclass(frozen=True)
class _Sides:
    """Weights times g and times g^2, for the combinations g of residuals that the new columns are to explain."""

    heads: list
    directions: list

    def __call__(self, rows):
        pulls = [head.residual(rows) @ each for head, each in zip(self.heads, self.directions, strict=True)]
        weighted = [rows.training_weights(head.path)[:, None] * g for head, g in zip(self.heads, pulls, strict=True)]
        return np.hstack(weighted), np.hstack([wg * g for wg, g in zip(weighted, pulls, strict=True)])


@dataclass(frozen=True)
class _Writer:
    """Writes the new columns of some rows behind those that they have."""

    matrix: np.ndarray
    offsets: np.ndarray
    heads: list
    first: list
    added: list

    def __call__(self, X, rows):
        self.columns(as_float64(X) @ self.matrix - self.offsets, rows)

    def columns(self, raw, rows):
        for head, first, added in zip(self.heads, self.first, self.added, strict=True):
            for t, new in enumerate(added, start=head.size - len(added)):
                before, column = rows.columns_of(head.path, t), rows.columns[t, head.path]
                column[:] = (raw[:, first + new.source] * new.scale - before @ new.overlap) / new.remainder


def best_contrasts(signal, count):
    """The columns of H, but for column 0, along which diagonal times gradient is largest, the best first."""
    padded = np.zeros(next_power_of_two(len(signal)))
    padded[: len(signal)] = signal
    kernels.engine.transform(padded[None, :, None], 1.0)
    size = comparable(np.abs(padded))
    size[0] = -1
    count = min(count, len(size) - 1)
    if count == 0:
        return np.empty(0, dtype=np.int64)
    smallest = np.partition(size, len(size) - count)[len(size) - count]
    among = np.flatnonzero(size >= max(smallest, 0))
    return among[np.argsort(-size[among], kind="stable")][:count]
