"""How many rounds, which diagonal, which C: chosen on rows that the diagonals have not seen.

Columns that were learned with the labels of a row are too kind to that row, so cross-validating anything on them is
worthless. Every fold therefore learns its own columns from its own training rows. All numbers of rounds lie along one
path, so the whole search costs one path per candidate and fold, and they share their passes over the data.

A cell (candidate, rounds, C) scores its held-out accuracy minus a twentieth of its mean squared hinge, which decides
among cells of equal accuracy; then half of its own score and a quarter of each neighbour's in C, so that no C wins by
luck alone. A path whose best score no longer improves is not followed further, unless there are so few features that
its end is all of them. If even the best cell's held-out scores are no more correlated with the labels than chance
allows, the labels are taken for noise: one cautious round, and its own accuracy is reported, not the best of many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isrht.boosting._paths import Path, grow, solve
from isrht.boosting._places import learned_rows
from isrht.boosting._rows import Head, LearnedRows
from isrht.linear.scores import predicted_codes
from isrht.projections.feature_moments import measure_features
from isrht.rows.weights import effective_count

ROUND_GRID = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
# In units in which the mean squared row is 1.
C_GRID = tuple(4.0**exponent for exponent in range(-6, 5))
HINGE_PENALTY = 0.05
# The first points of the grid are always visited.
LEAST_POINTS = 4
# Scores that differ by less are equal: fewer rounds, then the smaller C, then the later candidate are preferred.
TIE = 1e-9
# A held-out correlation of less than this many standard errors is noise; several classes have two chances to be more.
SIGNAL = 3.0
TWO_CHANCES = 0.5
CAUTIOUS_C = 1 / 16
# Scores are constant when what remains of their sum of squares is this small a part of it.
CONSTANT = 1e-12


@dataclass(frozen=True)
class Plan:
    """What is tried: ``candidates`` for the diagonal and numbers of ``rounds``, each with ``per_round`` new columns.

    A path learns ``n_columns`` at most.
    """

    candidates: list
    rounds: list
    n_columns: int
    per_round: int


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


class Search:
    """Grow one path per candidate and fold, scoring the columns so far at every point of the grid of rounds."""

    def __init__(self, X, roles, plan, n_jobs=None):
        self.X, self.plan, self.n_jobs = X, plan, n_jobs
        self.n_folds = roles.n_folds
        folds = np.tile(np.arange(self.n_folds), len(plan.candidates))
        self.rows = rows = learned_rows(X, roles, folds, plan.n_columns)
        self.features = measure_features(X, rows, LearnedRows.all_training_weights, self.n_folds, n_jobs)
        mean_labels = [roles.mean_label(k) for k in range(self.n_folds)]
        self.paths = {
            divmod(number, self.n_folds): Path(
                number, plan.candidates[number // self.n_folds], k, self.features, mean_labels[k], plan.n_columns
            )
            for number, k in enumerate(folds)
        }
        self.few_features = np.count_nonzero(self.features.varies.any(axis=1)) <= plan.n_columns
        totals = np.array([roles.held_out_totals(k) for k in range(self.n_folds)])
        self.held_out, self.n_effective = totals[:, 0], effective_count(*totals.sum(axis=0))
        self.starts = {key: np.zeros((len(C_GRID) * roles.n_problems, 1)) for key in self.paths}
        shape = len(plan.candidates), len(plan.rounds), len(C_GRID)
        self.hits = np.full((*shape, self.n_folds), np.nan)
        self.hinge, self.evidence = self.hits.copy(), np.full(shape, np.nan)

    def run(self):
        rounds = 0
        for j, wanted in enumerate(self.plan.rounds):
            while rounds < wanted:
                grow(self.X, self.rows, self.features, self.paths.values(), self.plan.per_round, self.n_jobs)
                rounds += 1
            self._score(j)
            for i in {i for i, _ in self.paths}:
                if self._is_over(i, j):
                    for k in range(self.n_folds):
                        del self.paths[i, k]
            if not self.paths:
                break

    def _is_over(self, i, j):
        if all(path.done for (owner, _), path in self.paths.items() if owner == i):
            return True
        if self.few_features and self.plan.candidates[i].threshold == 0:
            return False
        score = self.scores()[i].max(axis=1)
        return j + 1 >= LEAST_POINTS and score[j] <= score[:j].max()

    def _score(self, j):
        keys, paths = list(self.paths), list(self.paths.values())
        solved = solve(self.rows, paths, C_GRID, [self.starts[key] for key in keys], self.n_jobs)
        self.starts.update((key, solutions.weights) for key, solutions in zip(keys, solved, strict=True))
        heads = [
            Head(path.number, path.size, solutions.weights[:, [*range(path.size), -1]], path.mean_label)
            for path, solutions in zip(paths, solved, strict=True)
        ]
        hits, hinge, sums = self.rows.sum(HeldOut(heads), self.n_jobs)
        for p, (i, k) in enumerate(keys):
            self.hits[i, j, :, k], self.hinge[i, j, :, k] = hits[p], hinge[p]
        for i in {i for i, _ in keys}:
            mine = sums[[p for p, (owner, _) in enumerate(keys) if owner == i]]
            self.evidence[i, j] = evidence(mine, self.held_out, self.n_effective)

    def scores(self):
        held_out = self.held_out.sum()
        return smoothed(self.hits.sum(axis=3) / held_out - HINGE_PENALTY * self.hinge.sum(axis=3) / held_out)

    def choice(self, may_be_noise):
        scores = self.scores()
        near = np.argwhere(scores >= np.nanmax(scores) - TIE)
        i, j, c = min(map(tuple, near), key=lambda cell: (cell[1], cell[2], -cell[0]))
        has_signal = bool(self.evidence[i, j, c] >= SIGNAL)
        if may_be_noise and not has_signal:
            i, j, c = len(self.plan.candidates) - 1, 0, C_GRID.index(CAUTIOUS_C)
        fold_scores = self.hits[i, j, c] / self.held_out
        accuracy = float(self.hits[i, j, c].sum() / self.held_out.sum())
        return Choice(
            self.plan.candidates[i], self.plan.rounds[j], C_GRID[c], has_signal, fold_scores, scores, accuracy
        )


@dataclass(frozen=True)
class HeldOut:
    """What the held-out rows among some rows say of the SVMs of each path, one for every C.

    Weighted hits and mean squared hinges (paths, Cs), and the weighted sums that the correlation of scores and labels
    is made of (paths, 4, Cs, problems): of scores, their squares, scores times labels, and labels.
    """

    heads: list

    def __call__(self, rows):
        parts = [self._of_path(rows, head) for head in self.heads]
        return tuple(np.stack(values) for values in zip(*parts, strict=True))

    def _of_path(self, rows, head):
        weights = rows.held_out_weights(head.path)
        chosen = np.flatnonzero(weights)
        rows, weights = rows[chosen], weights[chosen]
        scores = head.scores(rows).reshape(len(chosen), len(C_GRID), rows.Y.shape[1])
        Y = rows.Y[:, None]
        hits = weights @ (predicted_codes(scores) == rows.roles.codes[:, None])
        hinge = weights @ (np.maximum(0, 1 - Y * scores) ** 2).mean(axis=2)
        terms = scores, scores**2, scores * Y, np.broadcast_to(Y, scores.shape)
        return hits, hinge, np.stack([np.tensordot(weights, term, 1) for term in terms])


def smoothed(scores):
    """Half of a score and a quarter of each of its two neighbours along the last axis; an end has itself for one."""
    padded = np.concatenate([scores[..., :1], scores, scores[..., -1:]], axis=-1)
    return (padded[..., :-2] + 2 * scores + padded[..., 2:]) / 4


def evidence(sums, totals, n_effective):
    """By how many standard errors scores and labels +1/-1 of held-out rows are correlated: (Cs,).

    ``sums`` (folds, 4, Cs, problems) are those of :class:`HeldOut`, ``totals`` the weight of the rows in each fold, and
    ``n_effective`` is how many rows of equal weight would say as much as all of them.
    Scores and labels are centred in each fold and then taken together, for a fold may have very few rows.

    Of several classes, either all speak together or one speaks for itself. Correlations with each of them add up to a
    number with a standard error of classes / sqrt(classes - 1), where scores and labels of all classes add up to a
    constant, which is about so; the best of them is beyond zero by sqrt(2 log classes) by luck alone.
    """
    score, score_squared, score_label, label = np.moveaxis(sums, 1, 0)
    totals = totals[:, None, None]
    spread = score_squared - score**2 / totals
    spread[spread <= CONSTANT * score_squared] = 0
    size = np.sqrt(spread.sum(axis=0) * (totals - label**2 / totals).sum(axis=0))
    covariance = (score_label - score * label / totals).sum(axis=0)
    errors = np.sqrt(n_effective) * np.where(size > 0, covariance / np.where(size > 0, size, 1), 0)
    n_classes = errors.shape[-1]
    if n_classes == 1:
        return errors[:, 0]
    together = errors.sum(axis=-1) * np.sqrt(n_classes - 1) / n_classes
    return np.maximum(together - TWO_CHANCES, errors.max(axis=-1) - np.sqrt(2 * np.log(n_classes)))
