"""Newton's method for many problems at once, as sums over blocks of rows.

Every step needs the loss, its gradient and something of its curvature, all of which are sums over rows. The two
solvers, :mod:`isrht.linear._exact` and :mod:`isrht.linear._conjugate`, differ in what they sum of the curvature and
in how they find the direction of a step from it. This module has the rest: passes over the rows, steps, and when to
stop.

None of the sums depends on C. What was summed at the optimum for one C is the start for the next, so going on to
another C costs no pass over the data.

The stop is Newton's decrement: ``0.5 * g' H^-1 g`` is the decrease of the objective that the next step promises,
whatever C and the units of the features. A problem is solved when the promise is less than tol^2 of the objective, so
that tol is about the relative error of the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from isrht.linear._objective import loss_and_pull, objective, slopes_along
from isrht.linear._problems import TwoClassProblems
from isrht.support.matrices import as_float64
from isrht.support.validation import check_no_overflow

# Problems per pass. A block of rows has this many columns of scores, weights and labels.
PROBLEMS_PER_PASS = 64
# No tolerance asks for a smaller promise than this part of the objective, which is about its rounding.
SMALLEST_DECREASE = 1e-14
# Less than any objective that is not zero, which it is where all rows are of one class and the intercept is free.
TINY = np.finfo(float).tiny
# A promise below this part of the objective that no step along the line can keep is rounding, too.
ROUNDING = 1e-10
# How much smaller the C is that a problem too far from its optimum is solved for first, and how roughly.
STAGE = 8.0
ROUGH_DECREASE = 1e-2
# Going back to a smaller C ends here.
SMALLEST_C = 2.0**-20
# The ridge of a free intercept in the Hessian, which decides steps and not where they end.
SMALLEST_RIDGE = 1e-10


@dataclass
class State:
    """The point where each problem stands, and what the last pass summed there.

    Parameters
    ----------
    problems : TwoClassProblems
    weights : array of shape (n_problems, width)
        The weights found so far, with the intercept in the last column if there is one.
    loss : array of shape (n_problems,)
    gradient : array of shape (n_problems, width)
        The gradient of the loss alone.
    curvature : array of shape (n_problems, width, width) or (n_problems, width), or None
        The Gram matrix of the active rows, or its diagonal; None where it must be summed before the next step.
    peak : array of shape (n_problems, width) or None
        The largest values that the diagonal of the Gram matrix had since it was last summed from nothing.
    solved_for : float
        The C of which the weights are the optimum.
    """

    problems: TwoClassProblems
    weights: np.ndarray
    loss: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray | None
    peak: np.ndarray | None = None
    solved_for: float = 0.0

    def release(self):
        """Give back the memory of what can be summed again, while other problems have their turn."""
        self.curvature = None


class Newton:
    """What both solvers have in common.

    A subclass has the methods ``problems_in_memory``, ``state_at_zero``, ``evaluate``, ``update_curvature``,
    ``refresh`` and ``directions``.

    Parameters
    ----------
    blocks : RowBlocks
    options : SolverOptions
    """

    def __init__(self, blocks, options):
        self.blocks = blocks
        self.fit_intercept = options.fit_intercept
        self.width = blocks.n_features + options.fit_intercept
        self.ridge = np.ones(self.width)
        if options.fit_intercept and not options.penalize_intercept:
            self.ridge[-1] = 0.0
        # Where no row is active nothing holds a free intercept, and a step must not be without bounds.
        self.damped_ridge = np.maximum(self.ridge, SMALLEST_RIDGE)
        self.smallest_decrease = max(options.tol**2, SMALLEST_DECREASE)
        self.max_iter = options.max_iter
        self.n_jobs = options.n_jobs

    def __getstate__(self):
        """Leave out the rows: functions of a block go to the workers of a cluster, which have the rows already."""
        return {**vars(self), "blocks": None}

    def groups(self, n_problems):
        """Return slices of the problems. Those of one slice are solved together, and take turns with the others."""
        size = min(PROBLEMS_PER_PASS, self.problems_in_memory())
        return [slice(first, first + size) for first in range(0, n_problems, size)]

    def start(self, problems, start=None):
        """Return the :class:`State` of some problems whose weights are all zero, or given."""
        state = self.state_at_zero(problems)
        check_no_overflow("features", state.gradient, state.curvature)
        if start is not None:
            self.move(state, np.arange(len(problems)), start.weights, -np.inf, 1.0)
        return state

    def is_spent(self):
        """Say whether there are no more steps to be taken, however many each problem has left."""
        return False

    def sum(self, function, *args):
        """Add ``function(block, *args)`` over all blocks of rows."""

        def of_block(block):
            with quiet():
                return function(block, *args)

        return self.blocks.sum(of_block, self.n_jobs)

    def objective(self, weights, loss, C):
        """Return what is minimised, of each problem."""
        return objective(weights, loss, C, self.ridge)

    def gradients(self, state, chosen, C):
        """Return the gradient of the objective of each chosen problem."""
        return self.ridge * state.weights[chosen] + C * state.gradient[chosen]

    def minimise(self, state, C):
        """Move ``state`` to the optimum for C. Return the number of steps, and whether it was reached."""
        n_iter = np.zeros(len(state.problems), dtype=int)
        with quiet():
            converged = self.descend(state, C, np.arange(len(state.problems)), self.smallest_decrease, n_iter)
        check_no_overflow("features", state.weights)
        state.solved_for = C
        return n_iter, converged

    def descend(self, state, C, chosen, smallest_decrease, n_iter):
        """Take steps for the chosen problems until these promise too little, and say for which of all problems they do.

        A full step that does not keep a tenth of its promise started too far from the optimum. Then an optimum for a
        smaller C comes first, because its objective is nearer to quadratic, unless the start was such an optimum
        already. After that the best step along the line serves, which always makes the objective smaller.
        """
        count = len(state.problems)
        rate = np.full(count, np.inf)
        converged, retried = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        staged = max(state.solved_for, SMALLEST_C) < C / STAGE
        open_ = chosen
        while len(open_):
            self.refresh(state, C)
            direction, decrease = self.directions(state, open_, C, rate[open_])
            rate[open_] = decrease / np.maximum(self.objective(state.weights, state.loss, C)[open_], TINY)
            # A direction that was not finished promises too little.
            converged[open_] = (rate[open_] <= smallest_decrease) & (not self.is_spent())
            going = ~converged[open_] & (n_iter[open_] < self.max_iter) & (not self.is_spent())
            open_, direction, decrease = open_[going], direction[going], decrease[going]
            if len(open_) == 0:
                break
            n_iter[open_] += 1
            refused = ~self.move(state, open_, direction, 0.1 * decrease, C)
            far = open_[refused & ~retried[open_]]
            if staged and len(far):
                retried[far] = True
                self.descend(state, C / STAGE, far, ROUGH_DECREASE, n_iter)
                refused &= ~np.isin(open_, far)
            if refused.any():
                slow, direction = open_[refused], direction[refused]
                length = self.line_search(state, slow, direction, C)
                stuck = slow[~self.move(state, slow, length[:, None] * direction, 0.0, C)]
                converged[stuck] = rate[stuck] <= ROUNDING
                open_ = np.setdiff1d(open_, stuck)
        return converged

    def move(self, state, chosen, direction, decrease, C):
        """Take the step of each chosen problem whose objective falls by more than ``decrease``; say which ones did."""
        weights = state.weights[chosen]
        new = weights + direction
        loss, gradient, curvature = self.sum(self.evaluate, state.problems[chosen], new, weights)
        better = self.objective(new, loss, C) < self.objective(weights, state.loss[chosen], C) - decrease
        for k in np.flatnonzero(better):
            p = chosen[k]
            state.weights[p], state.loss[p], state.gradient[p] = new[k], loss[k], gradient[k]
            self.update_curvature(state, p, curvature[k])
        return better

    def line_search(self, state, chosen, direction, C):
        """Return how long the step of each chosen problem should be: where the slope along its line changes sign.

        The objective is convex, so its slope along the line rises. One pass takes it at many points; the next
        looks closer at the interval where it changes sign, at least once and until that excludes zero.
        """
        weights = state.weights[chosen]
        column = np.arange(len(chosen))
        low, high = np.zeros(len(chosen)), np.ones(len(chosen))
        for zoom in range(8):
            lengths = low + (high - low) * np.linspace(0, 1, 17)[:, None]
            slopes = (self.ridge * weights * direction).sum(axis=1) + lengths * (self.ridge * direction**2).sum(axis=1)
            slopes += C * self.sum(self.line_slopes, state.problems[chosen], weights, direction, lengths)
            last_falling = np.clip((slopes <= 0).sum(axis=0) - 1, 0, 15)
            low, high = lengths[last_falling, column], lengths[last_falling + 1, column]
            if zoom and np.all(low > 0):
                break
        fall, rise = -slopes[last_falling, column], slopes[last_falling + 1, column]
        return low + (high - low) * np.clip(fall / np.maximum(fall + rise, np.finfo(float).tiny), 0, 1)

    def line_slopes(self, block, problems, weights, direction, lengths):
        """Return the slopes of the loss over the rows of a block, at several lengths: an array (lengths, problems)."""
        X = as_float64(block.X)
        signs, row_weights = problems.signs(block), problems.row_weights(block)
        slack, change = 1 - signs * self.scores(X, weights), signs * self.scores(X, direction)
        return slopes_along(lengths, row_weights, slack, change)

    def loss_and_gradient(self, X, signs, row_weights, hinge):
        """Return the loss of each problem over some rows, and its gradient: a number and a vector per problem."""
        loss, pull = loss_and_pull(row_weights, signs, hinge)
        return loss, -2 * self.times_transposed(X, pull)

    def scores(self, X, weights):
        """Return the scores of rows under the weights (problems, width): an array (problems, rows)."""
        scores = (X @ weights[:, : X.shape[1]].T).T if sp.issparse(X) else weights[:, : X.shape[1]] @ X.T
        if self.fit_intercept:
            scores += weights[:, -1:]
        return scores

    def times_transposed(self, X, factors):
        """Add up rows times their factors (problems, rows): an array (problems, width)."""
        features = (X.T @ factors.T).T if sp.issparse(X) else factors @ X
        return np.hstack([features, factors.sum(axis=1, keepdims=True)]) if self.fit_intercept else features


def quiet():
    """Let numbers overflow without a warning, in this thread, because what was found is checked afterwards."""
    return np.errstate(over="ignore", invalid="ignore")
