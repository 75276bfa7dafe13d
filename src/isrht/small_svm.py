"""Squared-hinge SVMs on a handful of columns, many at once, solved again and again from where they last stood.

Boosting trains the same tiny problems after every round, for every class and for every C. The objective

    0.5 * |w|^2 + 0.5 * C * b^2 + C * sum_i s_i * max(0, 1 - y_i (w.z_i + b))^2

is that of :class:`~isrht.svm.LinearSVM` with C = 1 on columns times sqrt(C), so what is chosen here is what a user
trains there. It is piecewise quadratic: once a full Newton step leaves the set of active rows as it was, the step
ended exactly at the optimum. Only rows that enter or leave that set change the Gram matrix.

:mod:`isrht.newton` solves one wide problem in few passes over many blocks; here there are thousands of narrow ones,
and what counts is how little Python each of them costs.
"""

from __future__ import annotations

import numpy as np

MAX_STEPS = 60
# A step that promises less than this part of the objective is rounding.
SMALLEST_DECREASE = 1e-15
SHORTEST_STEP = 1e-10
# Scores held at once: problems times rows.
SCORES_AT_ONCE = 2**22
# Problems times rows times columns up to which all Gram matrices are summed at once, from nothing.
GRAMS_AT_ONCE = 2**18


class SmallSVMs:
    """Two-class problems on the same columns Z and row weights, with labels +1/-1 in the columns of Y."""

    def __init__(self, Z, Y, weights):
        self.Z = np.column_stack([Z, np.ones(len(Z))])
        self.Y = Y
        self.weights = weights

    def solve(self, label, C, start):
        """Weights (problems, columns + 1), intercepts last, for labels ``Y[:, label]`` and costs ``C``.

        ``start`` has a row per problem and may lack the last columns.
        """
        at_once = max(1, SCORES_AT_ONCE // len(self.Z))
        parts = [slice(first, first + at_once) for first in range(0, len(label), at_once)]
        return np.concatenate([_Batch(self, label[part], C[part], start[part]).solve() for part in parts])


class _Batch:
    """The iterates of some problems."""

    def __init__(self, svms, label, C, start):
        self.Z, self.weights = svms.Z, svms.weights
        self.y, self.C = np.ascontiguousarray(svms.Y.T[label]), C[:, None]
        width = self.Z.shape[1]
        self.ridge = np.ones((len(C), width))
        self.ridge[:, -1] = C
        self.w = np.zeros((len(C), width))
        self.w[:, : start.shape[1] - 1], self.w[:, -1] = start[:, :-1], start[:, -1]
        self.active = np.zeros(self.y.shape, dtype=bool)
        self.gram = np.zeros((len(C), width, width))
        self.hinge, self.objective = self._evaluate(np.arange(len(C)), self.w)

    def solve(self):
        going = np.arange(len(self.w))
        for _ in range(MAX_STEPS):
            self._activate(going, self.hinge[going] > 0)
            step, promise = self._steps(going)
            moving = promise > SMALLEST_DECREASE * self.objective[going]
            going, step, promise = going[moving], step[moving], promise[moving]
            if len(going) == 0:
                break
            going = going[self._move(going, step, promise)]
        return self.w

    def _evaluate(self, chosen, w):
        hinge = np.maximum(0, 1 - self.y[chosen] * (w @ self.Z.T))
        loss = np.einsum("bi,bi,i->b", hinge, hinge, self.weights)
        return hinge, 0.5 * np.einsum("bj,bj,bj->b", self.ridge[chosen], w, w) + self.C[chosen, 0] * loss

    def _steps(self, chosen):
        C, ridge = self.C[chosen], self.ridge[chosen]
        pull = self.y[chosen] * self.hinge[chosen] * self.weights
        gradient = ridge * self.w[chosen] - 2 * C * (pull @ self.Z)
        hessian = 2 * C[:, :, None] * self.gram[chosen]
        diagonal = np.arange(hessian.shape[1])
        hessian[:, diagonal, diagonal] += ridge
        step = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        return step, -np.einsum("bj,bj->b", gradient, step)

    def _move(self, chosen, step, promise):
        """Halve each step until the objective falls, and go. Say which problems are not at their optimum yet."""
        length, unsolved = 1.0, np.zeros(len(chosen), dtype=bool)
        waiting = np.arange(len(chosen))
        while len(waiting) and length > SHORTEST_STEP:
            b = chosen[waiting]
            w = self.w[b] + length * step[waiting]
            hinge, objective = self._evaluate(b, w)
            falls = objective <= self.objective[b] - 1e-4 * length * promise[waiting]
            b = b[falls]
            self.w[b], self.hinge[b], self.objective[b] = w[falls], hinge[falls], objective[falls]
            unsolved[waiting[falls]] = length < 1 or ((hinge[falls] > 0) != self.active[b]).any(axis=1)
            waiting = waiting[~falls]
            length /= 2
        return unsolved

    def _activate(self, chosen, active):
        """Bring the Gram matrices to other sets of active rows."""
        if active.size * self.Z.shape[1] <= GRAMS_AT_ONCE:
            self.gram[chosen] = ((active * self.weights)[:, None, :] * self.Z.T) @ self.Z
        else:
            for b, now in zip(chosen, active, strict=True):
                self._update_gram(b, now)
        self.active[chosen] = active

    def _update_gram(self, b, active):
        """By the rows that entered or left, where they are fewer than those that are active."""
        changed = np.flatnonzero(active != self.active[b])
        if 2 * len(changed) < np.count_nonzero(active):
            self.gram[b] += self._gram(changed, np.where(active[changed], 1.0, -1.0))
        elif len(changed):
            self.gram[b] = self._gram(np.flatnonzero(active), 1.0)

    def _gram(self, rows, signs):
        Z = self.Z[rows]
        return (Z.T * (signs * self.weights[rows])) @ Z
