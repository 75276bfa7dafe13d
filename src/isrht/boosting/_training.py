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
    classes = rows.roles.positive_classes
    problems = SvmProblems(
        np.tile(classes, len(Cs)), np.repeat(np.asarray(Cs, dtype=np.float64), len(classes)), len(classes)
    )
    if rows.elsewhere:
        return _solve_elsewhere(rows, paths, problems, starts, n_jobs)

    def solve_one(p):
        return solve_in_memory(learned_columns(rows, paths[p].number, paths[p].size), problems, starts[p])

    return list(in_threads(solve_one, range(len(paths)), n_jobs))


def _solve_elsewhere(rows, paths, problems, starts, n_jobs):
    """Solve the problems of all paths together, because every step is a pass over the rows."""
    width = max(path.size for path in paths)
    start = np.concatenate([widened(given, width + 1) for given in starts])
    numbers = np.repeat([path.number for path in paths], len(problems.cost))
    all_problems = PathProblems(numbers, np.tile(problems.positive, len(paths)), np.tile(problems.cost, len(paths)))
    solved = solve_elsewhere(rows, all_problems, width, start, n_jobs)
    return [Solutions(*each) for each in zip(*(np.split(values, len(paths)) for values in solved), strict=True)]
