"""Dual coordinate descent for several problems on the same rows at once.

The dual of one problem of :mod:`isrht.linear._objective` has a variable ``alpha_i >= 0`` for each row. It maximises

    sum_i alpha_i - 0.5 * |w|^2 - 0.25 * sum_i alpha_i^2 / (C s_i),    w = sum_i alpha_i y_i x_i,

where x has one more feature, of the value 1, for the intercept. A step makes one variable the best that it can be, and
an *epoch* takes a step with each row, in an order drawn anew. The problems of a :class:`Lanes` take their steps
together, which reads each row once for all of them (``core/linear/descent.hpp``); none depends on what others it is put
together with.

Rows that are safely beyond the margin are passed over, until all others are settled (*shrinking*). Another C begins
where the last one ended: each variable goes on as it went from the C before that to the last one, and then all of them
are multiplied by the one factor that is best.

References
----------
.. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A Dual Coordinate Descent Method for
   Large-scale Linear SVM", International Conference on Machine Learning 25, 2008.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from isrht import kernels
from isrht.kernels.records import CsrRows, DualProblems, DualState, Epoch, csr_rows
from isrht.linear._objective import hinge_of
from isrht.linear.scores import linear_scores
from isrht.rows.blocks import RowBlocks
from isrht.support.matrices import as_float64, contiguous_rows, empty_rows, without_duplicates

# How long an epoch takes with so many lanes, where one problem alone takes 1: few cost almost as much as many.
COST_OF_LANES = {4: 1.8, 8: 2.1}
# A variable may grow or shrink so much when it goes on from one C to the next.
LARGEST_CHANGE = 2.0
# One problem alone looks at its duality gap after the first epochs, and then now and then.
FIRST_EPOCHS = 20
EPOCHS_PER_CHECK = 50
# From the first look on its steps are longer than to the best value of a variable, which saves a third of the epochs.
STRETCH = 1.5
# So many rows or features are widened to float64 or transposed at once, which stay in the cache.
AT_ONCE = 4096
# Rows whose squared norm is larger than this are left to double precision.
LARGEST_NORM = 1e30
# Rows beyond this are left to Newton's method.
LARGEST_DOUBLE_NORM = 1e290


class DescentRows:
    """The rows as the kernels take them, with their squared norms.

    Parameters
    ----------
    X : ndarray or CSR matrix
    fit_intercept : bool
    """

    def __init__(self, X, fit_intercept):
        self.X = X
        self.n_samples, self.n_features = X.shape
        self.fit_intercept = fit_intercept
        self.is_sparse = sp.issparse(X)
        self.arrays = CsrRows(*map(np.ascontiguousarray, csr_rows(X))) if self.is_sparse else contiguous_rows(X)
        with np.errstate(over="ignore"):
            self.norms = squared_norms(X) + fit_intercept

    @property
    def fit_into_float32(self):
        """Whether no sum over a row overflows in single precision."""
        return bool((self.norms < LARGEST_NORM).all())

    @property
    def fit_into_float64(self):
        """Whether no squared norm of a row is near to what overflows in double precision."""
        return bool((self.norms < LARGEST_DOUBLE_NORM).all())

    @cached_property
    def double_rows(self):
        """The rows for one problem in float64."""
        return kernels.engine.CheckedCsr(self.arrays, self.n_features) if self.is_sparse else self.arrays

    @cached_property
    def single_rows(self):
        """The rows for lanes of float32, which round all values: those of sparse rows are rounded once for all."""
        if not self.is_sparse:
            return self.arrays
        rounded = self.arrays._replace(data=self.arrays.data.astype(np.float32, copy=False))
        return kernels.engine.CheckedCsr(rounded, self.n_features)

    def rows_for(self, real):
        """Return the rows as lanes of a type take them."""
        return self.double_rows if real == np.float64 else self.single_rows

    def descend(self, problems, state, epoch):
        """Take a step with each row of an epoch."""
        engine = kernels.engine
        take_steps = engine.descend_csr if self.is_sparse else engine.descend_rows
        take_steps(self.rows_for(state.weights.dtype), problems, state, epoch)

    def scores(self, weights):
        """Return the scores of all rows under the weights of one problem (1, width)."""
        intercept = weights[:, -1] if self.fit_intercept else np.zeros(1)
        return linear_scores(self.X, weights[:, : self.n_features], intercept)[0][:, 0]

    def add_scaled(self, factors, weights, intercept):
        """Add rows times factors to the weights, and the factors to the intercepts."""
        engine = kernels.engine
        add = engine.add_scaled_csr if self.is_sparse else engine.add_scaled_rows
        add(self.rows_for(weights.dtype), factors, weights, intercept)


def squared_norms(X):
    """Return the squared norm of each row in float64."""
    X = without_duplicates(X)
    norms = [norms_of_block(block.X) for block in RowBlocks(X)]
    return np.concatenate(norms)


def norms_of_block(X):
    """Return the squared norm of each row of a block."""
    if sp.issparse(X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        return np.bincount(rows, X.data.astype(np.float64) ** 2, X.shape[0])
    X = as_float64(X)
    return np.einsum("ij,ij->i", X, X)


def lanes_for(n_problems, n_jobs, fit_into_float32=True):
    """Return the number of lanes for which threads take least, and the problems of each group of lanes, as slices.

    Problems that fit into one vector stay together: to part them among two threads would save them next to nothing.
    Rows that do not fit into float32 have each problem alone.
    """
    if n_problems == 1 or not fit_into_float32:
        return 1, [slice(p, p + 1) for p in range(n_problems)]

    def n_groups(lanes):
        return -(-n_problems // lanes)

    if n_groups(8) == 1:
        n_jobs = 1
    lanes = min(COST_OF_LANES, key=lambda lanes: -(-n_groups(lanes) // n_jobs) * COST_OF_LANES[lanes])
    groups = np.array_split(np.arange(n_problems), n_groups(lanes))
    return lanes, [slice(int(group[0]), int(group[-1]) + 1) for group in groups]


@dataclass(frozen=True)
class Turn:
    """How one C is to be solved for.

    Parameters
    ----------
    C : float
    enough : float
        A problem is settled when an epoch with all its rows gains less than this part of the dual objective.
    max_epochs : int
    seed : sequence of int
        From which the orders of the rows are drawn.
    shrinks : bool, default=True
        Whether rows that are safely beyond the margin are passed over. It pays from about ten epochs on.
    stretch : float, default=1.0
        How many times as long as the step to the best value of a variable each step is.
    """

    C: float
    enough: float
    max_epochs: int
    seed: tuple
    shrinks: bool = True
    stretch: float = 1.0


class Lanes:
    """Some problems, one in each lane, and how far they have come.

    Parameters
    ----------
    rows : DescentRows
    signs : array of shape (n_problems, n_samples)
        The labels +1 and -1.
    row_weights : array of shape (n_problems, n_samples)
    n_lanes : int
        1, 4 or 8; not less than the number of problems. One lane is float64, several are float32.
    """

    def __init__(self, rows, signs, row_weights, n_lanes):
        self.rows, self.n_problems, self.n_lanes = rows, len(signs), n_lanes
        self.real = np.float64 if n_lanes == 1 else np.float32
        with np.errstate(divide="ignore", over="ignore"):
            self.norms = rows.norms.astype(self.real)
            inverse = (0.5 / row_weights).astype(self.real)
        self.labels, self.inverse = self._in_lanes(signs, 1), self._in_lanes(inverse, np.inf)
        # Bit l of a row is set where it has no part in the problem of lane l.
        self.absent = _bits(~np.isfinite(self.inverse))
        self.inverse[~np.isfinite(self.inverse)] = 1
        self.alpha = self._filled(rows.n_samples, 0)
        self.weights = self._filled(rows.n_features, 0)
        self.intercept = np.zeros(n_lanes if rows.fit_intercept else 0, self.real)
        self.before = None
        self.Cs = []

    def _in_lanes(self, values, fill):
        """Return values (problems, rows) as an array (rows, lanes); ``fill`` is for the lanes to spare."""
        lanes = self._filled(self.rows.n_samples, fill)
        lanes[:, : self.n_problems] = values.T
        return lanes

    def _filled(self, count, value):
        """Return an array (count, lanes) of one value, none of whose rows lies across two cache lines."""
        lanes = empty_rows((count, self.n_lanes), self.real)
        lanes[:] = value
        return lanes

    def solve(self, turn):
        """Go to the optimum for a C. Return for each problem how many epochs it took, and whether it was settled."""
        self._go_on(turn.C)
        return self._settle(turn)

    def solve_exactly(self, turn):
        """Solve the one problem that there is, until its duality gap is less than ``turn.enough`` of the objective.

        Return how many epochs it took, and whether they sufficed. The gain of an epoch only hints at the gap, so
        epochs go on until they gain less and less. The gap shrinks by about the same factor in every epoch: when it
        can be foreseen that there will be too many of them, the rest is left to others.
        """
        self._go_on(turn.C)
        taken, aim, last = 0, turn.enough, np.inf
        while True:
            left = turn.max_epochs - taken
            most, stretch = (EPOCHS_PER_CHECK, STRETCH) if taken else (FIRST_EPOCHS, 1.0)
            seed = *turn.seed, taken
            part = replace(turn, enough=aim, max_epochs=min(left, most), seed=seed, stretch=stretch)
            (epochs,), (settled,) = self._settle(part)
            taken, gap = taken + epochs, self._relative_gap(turn.C)
            if gap <= turn.enough or taken >= turn.max_epochs:
                return taken, gap <= turn.enough
            if settled:
                aim *= min(0.5, max(1e-3, 0.3 * turn.enough / gap))
            elif left / epochs * np.log(last / gap) < 0.5 * np.log(gap / turn.enough):
                return taken, False
            last = gap

    def _settle(self, turn):
        """Take epochs until all problems are settled. Return how many each took, and whether they sufficed."""
        ridge = np.divide(self.inverse, self.real(turn.C), out=empty_rows(self.inverse.shape, self.real))
        objective = self._scale_best(ridge)
        problems = DualProblems(self.labels, ridge, self.norms)
        state = DualState(self.alpha, self.weights, self.intercept, self.absent.copy())
        watch = _Watch(self.n_problems, self.n_lanes, self.real)
        rng = np.random.default_rng(turn.seed)
        while watch.open and watch.epochs.max() < turn.max_epochs:
            gain, violation = np.zeros(self.n_lanes), np.zeros(self.n_lanes, self.real)
            # Which rows are open in some lane depends on all lanes, as no lane may. One alone leaves out closed rows.
            order = rng.permutation(self.rows.n_samples if self.n_lanes > 1 else np.flatnonzero(state.closed == 0))
            epoch = Epoch(order, watch.threshold, watch.settled, turn.stretch, gain, violation)
            self.rows.descend(problems, state, epoch)
            objective += gain
            if not turn.shrinks:
                violation[:] = np.inf
            shrunk = int(np.bitwise_or.reduce(state.closed & ~self.absent))
            reopened = watch.see(gain <= turn.enough * objective, violation, shrunk)
            if reopened:
                state.closed[:] = (state.closed & ~np.uint8(reopened)) | (self.absent & np.uint8(reopened))
        return watch.epochs[: self.n_problems], watch.flags()

    def _relative_gap(self, C):
        """Return by what part of its objective the one problem may at most be improved: the duality gap."""
        alpha, labels = self.alpha[:, 0], self.labels[:, 0]
        inverse = np.where(_lanes_of(self.absent, 1)[:, 0], np.inf, self.inverse[:, 0] / C)
        scores = self.rows.scores(self.weights_of_problems())
        penalty = 0.5 * (self.weights[:, 0] @ self.weights[:, 0] + self.intercept @ self.intercept)
        primal = penalty + 0.5 * (hinge_of(labels, scores) ** 2 / inverse).sum()
        dual = alpha.sum() - penalty - 0.5 * (np.where(alpha > 0, inverse, 0) * alpha) @ alpha
        return (primal - dual) / primal if primal > 0 else 0.0

    def weights_of_problems(self):
        """Return the weights of all problems, the intercept last if there is one: an array (problems, width)."""
        weights = np.empty((self.n_problems, self.rows.n_features + self.rows.fit_intercept))
        self.write_weights(weights)
        return weights

    def write_weights(self, to):
        """Write the weights of all problems to an array (problems, width)."""
        for some in range(0, self.rows.n_features, AT_ONCE):
            part = self.weights[some : some + AT_ONCE, : self.n_problems]
            to[:, some : some + len(part)] = part.T
        if self.rows.fit_intercept:
            to[:, -1] = self.intercept[: self.n_problems]

    def alone(self, lane):
        """Return the problem of a lane by itself, in float64, standing where it stands here."""
        signs, weights = self.labels[:, lane], np.where(_lanes_of(self.absent, lane + 1)[:, lane], 0, 0.5)
        one = Lanes(self.rows, signs[None], (weights / self.inverse[:, lane])[None], 1)
        one.start_from(self.alpha[:, lane][None])
        return one

    def start_from(self, variables):
        """Take up dual variables: an array (problems, rows)."""
        self.alpha[:, : self.n_problems] = np.where(_lanes_of(self.absent, self.n_problems), 0, variables.T)
        self._sum_weights()

    def _go_on(self, C):
        """Let each variable go on as it did before, which is nearer to the optimum for C than where it is now."""
        last, self.Cs = self.Cs[-2:], [*self.Cs, C]
        if len(last) == 2 and last[0] < last[1] < C:
            power = np.log(C / last[1]) / np.log(last[1] / last[0])
            both = (self.before > 0) & (self.alpha > 0)
            change = np.divide(self.alpha, self.before, out=np.ones_like(self.alpha), where=both)
            np.clip(change, 1 / LARGEST_CHANGE, LARGEST_CHANGE, out=change)
            self.before = self.alpha.copy()
            self.alpha *= change if power == 1 else change ** self.real(power)
            self._sum_weights()
        elif len(last):
            self.before = self.alpha.copy()

    def _sum_weights(self):
        """Sum the weights anew from the variables."""
        self.weights[:], self.intercept[:] = 0, 0
        self.rows.add_scaled(self.alpha * self.labels, self.weights, self.intercept)

    def _scale_best(self, ridge):
        """Multiply each problem by the factor that is best for its dual objective, and return the objectives."""
        sums, curvature = np.zeros(self.n_lanes), np.zeros(self.n_lanes)
        for some in range(0, self.rows.n_samples, AT_ONCE):
            alpha = self.alpha[some : some + AT_ONCE].astype(np.float64)
            sums += alpha.sum(axis=0)
            curvature += np.einsum("rl,rl,rl->l", alpha, alpha, ridge[some : some + AT_ONCE])
        for some in range(0, self.rows.n_features, AT_ONCE):
            weights = self.weights[some : some + AT_ONCE].astype(np.float64)
            curvature += np.einsum("fl,fl->l", weights, weights)
        if self.rows.fit_intercept:
            curvature += self.intercept.astype(np.float64) ** 2
        scaled = (sums > 0) & np.isfinite(curvature)
        best = np.divide(sums, curvature, out=np.ones(self.n_lanes), where=scaled)
        factors = best.astype(self.real)
        self.alpha *= factors
        self.weights *= factors
        self.intercept *= factors[: len(self.intercept)]
        return np.where(scaled, 0.5 * sums * best, 0)


class _Watch:
    """The watch over the lanes: it knows which of them have come to rest.

    ``settled`` has the bits of lanes that have, ``threshold`` says from which slope on rows are closed, and ``whole``
    whether the last epoch of a lane had all its rows.
    """

    def __init__(self, n_problems, n_lanes, real):
        self.n_problems = n_problems
        self.everyone = (1 << n_lanes) - 1
        self.settled = everyone_from(n_problems, n_lanes)
        self.epochs = np.zeros(n_lanes, dtype=int)
        self.threshold = np.full(n_lanes, np.inf, real)
        self.whole = np.ones(n_lanes, dtype=bool)

    @property
    def open(self):
        """Whether some lane has not come to rest."""
        return self.settled != self.everyone

    def flags(self):
        """Return for each problem whether it is settled."""
        return np.array([self.settled >> lane & 1 == 1 for lane in range(self.n_problems)])

    def see(self, rests, violation, shrunk):
        """Take note of an epoch: which lanes gained too little, and which have closed rows.

        A lane that gains little on some of its rows must try all of them again. Return the bits of such lanes.
        """
        reopened = 0
        for lane in range(self.n_problems):
            bit = 1 << lane
            if self.settled & bit:
                continue
            self.epochs[lane] += 1
            if not rests[lane]:
                self.threshold[lane], self.whole[lane] = violation[lane], not shrunk & bit
            elif self.whole[lane]:
                self.settled |= bit
            else:
                self.threshold[lane], self.whole[lane] = np.inf, True
                reopened |= bit
        return reopened


def everyone_from(first, end):
    """Return the bits of the lanes from ``first`` up to ``end``."""
    return (1 << end) - (1 << first)


def _bits(flags):
    """Return flags (rows, lanes) as one byte per row."""
    return np.packbits(flags, axis=1, bitorder="little").ravel()


def _lanes_of(bits, count):
    """Return the flags (rows, count) of one byte per row."""
    return np.unpackbits(bits[:, None], axis=1, bitorder="little")[:, :count].astype(bool)
