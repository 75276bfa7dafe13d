"""The small SVMs on the columns of paths, trained where the rows are."""

from __future__ import annotations

import numpy as np

from isrht.boosting._small_svm import PathProblems, SmallSVMs, Solutions, solve_elsewhere
from isrht.support.threads import in_threads

# The C of the SVM whose residual the next round works on, in units in which the mean squared row is 1.
INNER_C = 1.0


def train(rows, paths, n_jobs=None):
    """Train the small SVMs of every path again, from where they were, and let the paths keep them."""
    starts = [path.solutions for path in paths]
    for path, (solutions, loss) in zip(paths, solve(rows, paths, [INNER_C], starts, n_jobs), strict=True):
        path.learn(solutions, loss)


def solve(rows, paths, Cs, starts, n_jobs=None):
    """Return the :class:`~isrht.boosting._small_svm.Solutions` of every path.

    Each path has a problem for every class and C: all classes for the first C, then all for the next.

    Parameters
    ----------
    rows : LearnedRows
    paths : list of Path
    Cs : sequence of float
    starts : list of arrays
        For each path the weights to start from, one row per problem. The last columns may be missing.
    n_jobs : int or None, default=None
    """
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
    """Solve the problems of all paths together, because every step is a pass over the rows."""
    width, count = max(path.size for path in paths), len(label)
    start = np.zeros((len(paths), count, width + 1))
    for own, given in zip(start, starts, strict=True):
        own[:, : given.shape[1] - 1], own[:, -1] = given[:, :-1], given[:, -1]
    numbers = np.repeat([path.number for path in paths], count)
    problems = PathProblems(numbers, np.tile(label, len(paths)), np.tile(C, len(paths)))
    solved = solve_elsewhere(rows, problems, width, start.reshape(-1, width + 1), n_jobs)
    return [Solutions(*each) for each in zip(*(np.split(values, len(paths)) for values in solved), strict=True)]
