"""Squared-hinge SVMs on a handful of columns, many at once, solved again and again from where they last stood.

Boosting trains the same tiny problems after every round, for every class and for every C. The objective

    0.5 * |w|^2 + 0.5 * b^2 + C * sum_i s_i * max(0, 1 - y_i (w.z_i + b))^2

is that of :class:`~isrht.linear.svm.LinearSVM`, so what is chosen here is what a user trains there. It is piecewise
quadratic: once a full Newton step leaves the set of active rows as it was, the step ended exactly at the optimum.
Only rows that enter or leave that set change the Gram matrix.

:mod:`isrht.linear.path` solves one wide problem in few passes over many blocks; here there are thousands of narrow
ones. Those of rows in memory are solved by one kernel, from the start to the optimum. Where rows are elsewhere, a
kernel takes the sums of a block, and the steps are made here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isrht import kernels
from isrht.kernels.records import LearnedColumns, SvmProblems, SvmSums

MAX_STEPS = 60
# A step that promises less than this part of the objective is rounding.
SMALLEST_DECREASE = 1e-15
# An objective that is larger by less than this part of it counts as equal: the last step, which is exact, must not be
# halved for rounding.
ROUNDING = 1e-15
SHORTEST_STEP = 1e-10
# Elements of the Gram matrices that are held at once, or summed in one pass over rows elsewhere: 16 MB.
GRAM_ELEMENTS = 2**21


class PathProblems(NamedTuple):
    """Two-class problems on the columns of paths.

    Parameters
    ----------
    path : array of shape (n_problems,)
        The number of the path whose columns a problem is about.
    positive : array of shape (n_problems,), int32
        The class that is told from all others.
    C : array of shape (n_problems,)
    """

    path: np.ndarray
    positive: np.ndarray
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


def solve_in_memory(columns, problems, start):
    """Return the :class:`Solutions` of problems on the same rows, all in memory.

    Parameters
    ----------
    columns : LearnedColumns
    problems : SvmProblems
    start : array of shape (n_problems, at most n_columns + 1)
        The weights to start from, intercepts last. Columns that are missing start from zero.
    """
    width = len(columns.columns) + 1
    weights, loss = widened(start, width), np.empty(len(start))
    parts = _parts(len(start), width)
    for part in parts:
        some = problems
        if len(parts) > 1:
            some = problems._replace(positive=problems.positive[part], cost=problems.cost[part])
        kernels.engine.solve_svms(columns, some, weights[part], loss[part])
    return Solutions(weights, loss)


def widened(weights, width):
    """Return a copy of weights with zeros for columns that they lack, before the intercepts."""
    wide = np.zeros((len(weights), width))
    wide[:, : weights.shape[1] - 1], wide[:, -1] = weights[:, :-1], weights[:, -1]
    return wide


def _parts(count, width):
    """Return slices of problems whose Gram matrices are held at once."""
    at_once = max(1, GRAM_ELEMENTS // width**2)
    return [slice(first, first + at_once) for first in range(0, count, at_once)]


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
    parts = _parts(len(start), width + 1)
    solved = [_Elsewhere(rows, problems[part], start[part], n_jobs).solve() for part in parts]
    return Solutions(*(np.concatenate(values) for values in zip(*solved, strict=True)))


class _Elsewhere:
    """Newton's method that keeps nothing of the rows. Which ones were active follows from the weights before."""

    def __init__(self, rows, problems, start, n_jobs):
        self.rows, self.problems, self.n_jobs = rows, problems, n_jobs
        self.C, self.w = problems.C[:, None], start.copy()
        count, width = start.shape
        self.gram, self.pull, self.loss = np.zeros((count, width, width)), np.zeros((count, width)), np.zeros(count)

    def solve(self):
        """Take steps until they promise nothing or the active rows stay as they are. Return the :class:`Solutions`."""
        going = np.arange(len(self.w))
        self._take(going, self._sums(going, self.w, None), slice(None))
        for _ in range(MAX_STEPS):
            step, promise = self._steps(going)
            moving = promise > SMALLEST_DECREASE * self._objective(going, self.w[going], self.loss[going])
            going, step, promise = going[moving], step[moving], promise[moving]
            if len(going) == 0:
                break
            going = going[self._move(going, step, promise)]
        return Solutions(self.w, self.loss)

    def _sums(self, chosen, w, before):
        """Return loss, pull, and how the Gram matrices have changed since the weights ``before``, by how many rows."""
        problems = self.problems[chosen]
        return self.rows.sum(lambda rows: _sums_at(rows, problems, w, before), self.n_jobs)

    def _take(self, chosen, sums, which):
        """Take up the sums of ``which`` problems, which are the chosen ones. Say whose active rows have changed."""
        loss, pull, gram, changed = (values[which] for values in sums)
        self.loss[chosen], self.pull[chosen] = loss, pull
        self.gram[chosen] += gram
        return changed > 0

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
            sums = self._sums(b, w, self.w[b])
            enough = (1 + ROUNDING) * before[waiting] - 1e-4 * length * promise[waiting]
            falls = self._objective(b, w, sums[0]) <= enough
            changed = self._take(b[falls], sums, falls)
            self.w[b[falls]] = w[falls]
            unsolved[waiting[falls]] = changed | (length < 1)
            waiting = waiting[~falls]
            length /= 2
        return unsolved


def _sums_at(rows, problems, w, before):
    """Return the sums of all problems over some rows, as :class:`~isrht.kernels.records.SvmSums` has them."""
    count, width = w.shape
    sums = np.empty(count), np.empty((count, width)), np.empty((count, width, width)), np.empty(count, dtype=np.int64)
    for path in np.unique(problems.path):
        mine = np.flatnonzero(problems.path == path)
        some = SvmProblems(problems.positive[mine], problems.C[mine], len(mine))
        own = SvmSums(*(np.empty((len(mine), *values.shape[1:]), values.dtype) for values in sums))
        was = np.empty((0, width)) if before is None else before[mine]
        columns = learned_columns(rows, path, width - 1, rows.training_weights(path))
        kernels.engine.sum_svms(columns, some, w[mine], was, own)
        for values, part in zip(sums, own, strict=True):
            values[mine] = part
    return sums


def learned_columns(rows, path, size, weights):
    """Return the first columns of a path as the kernels take them, with these weights of the rows."""
    return LearnedColumns(rows.columns[:size, path], weights, rows.roles.codes.astype(np.int32))
