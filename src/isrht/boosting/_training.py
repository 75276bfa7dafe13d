"""The small SVMs on the columns of paths, trained where the rows are."""

from __future__ import annotations

import numpy as np

from isrht.boosting._small_svm import (
    PathProblems,
    Solutions,
    learned_columns,
    solve_elsewhere,
    solve_in_memory,
    widened,
)
from isrht.kernels.records import SvmProblems
from isrht.support.threads import in_threads

# The C of the SVM whose residual the next round works on, in units in which the mean squared row is 1.
INNER_C = 1.0
# SVMs of more than so many classes, on more than so many columns, are solved until a step changes no more than this
# part of their active rows. A Gram matrix for each of them would cost more than all the rest.
MANY_CLASSES, MANY_COLUMNS = 10, 16
TOLERANCE_OF_MANY = 0.02


def train(rows, paths, n_jobs=None):
    """Train the small SVMs of every path again, from where they were, and let the paths keep them."""
    starts = [path.solutions for path in paths]
    Cs = [np.array([INNER_C])] * len(paths)
    for path, (solutions, loss) in zip(paths, solve(rows, paths, Cs, starts, n_jobs), strict=True):
        path.learn(solutions, loss)


def solve(rows, paths, Cs, starts, n_jobs=None):
    """Return the :class:`~isrht.boosting._small_svm.Solutions` of every path.

    Each path has a problem for every class and C: all classes for the first C, then all for the next.

    Parameters
    ----------
    rows : LearnedRows
    paths : list of Path
    Cs : list of arrays
        For each path its values of C, ascending.
    starts : list of arrays
        For each path the weights to start from, one row per problem. The last columns may be missing.
    n_jobs : int or None, default=None
    """
    classes = rows.roles.positive_classes
    problems = [_problems_of(path, classes, some) for path, some in zip(paths, Cs, strict=True)]
    if rows.elsewhere:
        return _solve_elsewhere(rows, paths, problems, starts, n_jobs)

    def solve_one(p):
        number = paths[p].number
        columns = learned_columns(rows, number, paths[p].size, rows.training_weights(number))
        return solve_in_memory(columns, problems[p], starts[p])

    return list(in_threads(solve_one, range(len(paths)), n_jobs))


def _problems_of(path, classes, Cs):
    """Return the problems of a path: all classes for the first C, then all for the next."""
    many = len(classes) > MANY_CLASSES and path.size > MANY_COLUMNS
    tolerance = TOLERANCE_OF_MANY if many else 0.0
    return SvmProblems(np.tile(classes, len(Cs)), np.repeat(Cs, len(classes)), len(classes), tolerance)


def _solve_elsewhere(rows, paths, problems, starts, n_jobs):
    """Solve the problems of all paths together, because every step is a pass over the rows."""
    width, counts = max(path.size for path in paths), [len(start) for start in starts]
    start = np.concatenate([widened(given, width + 1) for given in starts])
    numbers = np.repeat([path.number for path in paths], counts)
    positive, cost = (np.concatenate([getattr(some, name) for some in problems]) for name in ("positive", "cost"))
    solved = solve_elsewhere(rows, PathProblems(numbers, positive, cost), width, start, n_jobs)
    ends = np.cumsum(counts)[:-1]
    weights, loss = (np.split(values, ends) for values in solved)
    # Columns that other paths have and this one has not are left out again.
    own = [each[:, [*range(path.size), -1]] for path, each in zip(paths, weights, strict=True)]
    return [Solutions(*each) for each in zip(own, loss, strict=True)]
