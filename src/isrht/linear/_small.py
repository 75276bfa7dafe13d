"""Few features of tame size, in memory: one kernel solves all problems of a fold, from the start to the optimum.

:mod:`isrht.linear._exact` takes the same Newton steps, but in NumPy, whose calls take longer than their work where rows
are few. The kernel is that of boosting's small SVMs (``core/boosting/solve_small_svms.hpp``): it keeps the Gram matrix
of the active rows from step to step and ends where a full step leaves these rows as they were, which is the optimum
itself. It counts no steps, so it is for folds, of which only the scores are wanted.

A Gram matrix from which rows were subtracted keeps the rounding of the largest sum that it ever was. The ridge, which
is 1, hides that as long as ``2 C`` times the largest sum of squares is far below the precision of float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isrht import kernels
from isrht.kernels.records import LearnedColumns, SvmProblems
from isrht.linear._problems import TwoClassProblems, weights_by_fold
from isrht.rows.blocks import RowsElsewhere, is_sparse
from isrht.support.threads import in_threads

# More features than this are for BLAS, and more values than this are no longer few.
MOST_FEATURES = 64
MOST_VALUES = 2**17
# The kernel takes at most so many steps. Whoever allows fewer wants to see that they did not suffice.
KERNEL_STEPS = 60
# The largest 2 C times sum of squares: rounding is then less than 1e-8 of the ridge.
LARGEST_CURVATURE = 1e7


@dataclass
class SmallState:
    """The weights of some problems: an array (problems, width), the intercept last."""

    problems: TwoClassProblems
    weights: np.ndarray


class SmallSolver:
    """A solver of problems with few features and few rows, whose sums of squares are not too large.

    Parameters
    ----------
    blocks : RowBlocks
    options : SolverOptions
    """

    def __init__(self, blocks, options):
        self.n_jobs = options.n_jobs
        columns, codes = np.ascontiguousarray(blocks.X.T, dtype=np.float64), blocks.y.astype(np.int32)
        weights = np.ascontiguousarray(weights_by_fold(blocks))
        self.rows = [LearnedColumns(columns, own, codes) for own in weights]

    def groups(self, n_problems):
        """Return slices of the problems that are solved together: one of all of them."""
        return [slice(0, n_problems)]

    def start(self, problems, start=None):
        """Return the :class:`SmallState` of problems whose weights are all zero, or given."""
        width = len(self.rows[0].columns) + 1
        return SmallState(problems, np.zeros((len(problems), width)) if start is None else start.weights.copy())

    def minimise(self, state, C):
        """Move the state to the optimum for C. Return zeros for the number of steps, and that all were enough."""
        problems, weights = state.problems, state.weights

        def solve_fold(fold):
            mine = np.flatnonzero(problems.fold == fold)
            wanted = SvmProblems(problems.positive[mine].astype(np.int32), np.full(len(mine), C), len(mine))
            own = weights[mine]
            kernels.engine.solve_svms(self.rows[fold], wanted, own, np.empty(len(mine)))
            weights[mine] = own

        for _ in in_threads(solve_fold, range(len(self.rows)), self.n_jobs):
            pass
        return np.zeros(len(problems), dtype=int), np.ones(len(problems), dtype=bool)


def is_small(blocks, largest_C, options):
    """Say whether the kernel solves such problems surely, and faster than NumPy does."""
    X = blocks.X
    if isinstance(X, RowsElsewhere) or is_sparse(X) or X.shape[1] > MOST_FEATURES or X.size > MOST_VALUES:
        return False
    plain = options.fit_intercept and options.penalize_intercept and options.rough and options.max_iter >= KERNEL_STEPS
    return plain and 2 * largest_C * _largest_sum_of_squares(blocks) <= LARGEST_CURVATURE


def _largest_sum_of_squares(blocks):
    """Return the largest sum over rows of weight times square, of any feature or of the intercept, in any fold."""
    weights = weights_by_fold(blocks)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.square(blocks.X, dtype=np.float64)
        return max(float((weights @ squares).max(initial=0)), float(weights.sum(axis=1).max()))
