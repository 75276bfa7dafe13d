"""Squared-hinge SVMs on a handful of columns, many at once, solved again and again from where they last stood.

Boosting trains the same tiny problems after every round, for every class and for every C. The objective

    0.5 * |w|^2 + 0.5 * b^2 + C * sum_i s_i * max(0, 1 - y_i (w.z_i + b))^2

is that of :class:`~isrht.linear.svm.LinearSVM`, so what is chosen here is what a user trains there. It is piecewise
quadratic: once a full Newton step leaves the set of active rows as it was, the step ended exactly at the optimum.
Only rows that enter or leave that set change the Gram matrix.

:mod:`isrht.linear.path` solves one wide problem in few passes over many blocks; here there are thousands of narrow
ones, and what counts is how little Python each of them costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MAX_STEPS = 60
# A step that promises less than this part of the objective is rounding.
SMALLEST_DECREASE = 1e-15
# An objective that is larger by less than this part of it counts as equal: the last step, which is exact, must not be
# halved for rounding.
ROUNDING = 1e-15
SHORTEST_STEP = 1e-10
# Scores held at once: problems times rows.
SCORES_AT_ONCE = 2**22
# Problems times rows times columns up to which all Gram matrices are summed at once, from nothing.
GRAMS_AT_ONCE = 2**18
# Elements of the Gram matrices that one pass over rows elsewhere sums: 16 MB.
GRAM_ELEMENTS = 2**21


class PathProblems(NamedTuple):
    """Two-class problems on the columns of paths.

    Parameters
    ----------
    path : array of shape (n_problems,)
        The number of the path whose columns a problem is about.
    label : array of shape (n_problems,)
        Which of the two-class problems of its rows it is: a column of their labels ``Y``.
    C : array of shape (n_problems,)
    """

    path: np.ndarray
    label: np.ndarray
    C: np.ndarray

    def __getitem__(self, chosen):
        return PathProblems(*(values[chosen] for values in tuple(self)))


class Solutions(NamedTuple):
    """The optimum of each problem.

    Parameters
    ----------
    weights : array of shape (n_problems, n_columns + 1)
        The intercepts come last.
    loss : array of shape (n_problems,)
        The weighted sums of the squared hinge.
    """

    weights: np.ndarray
    loss: np.ndarray


class SmallSVMs:
    """Problems on the same rows, all in memory.

    Parameters
    ----------
    Z : array of shape (n_rows, n_columns)
    Y : array of shape (n_rows, n_labels)
        Labels +1/-1, a column for each two-class problem.
    weights : array of shape (n_rows,)
    """

    def __init__(self, Z, Y, weights):
        self.Z = np.column_stack([Z, np.ones(len(Z))])
        self.Y = Y
        self.weights = weights

    def solve(self, label, C, start):
        """Return the :class:`Solutions` of some problems.

        Parameters
        ----------
        label : array of shape (n_problems,)
            Which column of ``Y`` has the labels of a problem.
        C : array of shape (n_problems,)
        start : array of shape (n_problems, at most n_columns + 1)
            The weights to start from, intercepts last. Columns that are missing start from zero.
        """
        at_once = max(1, SCORES_AT_ONCE // len(self.Z))
        parts = [slice(first, first + at_once) for first in range(0, len(label), at_once)]
        return _joined([_InMemory(self, label[part], C[part], start[part]).solve() for part in parts])


def solve_elsewhere(rows, problems, width, start, n_jobs=None):
    """Return the :class:`Solutions` for rows that are not in memory: a pass over the rows is a Newton step of all.

    Parameters
    ----------
    rows : LearnedRows
    problems : PathProblems
    width : int
        How many columns of every path are used. They are zero where a path has fewer.
    start : array of shape (n_problems, width + 1)
        The weights to start from, intercepts last.
    n_jobs : int or None, default=None
    """
    at_once = max(1, GRAM_ELEMENTS // (width + 1) ** 2)
    parts = [slice(first, first + at_once) for first in range(0, len(problems.C), at_once)]
    return _joined([_Elsewhere(rows, problems[part], width, start[part], n_jobs).solve() for part in parts])


def _joined(parts):
    return Solutions(*(np.concatenate(values) for values in zip(*parts, strict=True)))


class _SmallNewton:
    """The iterates of some problems. A subclass sums over the rows."""

    def __init__(self, C, width, start):
        self.C = C[:, None]
        self.w = np.zeros((len(C), width))
        self.w[:, : start.shape[1] - 1], self.w[:, -1] = start[:, :-1], start[:, -1]
        self.gram = np.zeros((len(C), width, width))
        self.pull, self.loss = np.zeros((len(C), width)), np.zeros(len(C))

    def solve(self):
        """Take steps until they promise nothing or the active rows stay as they are. Return the :class:`Solutions`."""
        everyone = np.arange(len(self.w))
        self.loss, found = self._try(everyone, self.w)
        self._take(everyone, self.w, found, everyone)
        going = everyone
        for _ in range(MAX_STEPS):
            self._sum(going)
            step, promise = self._steps(going)
            moving = promise > SMALLEST_DECREASE * self._objective(going, self.w[going], self.loss[going])
            going, step, promise = going[moving], step[moving], promise[moving]
            if len(going) == 0:
                break
            going = going[self._move(going, step, promise)]
        return Solutions(self.w, self.loss)

    def _try(self, chosen, w):
        """Return the loss at ``w``, and what else was found there."""
        raise NotImplementedError

    def _take(self, chosen, w, found, which):
        """Take up what was found at ``w``, where the chosen problems are ``which``; say whose active rows changed."""
        raise NotImplementedError

    def _sum(self, chosen):
        """Bring ``pull`` (rows times labels, hinge and weights) and ``gram`` to where the iterates are."""

    def _objective(self, chosen, w, loss):
        return 0.5 * np.einsum("bj,bj->b", w, w) + self.C[chosen, 0] * loss

    def _steps(self, chosen):
        """Return the Newton steps of the chosen problems, and the slope along them: how fast the objective falls."""
        C = self.C[chosen]
        gradient = self.w[chosen] - 2 * C * self.pull[chosen]
        hessian = 2 * C[:, :, None] * self.gram[chosen] + np.eye(self.w.shape[1])
        step = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        return step, -np.einsum("bj,bj->b", gradient, step)

    def _move(self, chosen, step, promise):
        """Halve each step until the objective falls, and go. Say which problems are not at their optimum yet."""
        before = self._objective(chosen, self.w[chosen], self.loss[chosen])
        length, unsolved = 1.0, np.zeros(len(chosen), dtype=bool)
        waiting = np.arange(len(chosen))
        while len(waiting) and length > SHORTEST_STEP:
            b = chosen[waiting]
            w = self.w[b] + length * step[waiting]
            loss, found = self._try(b, w)
            enough = (1 + ROUNDING) * before[waiting] - 1e-4 * length * promise[waiting]
            falls = self._objective(b, w, loss) <= enough
            which = np.flatnonzero(falls)
            changed = self._take(b[falls], w[falls], found, which)
            self.w[b[falls]], self.loss[b[falls]] = w[falls], loss[falls]
            unsolved[waiting[falls]] = changed | (length < 1)
            waiting = waiting[~falls]
            length /= 2
        return unsolved


class _InMemory(_SmallNewton):
    """Newton's method that keeps the hinge of every row, and which rows the Gram matrices are of."""

    def __init__(self, svms, label, C, start):
        super().__init__(C, svms.Z.shape[1], start)
        self.Z, self.weights = svms.Z, svms.weights
        self.y = np.ascontiguousarray(svms.Y.T[label])
        self.hinge, self.active = np.zeros(self.y.shape), np.zeros(self.y.shape, dtype=bool)

    def _try(self, chosen, w):
        hinge = np.maximum(0, 1 - self.y[chosen] * (w @ self.Z.T))
        return np.einsum("bi,bi,i->b", hinge, hinge, self.weights), hinge

    def _take(self, chosen, w, found, which):
        self.hinge[chosen] = hinge = found[which]
        return ((hinge > 0) != self.active[chosen]).any(axis=1)

    def _sum(self, chosen):
        hinge = self.hinge[chosen]
        self.pull[chosen] = (self.y[chosen] * hinge * self.weights) @ self.Z
        self._activate(chosen, hinge > 0)

    def _activate(self, chosen, active):
        """Bring the Gram matrices to other sets of active rows."""
        if active.size * self.Z.shape[1] <= GRAMS_AT_ONCE:
            self.gram[chosen] = ((active * self.weights)[:, None, :] * self.Z.T) @ self.Z
        else:
            for b, now in zip(chosen, active, strict=True):
                self._update_gram(b, now)
        self.active[chosen] = active

    def _update_gram(self, b, active):
        """Bring one Gram matrix to other active rows, by those that entered or left if these are few."""
        changed = np.flatnonzero(active != self.active[b])
        if 2 * len(changed) < np.count_nonzero(active):
            self.gram[b] += _gram(self.Z, self.weights, changed, np.where(active[changed], 1.0, -1.0))
        elif len(changed):
            self.gram[b] = _gram(self.Z, self.weights, np.flatnonzero(active), 1.0)


class _Elsewhere(_SmallNewton):
    """Newton's method that keeps nothing of the rows. Which ones were active follows from the weights before."""

    def __init__(self, rows, problems, width, start, n_jobs):
        super().__init__(problems.C, width + 1, start)
        self.rows, self.problems, self.n_jobs = rows, problems, n_jobs
        self.before = None

    def _try(self, chosen, w):
        problems, before = self.problems[chosen], None if self.before is None else self.before[chosen]
        loss, *found = self.rows.sum(lambda rows: _sums_at(rows, problems, w, before), self.n_jobs)
        return loss, found

    def _take(self, chosen, w, found, which):
        pull, gram, changed = (values[which] for values in found)
        if self.before is None:
            self.before = self.w.copy()
        self.before[chosen], self.pull[chosen] = w, pull
        self.gram[chosen] += gram
        return changed > 0


def _sums_at(rows, problems, w, before):
    """Return loss, pull, and how the Gram matrices changed since the weights ``before`` and by how many of the rows."""
    count, width = w.shape
    loss, changed = np.zeros((2, count))
    pull, gram = np.zeros((count, width)), np.zeros((count, width, width))
    for path in np.unique(problems.path):
        mine = np.flatnonzero(problems.path == path)
        weights = rows.training_weights(path)
        counted = np.flatnonzero(weights)
        weights = weights[counted]
        Z = np.column_stack([rows.columns_of(path, width - 1)[counted], np.ones(len(counted))])
        y = rows.Y[counted].T[problems.label[mine]]
        hinge = np.maximum(0, 1 - y * (w[mine] @ Z.T))
        loss[mine] = np.einsum("bi,bi,i->b", hinge, hinge, weights)
        pull[mine] = (y * hinge * weights) @ Z
        active = hinge > 0
        signs = active.astype(np.float64)
        if before is not None:
            signs -= 1 - y * (before[mine] @ Z.T) > 0
        for b, sign in zip(mine, signs, strict=True):
            entered_or_left = np.flatnonzero(sign)
            gram[b] = _gram(Z, weights, entered_or_left, sign[entered_or_left])
            changed[b] = len(entered_or_left)
    return loss, pull, gram, changed


def _gram(Z, weights, rows, signs):
    """Return the Gram matrix of some rows, of which those with the sign -1 are subtracted."""
    Z, weights = Z[rows], weights[rows]
    return (Z.T * (signs * weights)) @ Z
