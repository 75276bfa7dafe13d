"""How many rounds, which diagonal, which C: chosen on rows that the diagonals have not seen.

Columns that were learned with the labels of a row are too kind to that row, so cross-validating anything on them is
worthless. Every fold therefore learns its own columns from its own training rows. All numbers of rounds lie along one
path, so the whole search costs one path per candidate and fold, and they share their passes over the data.

A cell (candidate, rounds, C) scores its held-out accuracy minus a twentieth of its mean squared hinge, which decides
among cells of equal accuracy. A path whose best score no longer improves is not followed further. If even the best
cell's held-out scores are no more correlated with the labels than chance allows, the labels are taken for noise: one
cautious round, and its own accuracy is reported, not the best of many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isrht.learned_columns import Path, grow, in_threads, measure_features

ROUND_GRID = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
# In units in which the mean squared row is 1.
C_GRID = tuple(4.0**exponent for exponent in range(-4, 5))
HINGE_PENALTY = 0.05
# The first points of the grid are always visited.
LEAST_POINTS = 4
# Scores that differ by less are equal: fewer rounds, then the smaller C, then the later candidate are preferred.
TIE = 1e-9
# A held-out correlation of less than this many standard errors is noise.
SIGNAL = 3.0
CAUTIOUS_C = 1 / 16
# Fifths are held out in turn until this many rows have been; more rows than that need one.
HELD_OUT_FOLDS = 5
ENOUGH_ROWS = 12_500


@dataclass(frozen=True)
class Choice:
    """What was chosen. ``fold_scores`` are its held-out accuracies; ``scores`` (candidate, rounds, C) has NaN where
    the search did not go."""

    candidate: tuple
    rounds: int
    C: float
    has_signal: bool
    fold_scores: np.ndarray
    scores: np.ndarray
    accuracy: float


def held_out_fifths(codes, rng):
    """Stratified fifths, as many of them as are worth holding out: a list of (train, test)."""
    fifth = np.empty(len(codes), dtype=np.int64)
    for label in np.unique(codes):
        members = np.flatnonzero(codes == label)
        fifth[rng.permutation(members)] = np.arange(len(members)) % HELD_OUT_FOLDS
    n_folds = min(HELD_OUT_FOLDS, max(1, -(-ENOUGH_ROWS // len(codes))))
    return [(np.flatnonzero(fifth != k), np.flatnonzero(fifth == k)) for k in range(n_folds)]


def fold_weights(splits, weights):
    """Row weights of training and of held-out rows: two arrays (n_samples, n_folds), folds without either left out."""
    parts = [[np.bincount(rows, minlength=len(weights)) * weights for rows in split] for split in splits]
    usable = [part for part in parts if part[0].any() and part[1].any()]
    return tuple(np.stack(side, axis=1) for side in zip(*usable, strict=True)) if usable else None


class Search:
    """Grow one path per candidate and fold, scoring the columns so far at every point of the grid of rounds."""

    def __init__(self, X, Y, codes, train, test, candidates, grid, n_columns, per_round, n_jobs):
        self.X, self.Y, self.codes, self.train, self.test = X, Y, codes, train, test
        self.candidates, self.grid, self.per_round, self.n_jobs = candidates, grid, per_round, n_jobs
        self.features = measure_features(X, train, n_jobs)
        self.paths = {
            (i, k): Path(candidate, k, self.features, Y, train[:, k], n_columns)
            for i, candidate in enumerate(candidates)
            for k in range(train.shape[1])
        }
        self.solutions = {}
        shape = len(candidates), len(grid), len(C_GRID)
        self.hits = np.full((*shape, train.shape[1]), np.nan)
        self.hinge, self.correlation = self.hits.copy(), self.hits.copy()

    def run(self):
        rounds = 0
        for j, wanted in enumerate(self.grid):
            while rounds < wanted:
                grow(self.X, self.features, self.paths.values(), self.per_round, self.n_jobs)
                rounds += 1
            for _ in in_threads(lambda key, j=j: self._score(*key, j), list(self.paths), self.n_jobs):
                pass
            for i in {i for i, _ in self.paths}:
                if self._is_over(i, j):
                    for k in range(self.train.shape[1]):
                        del self.paths[i, k]
            if not self.paths:
                break

    def _is_over(self, i, j):
        if all(path.done for (owner, _), path in self.paths.items() if owner == i):
            return True
        score = self.scores()[i].max(axis=1)
        return j + 1 >= LEAST_POINTS and score[j] <= score[:j].max()

    def _score(self, i, k, j):
        path = self.paths[i, k]
        test = np.flatnonzero(self.test[:, k])
        held_out, weights = path.columns[test, : path.size], self.test[test, k]
        n_problems = self.Y.shape[1]
        label, C = np.tile(np.arange(n_problems), len(C_GRID)), np.repeat(C_GRID, n_problems)
        start = self.solutions.get((i, k), np.zeros((len(C), 1)))
        solutions = self.solutions[i, k] = path.small_svms().solve(label, C, start)
        for c, solution in enumerate(np.split(solutions, len(C_GRID))):
            scores = held_out @ solution[:, :-1].T + solution[:, -1]
            cell = i, j, c, k
            self.hits[cell] = weights @ (predicted(scores) == self.codes[test])
            self.hinge[cell] = weights @ (np.maximum(0, 1 - self.Y[test] * scores) ** 2).mean(axis=1)
            self.correlation[cell] = correlation(scores, self.Y[test], weights)

    def scores(self):
        held_out = self.test.sum()
        return self.hits.sum(axis=3) / held_out - HINGE_PENALTY * self.hinge.sum(axis=3) / held_out

    def choice(self, may_be_noise):
        scores = self.scores()
        near = np.argwhere(scores >= np.nanmax(scores) - TIE)
        i, j, c = min(map(tuple, near), key=lambda cell: (cell[1], cell[2], -cell[0]))
        n_problems, n_folds = self.Y.shape[1], self.test.shape[1]
        evidence = self.correlation[i, j, c] @ np.sqrt(self.test.sum(axis=0) / n_folds)
        luck = np.sqrt(2 * np.log(n_problems)) if n_problems > 1 else 0
        has_signal = bool(evidence >= SIGNAL + luck)
        if may_be_noise and not has_signal:
            i, j, c = len(self.candidates) - 1, 0, C_GRID.index(CAUTIOUS_C)
        fold_scores = self.hits[i, j, c] / self.test.sum(axis=0)
        accuracy = float(self.hits[i, j, c].sum() / self.test.sum())
        return Choice(self.candidates[i], self.grid[j], C_GRID[c], has_signal, fold_scores, scores, accuracy)


def predicted(scores):
    """Class numbers: the sign of the only score, or the largest of several."""
    return (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)


def correlation(scores, Y, weights):
    """The largest weighted correlation of a column of scores with its labels; 0 for constants."""
    scores, Y = scores - weights @ scores / weights.sum(), Y - weights @ Y / weights.sum()
    size = np.sqrt((weights @ scores**2) * (weights @ Y**2))
    return np.max(np.where(size > 0, weights @ (scores * Y) / np.where(size > 0, size, 1), 0))
