"""The twins of the kernels that train small SVMs (``core/boosting/solve_small_svms.hpp``)."""

from __future__ import annotations

import numpy as np

from isrht.kernels._reference.sums import PIECE, add_in_turn, sum_in_eighths, sum_in_turn

MOST_STEPS = 60
# A step that promises less than this part of the objective is rounding, and so is a rise by less than this part.
SMALLEST_DECREASE = 1e-15
ROUNDING = 1e-15
SHORTEST_STEP = 1e-10
SUFFICIENT = 1e-4
# Rows are filled up to a multiple of this, with rows of weight zero.
BLOCK = 32


def solve_svms(rows, problems, weights, loss):
    """Train squared-hinge SVMs from where ``weights`` (problems, width) stand, intercepts last, to the optimum.

    The objective is ``|w|^2 / 2 + cost * loss``, where ``loss`` (problems) is set to the weighted sum of the squared
    hinge. Newton steps are halved until the objective falls. A problem is done when a full step changes only a part
    ``tolerance`` of the rows within the margin, or when a step promises nothing. Unless that part is 0, all problems
    share the Gram matrix of all rows, times the share of those within the margin.
    """
    _check(rows, problems, weights, loss)
    newton = _Newton(_Counted(rows), problems, weights)
    newton.solve()
    weights[...], loss[...] = newton.weights, newton.loss


def sum_svms(rows, problems, weights, before, sums):
    """Set sums over some rows at these weights; ``before`` (empty, or as weights) is where the Gram matrices were."""
    _check(rows, problems, weights, sums.loss)
    counted = _Counted(rows)
    for p, positive in enumerate(problems.positive):
        sums.loss[p], sums.pull[p], active = counted.hinge_sums(positive, weights[p])
        was = counted.hinge_sums(positive, before[p])[2] if before.size else np.zeros_like(active)
        sums.gram[p] = counted.gram_with(np.zeros(sums.gram.shape[1:]), was, active)
        sums.changed[p] = np.count_nonzero(was != active)


def judge_svms(rows, weights, judged):
    """Set what rows say of models at ``weights`` (problems, width): each has as many problems, one after another.

    The class with the largest score is guessed, among equals the first one. Of two classes the second is if its score,
    the only one, is positive.
    """
    _check_rows(rows)
    if weights.shape[1] != len(rows.columns) + 1:
        raise ValueError("weights has the wrong shape")
    n_models = len(judged.hits)
    if n_models == 0 or len(weights) == 0 or len(weights) % n_models:
        raise ValueError("every model must have as many problems")
    if judged.sums.shape != (5, len(weights)):
        raise ValueError("an output has the wrong shape")
    counted, n_labels = _Counted(rows), len(weights) // n_models
    for c, own in enumerate(weights.reshape(n_models, n_labels, -1)):
        scores = np.stack([counted.scores(w) for w in own])
        guess = (scores[0] > 0).astype(int) if n_labels == 1 else scores.argmax(axis=0)
        judged.hits[c] = sum_in_eighths(np.where(guess == counted.codes, counted.weights, 0.0))
        for label, score in enumerate(scores):
            positive = 1 if n_labels == 1 else label
            judged.sums[:, c * n_labels + label] = counted.sums_of_scores(score, positive)


def _check_rows(rows):
    if rows.weights.shape != rows.columns.shape[1:] or rows.codes.shape != rows.columns.shape[1:]:
        raise ValueError("columns, weights and codes differ in length")


def _check(rows, problems, weights, loss):
    _check_rows(rows)
    if problems.positive.shape != problems.cost.shape:
        raise ValueError("the problems differ in number")
    if weights.shape != (len(problems.cost), len(rows.columns) + 1):
        raise ValueError("weights has the wrong shape")
    if loss.shape != problems.cost.shape:
        raise ValueError("loss has the wrong shape")


class _Counted:
    """The rows whose weight is not zero, with a last column of ones, filled up with rows of weight zero."""

    def __init__(self, rows):
        counted = np.flatnonzero(rows.weights)
        self.count, size = len(counted), -(-len(counted) // BLOCK) * BLOCK
        self.columns, self.weights, self.codes = np.zeros((len(rows.columns) + 1, size)), np.zeros(size), np.zeros(size)
        self.columns[:-1, : len(counted)], self.columns[-1, : len(counted)] = rows.columns[:, counted], 1
        self.weights[: len(counted)], self.codes[: len(counted)] = rows.weights[counted], rows.codes[counted]

    def scores(self, w):
        """Return the scores of the rows: one column after another is added."""
        scores = np.zeros(self.columns.shape[1])
        for weight, column in zip(w, self.columns, strict=True):
            scores += weight * column
        return scores

    def sums_of_scores(self, scores, positive):
        """Return weighted sums of scores, their squares, scores times labels, labels, and the squared hinge."""
        label = np.where(self.codes == positive, 1.0, -1.0)
        weighted, hinge = self.weights * scores, np.maximum(0.0, 1 - label * scores)
        terms = weighted, weighted * scores, weighted * label, self.weights * label, hinge * (hinge * self.weights)
        return [float(sum_in_eighths(each)) for each in terms]

    def hinge_sums(self, positive, w):
        """Return the loss and the pull of one problem, and which rows are active."""
        label = np.where(self.codes == positive, 1.0, -1.0)
        hinge = np.maximum(0.0, 1 - label * self.scores(w))
        weighted = hinge * self.weights
        pull = label * weighted
        pulls = [float(sum_in_eighths(pull * column)) for column in self.columns]
        return float(sum_in_eighths(hinge * weighted)), pulls, weighted > 0

    def gram_with(self, gram, before, active):
        """Return the Gram matrix that follows from one of the rows ``before``, row after row, symmetric."""
        changed = np.flatnonzero(before != active)
        factors = np.where(active[changed], self.weights[changed], -self.weights[changed])
        total, step = gram.copy(), max(1, PIECE // gram.size)
        for first in range(0, len(changed), step):
            some = slice(first, first + step)
            values = self.columns[:, changed[some]].T
            products = (factors[some, None] * values)[:, :, None] * values[:, None, :]
            add_in_turn(total, products)
        lower = np.tril(total)
        return lower + np.tril(total, -1).T


class _Newton:
    """The iterates of some problems."""

    def __init__(self, rows, problems, start):
        self.rows, self.problems = rows, problems
        self.weights, self.loss = start.copy(), np.zeros(len(start))
        self.pull, self.gram = np.zeros(start.shape), np.zeros((*start.shape, start.shape[1]))
        self.active = np.zeros((len(start), len(rows.weights)), dtype=bool)
        self.of_gram = self.active.copy()

    def solve(self):
        for p in range(len(self.weights)):
            self.loss[p], self.pull[p], self.active[p] = self._sums(p, self.weights[p])
        if self.problems.tolerance > 0:
            self.gram[:] = self.rows.gram_with(
                self.gram[0], self.of_gram[0], np.ones(len(self.rows.weights), dtype=bool)
            )
        for p in range(len(self.weights) if self.problems.tolerance == 0 else 0):
            if p >= self.problems.labels:
                neighbour = p - self.problems.labels
                self.gram[p], self.of_gram[p] = self.gram[neighbour], self.active[neighbour]
            self._follow_gram(p)
        for p in range(len(self.weights)):
            for _ in range(MOST_STEPS):
                if not self._step(p):
                    break
                if self.problems.tolerance == 0:
                    self._follow_gram(p)

    def _sums(self, p, w):
        return self.rows.hinge_sums(self.problems.positive[p], w)

    def _follow_gram(self, p):
        before, active = self.of_gram[p], self.active[p]
        if np.count_nonzero(before != active) > np.count_nonzero(active):
            self.gram[p], before = 0, np.zeros_like(before)
        self.gram[p] = self.rows.gram_with(self.gram[p], before, active)
        self.of_gram[p] = active

    def _objective(self, p, w, loss):
        return 0.5 * sum_in_turn(w * w) + self.problems.cost[p] * loss

    def _shared_factor(self, p):
        """Return what the Gram matrix of all rows is multiplied by, rounded up so that many problems share it."""
        share = np.count_nonzero(self.active[p]) / self.rows.count if self.rows.count else 0.0
        part, exponent = np.frexp(2 * self.problems.cost[p] * share)
        return np.ldexp(0.75 if part <= 0.75 else 1.0, exponent) if part else 0.0

    def _step(self, p):
        """Take a Newton step. Return whether there may be more to gain."""
        twice = 2 * self.problems.cost[p]
        gradient = self.weights[p] - twice * self.pull[p]
        factor = self._shared_factor(p) if self.problems.tolerance > 0 else twice
        step = _solved(factor * self.gram[p] + np.diag(np.ones(len(gradient))), gradient)
        promise = sum_in_turn(gradient * step)
        before = self._objective(p, self.weights[p], self.loss[p])
        length = 1.0
        if not promise > SMALLEST_DECREASE * before:
            return False
        while length > SHORTEST_STEP:
            trial = self.weights[p] - length * step
            loss, pull, active = self._sums(p, trial)
            if self._objective(p, trial, loss) <= (1 + ROUNDING) * before - SUFFICIENT * length * promise:
                changed = np.count_nonzero(active != self.active[p])
                unsolved = length < 1 or changed > self.problems.tolerance * np.count_nonzero(active)
                self.weights[p], self.loss[p], self.pull[p], self.active[p] = trial, loss, pull, active
                return unsolved
            length /= 2
        return False


def _solved(matrix, side):
    """Return the solution of a positive definite system, by Cholesky's method, column after column."""
    factor, side = matrix.copy(), side.copy()
    for k in range(len(side)):
        factor[k, k] = np.sqrt(factor[k, k])
        factor[k + 1 :, k] /= factor[k, k]
        column = factor[k + 1 :, k]
        factor[k + 1 :, k + 1 :] -= column[:, None] * column
    for k in range(len(side)):
        side[k] /= factor[k, k]
        side[k + 1 :] -= side[k] * factor[k + 1 :, k]
    for k in reversed(range(len(side))):
        side[k] /= factor[k, k]
        side[:k] -= side[k] * factor[k, :k]
    return side
