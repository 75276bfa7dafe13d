"""The solver for data with many features in memory: coordinate descent in the dual, then Newton's method in the primal.

Coordinate descent (:mod:`isrht.linear._descent`) comes near the optimum in a few passes over the rows, first for all
problems that share them at once, in single precision, then for each alone. To choose C the first is enough: the folds
of a cross-validation need not be exact. Where features are very unlike each other or C is large, coordinate descent
takes long for the last digits. Then Newton's method (:mod:`isrht.linear._in_memory`), to which the start is what is
difficult, takes over from where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from isrht.linear._by_rows import MOST_ROWS, NewtonByRows
from isrht.linear._descent import FIRST_EPOCHS, DescentRows, Lanes, Turn, lanes_for
from isrht.linear._in_memory import NewtonInMemory
from isrht.linear._objective import hinge_of
from isrht.linear._problems import TwoClassProblems
from isrht.rows.blocks import Block
from isrht.support.threads import in_threads, job_count
from isrht.support.validation import check_no_overflow

# Lanes of floats are as near to the optimum as they come when an epoch gains less than this part of the objective; then
# each problem goes on alone, in double. So many epochs they may take for it.
FLOAT_DECREASE = 1e-5
MAX_FLOAT_EPOCHS = 30
# After so many epochs Newton's method takes over, or earlier where they will not suffice.
MAX_EPOCHS = 1000
MAX_ROUGH_EPOCHS = 300
# How many times as fast products of matrices are, for each number, as an epoch.
FASTER_NUMBERS = 40
# No tolerance asks for a smaller duality gap than this part of the objective, which is about its rounding.
SMALLEST_GAP = 1e-13
# Where rough solutions will do, these are their tolerance, and the part of the objective that the last epoch gains.
ROUGH_TOL = 1e-2
ROUGH_DECREASE = 5e-4


@dataclass
class WideState:
    """Where some problems stand.

    Parameters
    ----------
    problems : TwoClassProblems
    weights : array of shape (n_problems, width)
        The weights found so far, with the intercept in the last column if there is one.
    members : list of slices
        Which problems are in each of the lanes.
    lanes : list of Lanes
    turns : int
        For how many Cs the problems have been solved.
    given : bool
        Whether the weights were given, and not yet taken up by the lanes.
    supports : dict
        By the number of a problem that was solved alone: the rows whose dual variables are not zero.
    """

    problems: TwoClassProblems
    weights: np.ndarray
    members: list
    lanes: list
    turns: int = 0
    given: bool = False
    supports: dict = field(default_factory=dict)

    def apart(self):
        """Return for each problem a function that takes it out of its lanes."""
        return [partial(lanes.alone, k) for lanes in self.lanes for k in range(lanes.n_problems)]

    def release(self):
        """Keep everything: the dual variables are what the next C begins with."""

    def variables(self):
        """Return the dual variables: an array (problems, rows)."""
        return np.concatenate([lanes.alpha[:, : lanes.n_problems].T for lanes in self.lanes])


class WideSolver:
    """Coordinate descent, finished by Newton's method; it has the methods that :mod:`isrht.linear.path` asks for.

    Parameters
    ----------
    blocks : RowBlocks
        Rows in memory.
    options : SolverOptions
    """

    def __init__(self, blocks, options):
        if options.rough:
            options = replace(options, tol=max(options.tol, ROUGH_TOL))
        self.blocks, self.options = blocks, options
        self.rows = DescentRows(blocks.X, options.fit_intercept)
        if not self.rows.fit_into_float64:
            check_no_overflow("rows", np.inf)
        self.newton = (NewtonInMemory if self.rows.is_sparse else NewtonByRows)(blocks, options)
        self.max_epochs = MAX_EPOCHS if self.rows.is_sparse else worthwhile_epochs(*blocks.X.shape)

    def groups(self, n_problems):
        """Return slices of the problems. Those of one slice are solved together, and take turns with the others."""
        return self.newton.groups(n_problems)

    def start(self, problems, start=None):
        """Return the :class:`WideState` of some problems whose weights are all zero, or given."""
        whole = Block(0, self.blocks.X, self.blocks.y, self.blocks.sample_weight)
        n_lanes, members = lanes_for(len(problems), job_count(self.options.n_jobs), self.rows.fit_into_float32)
        lanes = [
            Lanes(self.rows, problems[some].signs(whole), problems[some].row_weights(whole), n_lanes)
            for some in members
        ]
        zeros = np.zeros((len(problems), self.newton.width))
        if start is None:
            return WideState(problems, zeros, members, lanes)
        if start.variables is None:
            return WideState(problems, np.array(start.weights), members, lanes, given=True)
        for some, group in zip(members, lanes, strict=True):
            group.start_from(start.variables[some])
        return WideState(problems, zeros, members, lanes)

    def minimise(self, state, C):
        """Move ``state`` to the optimum for C. Return the number of epochs and steps, and whether it was reached."""
        if state.given:
            self._take_up(state, C)
        n_iter, converged = self._descend(state, C)
        unsolved = np.flatnonzero(~converged)
        if len(unsolved):
            steps, converged[unsolved] = self._finish(state, C, unsolved)
            n_iter[unsolved] += steps
        state.turns += 1
        return n_iter, converged

    def _take_up(self, state, C):
        """Let the lanes begin at the weights of the problems.

        At an optimum a dual variable is ``2 C s`` times the hinge of its row. Elsewhere that is a start near by.
        """
        whole = Block(0, self.blocks.X, self.blocks.y, self.blocks.sample_weight)
        for members, lanes in zip(state.members, state.lanes, strict=True):
            problems = state.problems[members]
            hinge = hinge_of(problems.signs(whole), self.newton.scores(whole.X, state.weights[members]))
            lanes.start_from(2 * C * problems.row_weights(whole) * hinge)
        state.given = False

    def _descend(self, state, C):
        """Let coordinate descent go as far as it is good for, each group of lanes in a thread of its own."""
        seed = self.options.seed, state.turns
        if self.options.rough:
            return self._descend_together(state, Turn(C, ROUGH_DECREASE, MAX_ROUGH_EPOCHS, seed, shrinks=False))
        turn = Turn(C, max(self.options.tol**2, SMALLEST_GAP), self.max_epochs, seed)
        if len(state.problems) == 1:
            return self._descend_alone(state, turn, state.lanes)
        rough, _ = self._descend_together(state, replace(turn, enough=FLOAT_DECREASE, max_epochs=MAX_FLOAT_EPOCHS))
        more, settled = self._descend_alone(state, turn, state.apart())
        return rough + more, settled

    def _descend_together(self, state, turn):
        epochs, settled = np.empty(len(state.problems), dtype=int), np.empty(len(state.problems), dtype=bool)
        results = in_threads(lambda lanes: lanes.solve(turn), state.lanes, self.options.n_jobs)
        for members, lanes, result in zip(state.members, state.lanes, results, strict=True):
            epochs[members], settled[members] = result
            lanes.write_weights(state.weights[members])
        return epochs, settled

    def _descend_alone(self, state, turn, problems):
        """Solve each problem by itself, in double; ``problems`` are functions that return them, or lanes."""

        def solve(problem):
            lanes = problem() if callable(problem) else problem
            result = lanes.solve_exactly(turn)
            return *result, lanes.weights_of_problems()[0], np.flatnonzero(lanes.alpha[:, 0])

        epochs, settled = np.empty(len(state.problems), dtype=int), np.empty(len(state.problems), dtype=bool)
        for p, result in enumerate(in_threads(solve, problems, self.options.n_jobs)):
            epochs[p], settled[p], state.weights[p], state.supports[p] = result
        return epochs, settled

    def _finish(self, state, C, unsolved):
        """Take Newton's steps for the problems of these numbers."""
        problems, weights = state.problems[unsolved], state.weights[unsolved]
        if all(p in state.supports for p in unsolved):
            near = self.newton.state_near(problems, weights, [state.supports[p] for p in unsolved], C)
        else:
            near = self.newton.state_at(problems, weights)
        result = self.newton.minimise(near, C)
        state.weights[unsolved] = near.weights
        return result


def worthwhile_epochs(n_samples, n_features):
    """Return how many epochs with dense rows take as long as Newton's steps do that would replace them.

    Half of the rows may be active, unless these are more than Newton's method has room for. Their products, and some
    Cholesky factors, take a fortieth of the time for each number that an epoch takes.
    """
    active = n_samples / 2
    if active > MOST_ROWS:
        return MAX_EPOCHS
    newton = active**2 * (n_features + 2 * active) / FASTER_NUMBERS
    return int(np.clip(newton / (n_samples * n_features), FIRST_EPOCHS, MAX_EPOCHS))
