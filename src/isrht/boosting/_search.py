"""How many rounds, which diagonal, which C: chosen on rows that the diagonals have not seen.

Columns that were learned with the labels of some rows look too good on these rows, so cross-validating anything on them
is worthless. Every fold therefore learns its own columns from its own training rows. All numbers of rounds lie along
one path, so the whole search costs one path per candidate and fold, and they share their passes over the data.

A cell is a candidate, a number of rounds and a C. Its score is its held-out accuracy, or whatever else is asked for
(:mod:`isrht.boosting._measures`), minus a twentieth of its mean squared hinge, which decides among cells of equal
accuracy. Half of this and a quarter of the score of each neighbour in C are added up, so that no C wins by luck
alone. After the first round all Cs are tried, later those around the best one so far, and further ones as long as
they are better. A path whose best score no longer improves is not followed further, nor one that is clearly behind
the best, unless there are so few features that its end is all of them. If even the held-out scores of the best cell
are no more correlated with the labels than chance allows, the labels are taken for noise. Then there is one cautious
round, and its own accuracy is reported, not the best of many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isrht.boosting._calibration import calibrated_on_paths
from isrht.boosting._cut import best_cut
from isrht.boosting._held_out import HeldOut, evidence
from isrht.boosting._path import Assignment, Path
from isrht.boosting._places import learned_rows
from isrht.boosting._plan import C_GRID
from isrht.boosting._rounds import grow
from isrht.boosting._rows import LearnedRows
from isrht.boosting._small_svm import widened
from isrht.boosting._training import solve
from isrht.projections.feature_moments import measure_features
from isrht.rows.weights import effective_count
from isrht.support.progress import step

HINGE_PENALTY = 0.05
# The first points of the grid are always visited.
LEAST_POINTS = 4
# Scores that differ by less are equal: fewer rounds, then the smaller C, then the later candidate are preferred.
TIE = 1e-9
# A held-out correlation of less than this many standard errors is noise.
SIGNAL = 3.0
CAUTIOUS_C = 1 / 16
# The score of a cell of which no fold could say how good it is, as a fold cannot that lacks a class.
WORST = -1e9
# So many Cs on either side of the best one are tried after the next round.
AROUND = 2
# A candidate is clearly behind if it lacks so many standard errors, and so many times what it has just gained.
FAR_BEHIND = 2.0


@dataclass(frozen=True)
class Choice:
    """What was chosen.

    Parameters
    ----------
    candidate : Candidate
    rounds : int
    C : float
    has_signal : bool
        Whether the scores of held-out rows are more correlated with the labels than chance allows.
    fold_scores : array of shape (n_folds,)
        The accuracy, or what else was maximised, on the rows that each fold holds out.
    scores : array of shape (n_candidates, n_rounds, n_Cs)
        The scores of all cells, NaN where the search did not go.
    accuracy : float
        The accuracy on the held-out rows of all folds, or the mean over folds of what else was maximised.
    cell : tuple or None, default=None
        Its numbers in ``scores``; None where there was no search.
    """

    candidate: tuple
    rounds: int
    C: float
    has_signal: bool
    fold_scores: np.ndarray
    scores: np.ndarray
    accuracy: float
    cell: tuple | None = None


class PathPart(NamedTuple):
    """The first columns of a path, on which SVMs are to be trained."""

    number: int
    size: int
    n_problems: int


class Search:
    """Grow one path per candidate and fold, and score the columns so far at every number of rounds that is tried.

    Parameters
    ----------
    X : rows
    roles : Roles
    plan : Plan
    n_jobs : int or None, default=None
    """

    def __init__(self, X, roles, plan, n_jobs=None):
        self.X, self.plan, self.n_jobs = X, plan, n_jobs
        self.n_folds = roles.n_folds
        folds = np.tile(np.arange(self.n_folds), len(plan.candidates))
        self.rows = rows = learned_rows(X, roles, folds, plan.n_columns)
        self.features = measure_features(X, rows, LearnedRows.all_training_weights, self.n_folds, n_jobs)
        mean_labels = [roles.mean_label(k) for k in range(self.n_folds)]
        self.paths = {}
        for number, k in enumerate(folds):
            i = number // self.n_folds
            assignment = Assignment(number, plan.candidates[i], k, mean_labels[k])
            self.paths[i, k] = Path(assignment, self.features, plan.n_columns)
        self.few_features = np.count_nonzero(self.features.varies.any(axis=1)) <= plan.n_columns
        totals = np.array([roles.held_out_totals(k) for k in range(self.n_folds)])
        self.held_out, self.n_effective = totals[:, 0], effective_count(*totals.sum(axis=0))
        self.starts = {key: np.zeros((len(C_GRID), roles.n_problems, 1)) for key in self.paths}
        shape = len(plan.candidates), len(plan.rounds), len(C_GRID)
        self.hits = np.full((*shape, self.n_folds), np.nan)
        self.hinge, self.evidence = self.hits.copy(), np.full(shape, np.nan)
        # What is maximised: accuracy if it is None, else a function of the heads of a cell (isrht.boosting._measures).
        self.measure, self.merits = None, self.hits.copy()
        self.heads = {}

    def run(self):
        """Grow the paths through all rounds, and leave those of a candidate that no longer improves."""
        rounds = 0
        for j, wanted in enumerate(self.plan.rounds):
            while rounds < wanted:
                grow(self.X, self.rows, self.features, self.paths.values(), self.plan.per_round, self.n_jobs)
                rounds += 1
                step("round of the search", rounds, self.plan.rounds[-1])
            self._score(j)
            for i in {i for i, _ in self.paths}:
                if self._is_over(i, j):
                    for k in range(self.n_folds):
                        del self.paths[i, k]
            if not self.paths:
                break

    def _is_over(self, i, j):
        """Say whether candidate i has nothing to gain from more rounds than ``plan.rounds[j]``."""
        if all(path.done for (owner, _), path in self.paths.items() if owner == i):
            return True
        if self.few_features and self.plan.candidates[i].threshold == 0:
            return False
        score = best_scores(self.scores())[:, : j + 1]
        no_longer_improves = score[i, j] <= score[i, :j].max(initial=-np.inf)
        return j + 1 >= LEAST_POINTS and bool(no_longer_improves or self._is_far_behind(score, i))

    def _is_far_behind(self, score, i):
        """Say whether candidate i is clearly behind the best one, by the best scores of all at each point so far."""
        best, gain = score.max(), score[i, -1] - score[i, -2]
        error = np.sqrt(max(1 - best, 1 / self.n_effective) / self.n_effective)
        return best - score[i].max() > FAR_BEHIND * (error + max(gain, 0))

    def _score(self, j):
        """Train SVMs on the columns so far for some Cs, score them on the held-out rows, and walk on to better Cs."""
        wanted = {i: self._first_Cs(i, j) for i in sorted({i for i, _ in self.paths})}
        while wanted:
            self._try(j, wanted)
            wanted = {i: further for i in wanted if len(further := self._further_Cs(i, j))}

    def _first_Cs(self, i, j):
        """Return the numbers of the Cs to begin with: all of them, or those around the best one of the point before."""
        if j == 0:
            return np.arange(len(C_GRID))
        best = np.nanargmax(self.scores()[i, j - 1])
        return np.arange(max(best - AROUND, 0), min(best + AROUND + 1, len(C_GRID)))

    def _further_Cs(self, i, j):
        """Return the next C beyond those that were tried, if the best one is so near that it may not be the best."""
        tried = np.flatnonzero(~np.isnan(self.hits[i, j, :, 0]))
        best, further = np.nanargmax(self.scores()[i, j]), []
        if 0 < tried[0] == best - 1:
            further.append(tried[0] - 1)
        if best + 1 == tried[-1] < len(C_GRID) - 1:
            further.append(tried[-1] + 1)
        return np.array(further, dtype=np.int64)

    def _try(self, j, wanted):
        """Train and score the SVMs of some candidates: ``wanted`` are the numbers of their Cs."""
        keys = [key for key in self.paths if key[0] in wanted]
        paths, Cs = [self.paths[key] for key in keys], [wanted[i] for i, _ in keys]
        starts = [self._start(key, j, wanted[key[0]]) for key in keys]
        solved = solve(self.rows, paths, [np.array(C_GRID)[some] for some in Cs], starts, self.n_jobs)
        for key, solutions in zip(keys, solved, strict=True):
            self._keep_start(key, wanted[key[0]], solutions.weights)
        heads = [path.head_with(solutions.weights) for path, solutions in zip(paths, solved, strict=True)]
        for (i, k), head in zip(keys, heads, strict=True):
            self._keep_heads((i, j, k), wanted[i], head)
        found = dict(zip(keys, self.rows.sum(HeldOut(heads), self.n_jobs), strict=True))
        for (i, k), (hits, hinge, _) in found.items():
            self.hits[i, j, wanted[i], k], self.hinge[i, j, wanted[i], k] = hits, hinge
        if self.measure is not None:
            for i, some in wanted.items():
                for c in some:
                    self.merits[i, j, c] = self.measure([self._head_of((i, j, c), k) for k in range(self.n_folds)])
        for i, some in wanted.items():
            sums = np.stack([sums for (owner, _), (_, _, sums) in found.items() if owner == i])
            self.evidence[i, j, some] = evidence(sums, self.held_out, self.n_effective)

    def _keep_heads(self, place, Cs, head):
        """Keep where the small SVM of each C is, for whoever asks for the scores of held-out rows again."""
        each = head.solutions.reshape(len(Cs), -1, head.size + 1)
        self.heads.update(((*place, c), (head, own)) for c, own in zip(Cs, each, strict=True))

    def _start(self, key, j, Cs):
        """Return where the SVMs of a path begin for some Cs: from where they were, or from those of a neighbour.

        A C that is tried because its neighbour was good begins with the weights of that neighbour.
        """
        tried = np.flatnonzero(~np.isnan(self.hits[key[0], j, :, key[1]]))
        if len(tried):
            Cs = tried[np.abs(tried - Cs[:, None]).argmin(axis=1)]
        weights = self.starts[key]
        return weights[Cs].reshape(-1, weights.shape[2])

    def _keep_start(self, key, Cs, weights):
        """Keep the weights of a path's SVMs, for the next time."""
        before = self.starts[key]
        wide = widened(before.reshape(-1, before.shape[2]), weights.shape[1])
        self.starts[key] = wide.reshape(*before.shape[:2], -1)
        self.starts[key][Cs] = weights.reshape(len(Cs), *self.starts[key].shape[1:])

    def scores(self):
        """Return the scores of all cells: an array (candidates, rounds, Cs)."""
        hinge = self.hinge.sum(axis=3) / self.held_out.sum()
        return smoothed(self._merit() - HINGE_PENALTY * hinge)

    def _merit(self):
        """Return the accuracy of all cells, or the mean over folds of whatever else is maximised."""
        if self.measure is None:
            return self.hits.sum(axis=3) / self.held_out.sum()
        told = ~np.isnan(self.merits)
        mean = np.where(told, self.merits, 0).sum(axis=3) / np.maximum(told.sum(axis=3), 1)
        # A score that no fold could tell is the worst; a cell that was not tried has none.
        return np.where(np.isnan(self.hits).all(axis=3), np.nan, np.where(told.any(axis=3), mean, WORST))

    def choice(self, may_be_noise):
        """Return the :class:`Choice` of the best cell, or of the cautious one if the labels look like noise."""
        scores = self.scores()
        near = np.argwhere(scores >= np.nanmax(scores) - TIE)
        i, j, c = min(map(tuple, near), key=lambda cell: (cell[1], cell[2], -cell[0]))
        has_signal = bool(self.evidence[i, j, c] >= SIGNAL)
        if may_be_noise and not has_signal:
            i, j, c = len(self.plan.candidates) - 1, 0, C_GRID.index(CAUTIOUS_C)
        fold_scores = self.hits[i, j, c] / self.held_out if self.measure is None else self.merits[i, j, c]
        accuracy = float(self._merit()[i, j, c])
        candidate, rounds = self.plan.candidates[i], self.plan.rounds[j]
        return Choice(candidate, rounds, C_GRID[c], has_signal, fold_scores, scores, accuracy, (i, j, c))

    def _head_of(self, cell, fold):
        """Return the path of a cell in a fold, and the small SVM on it for the C of the cell alone."""
        i, j, c = cell
        head, own = self.heads[i, j, fold, c]
        return head._replace(solutions=own)

    def chosen_heads(self, choice, C_factor):
        """Return for each fold the path of what was chosen and the small SVM on it, for a multiple of the chosen C."""
        heads = [self._head_of(choice.cell, k) for k in range(self.n_folds)]
        if C_factor == 1:
            return heads
        parts = [PathPart(head.path, head.size, len(head.solutions)) for head in heads]
        starts = [head.solutions for head in heads]
        Cs = [np.array([C_factor * choice.C])] * len(parts)
        solved = solve(self.rows, parts, Cs, starts, self.n_jobs)
        return [
            head._replace(solutions=solutions.weights[:, [*range(head.size), -1]])
            for head, solutions in zip(heads, solved, strict=True)
        ]

    def calibration(self, choice, wish):
        """Return the calibration by the held-out rows of what was chosen, for the C that is wished for."""
        return calibrated_on_paths(self.rows, self.chosen_heads(choice, wish.C_factor), wish, self.n_jobs)

    def cut(self, choice, wish, calibration):
        """Return the best :class:`~isrht.boosting._cut.Cut` of two classes, or None where accuracy is maximised."""
        heads = self.chosen_heads(choice, wish.C_factor)
        if self.measure is None or len(heads[0].solutions) > 1 or not choice.has_signal:
            return None

        def judged(cut):
            return self.measure([head.moved(cut) for head in heads])

        return best_cut(judged, calibration)

    def fold_scores(self, choice, wish):
        """Return the scores of all rows under the model of each fold, an array (folds, rows, problems), in memory."""
        return np.stack([head.scores(self.rows) for head in self.chosen_heads(choice, wish.C_factor)])


def best_scores(scores):
    """Return the best score of every candidate after every number of rounds, -inf where the search did not go."""
    return np.fmax.reduce(scores, axis=2, initial=-np.inf)


def smoothed(scores):
    """Return half of each score plus a quarter of each of its neighbours along the last axis.

    The first and the last score, which lack a neighbour, are their own.
    """
    padded = np.concatenate([scores[..., :1], scores, scores[..., -1:]], axis=-1)
    return (padded[..., :-2] + 2 * scores + padded[..., 2:]) / 4
