"""Newton's method for the squared-hinge SVM, as sums over blocks of rows.

For one two-class problem with labels y = +1/-1, row weights s and scores f = X w + b, the objective is

    0.5 * (|w|^2 + b^2) + C * sum_i s_i * max(0, 1 - y_i f_i)^2.

It is smooth and piecewise quadratic: the gradient is ``w - 2 C X' (s y hinge)`` and the Hessian is
``I + 2 C X_A' S X_A``, where A are the *active* rows, those with y f < 1. Three consequences are used.

* The loss, its gradient and the Gram matrix ``X_A' S X_A`` do not depend on C. What was summed at the optimum
  for one C is the start for the next, so walking up a path of Cs costs no pass over the data.
* Only rows that enter or leave A change the Gram matrix. One pass scores the rows by the old and by the new
  weights and adds or subtracts the few that changed; it needs no memory of the rows between passes.
* Any number of problems (the classes of one-vs-rest, the folds of a cross-validation) share a pass: a fold is
  a column of row weights that is zero on the rows held out.

With many features, and for sparse rows with more than a few, the Hessian is never formed: conjugate
gradients, preconditioned by its diagonal, need only its products with vectors, which are sums over rows too.

The stop is Newton's decrement: ``0.5 * g' H^-1 g`` is the decrease of the objective that the next step
promises, whatever C and the units of the features. A problem is solved when the promise is less than tol^2
of the objective, so that tol is about the relative error of the weights.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from threadpoolctl import ThreadpoolController

from isrht.blocks import RowBlocks, default_block_rows, is_sparse
from isrht.validation import check_no_overflow

# A Hessian of this width takes a fifth of a second to factor; conjugate gradients are cheaper from here on.
EXACT_FEATURES = 2500
# Sparse rows have no BLAS, so their Gram matrix pays only where it is small; there it also spares
# ill-conditioned data the many steps of conjugate gradients. No row is made dense for it.
SPARSE_EXACT_FEATURES = 400
# Gram matrices held at once: 256 MB. Problems beyond that take turns, and sum theirs anew for every C.
GRAM_ELEMENTS = 2**25
# Problems per pass; a block of rows has this many columns of scores, weights and labels.
PROBLEMS_PER_PASS = 64
# No tolerance asks for a smaller promise than this part of the objective, which is about its rounding; and a
# promise below the second that no step along the line can keep is rounding, too.
SMALLEST_DECREASE = 1e-14
ROUNDING = 1e-10
# Subtracting rows leaves the rounding of the largest sum behind; beyond this ratio it is summed anew.
CANCELLATION = 100.0
# How much smaller the C is that a problem too far from its optimum is solved for first, and how roughly.
STAGE = 8.0
ROUGH_DECREASE = 1e-2
# Where going back to a smaller C ends.
SMALLEST_C = 2.0**-20
# Conjugate gradients per Newton step. Short of it the step is still one of descent.
MAX_CG_STEPS = 1000


class Solution(NamedTuple):
    """The optimum for one C. The first axis counts folds, the second the two-class problems of one fold."""

    C: float
    coef: np.ndarray
    intercept: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray


def fit_path(blocks, Cs, *, n_classes=2, fit_intercept=True, tol=1e-6, max_iter=100, n_jobs=None):
    """Yield a :class:`Solution` for every C in ascending order, each starting where the one before ended.

    Parameters
    ----------
    blocks : RowBlocks
        ``y`` holds class numbers from 0 to ``n_classes - 1``. ``sample_weight`` is None, one weight per row,
        or one column of them per fold.
    Cs : array of float
    n_classes : int
        Two classes are one problem, whose positive class is 1; more are one problem each, against the rest.
    """
    n_folds = 1 if np.ndim(blocks.sample_weight) < 2 else blocks.sample_weight.shape[1]
    positive = np.arange(n_classes) if n_classes > 2 else np.array([1])
    problems = Problems(np.repeat(np.arange(n_folds), len(positive)), np.tile(positive, n_folds))
    exact = blocks.n_features <= (SPARSE_EXACT_FEATURES if is_sparse(blocks.X) else EXACT_FEATURES)
    solver = (ExactNewton if exact else ConjugateNewton)(blocks, fit_intercept, tol, max_iter, n_jobs)

    groups = [solver.start(problems[group]) for group in solver.groups(len(problems))]
    for state in groups:
        check_no_overflow("features", state.gradient, state.curvature)
    for C in np.sort(np.asarray(Cs, dtype=np.float64)):
        with quiet():
            results = zip(*[solver.minimise(state, C) for state in groups], strict=True)
        for state in groups:
            check_no_overflow("features", state.weights)
        if len(groups) > 1:
            for state in groups:
                state.forget_curvature()
        weights = np.concatenate([state.weights for state in groups]).reshape(n_folds, len(positive), -1)
        n_iter, converged = (np.concatenate(parts).reshape(n_folds, -1) for parts in results)
        coef = weights[..., : blocks.n_features]
        intercept = weights[..., -1] if fit_intercept else np.zeros(coef.shape[:2])
        yield Solution(float(C), coef, intercept, n_iter, converged)


def training_blocks(X, y, sample_weight=None):
    """Rows in blocks large enough that adding up Gram matrices costs less than computing them."""
    rows = default_block_rows(X)
    if not is_sparse(X) and X.shape[1] <= EXACT_FEATURES:
        rows = max(rows, 2 * X.shape[1])
    return RowBlocks(X, y, sample_weight, block_rows=rows)


@dataclass(frozen=True)
class Problems:
    """Two-class problems that share the rows: which column of weights, and which class is positive."""

    fold: np.ndarray
    positive: np.ndarray

    def __len__(self):
        return len(self.fold)

    def __getitem__(self, chosen):
        return Problems(self.fold[chosen], self.positive[chosen])

    def signs(self, block):
        return np.where(block.y == self.positive[:, None], 1.0, -1.0)

    def row_weights(self, block):
        return fold_weights(block)[self.fold]


@dataclass
class State:
    """The iterate of each problem and what the last pass summed there, none of which depends on C.

    ``curvature`` is the Gram matrix of the active rows, or its diagonal; ``peak`` the largest its diagonal
    was since it was last summed from nothing; ``solved_for`` is the C of which the iterate is the optimum.
    """

    problems: Problems
    weights: np.ndarray
    loss: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray | None
    peak: np.ndarray | None = None
    solved_for: float = 0.0

    def forget_curvature(self):
        self.curvature = None


class Newton:
    """What the two ways of solving for a direction have in common: passes, steps, and when to stop."""

    def __init__(self, blocks, fit_intercept, tol, max_iter, n_jobs):
        self.blocks = blocks
        self.fit_intercept = fit_intercept
        self.width = blocks.n_features + fit_intercept
        self.smallest_decrease = max(tol**2, SMALLEST_DECREASE)
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def __getstate__(self):
        """Without the rows: the functions of a block go to the workers of a cluster, which have the rows."""
        return {**vars(self), "blocks": None}

    def groups(self, n_problems):
        size = min(PROBLEMS_PER_PASS, self.problems_in_memory())
        return [slice(first, first + size) for first in range(0, n_problems, size)]

    def sum(self, function, *args):
        def of_block(block):
            with quiet():
                return function(block, *args)

        return self.blocks.sum(of_block, self.n_jobs)

    def minimise(self, state, C):
        """Move ``state`` to the optimum for C. Return the number of steps, and whether it was reached."""
        n_iter = np.zeros(len(state.problems), dtype=int)
        converged = self.descend(state, C, np.arange(len(state.problems)), self.smallest_decrease, n_iter)
        state.solved_for = C
        return n_iter, converged

    def descend(self, state, C, chosen, smallest_decrease, n_iter):
        """Newton steps for the chosen problems until they promise too little; say for which of all they do.

        A full step that does not keep a tenth of its promise started too far from the optimum. Unless the
        start was already the optimum for a C not much smaller, one for such a C comes first: its objective is
        nearer to quadratic. After that the best step along the line serves, which always moves.
        """
        count = len(state.problems)
        rate = np.full(count, np.inf)
        converged, retried = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        staged = max(state.solved_for, SMALLEST_C) < C / STAGE
        open_ = chosen
        while len(open_):
            self.refresh(state, C)
            direction, decrease = self.directions(state, open_, C, rate[open_])
            rate[open_] = decrease / objective(state.weights, state.loss, C)[open_]
            converged[open_] = rate[open_] <= smallest_decrease
            going = ~converged[open_] & (n_iter[open_] < self.max_iter)
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
        """Go where the objective falls by more than ``decrease``; say where it did."""
        weights = state.weights[chosen]
        new = weights + direction
        loss, gradient, curvature = self.sum(self.evaluate, state.problems[chosen], new, weights)
        better = objective(new, loss, C) < objective(weights, state.loss[chosen], C) - decrease
        for k in np.flatnonzero(better):
            p = chosen[k]
            state.weights[p], state.loss[p], state.gradient[p] = new[k], loss[k], gradient[k]
            self.update_curvature(state, p, curvature[k])
        return better

    def line_search(self, state, chosen, direction, C):
        """The step at which the slope along the line changes sign.

        The objective is convex, so its slope along the line rises. One pass takes it at many points; the next
        looks closer at the interval where it changes sign, at least once and until that excludes zero.
        """
        weights = state.weights[chosen]
        column = np.arange(len(chosen))
        low, high = np.zeros(len(chosen)), np.ones(len(chosen))
        for zoom in range(8):
            lengths = low + (high - low) * np.linspace(0, 1, 17)[:, None]
            slopes = (weights * direction).sum(axis=1) + lengths * (direction**2).sum(axis=1)
            slopes += C * self.sum(self.line_slopes, state.problems[chosen], weights, direction, lengths)
            last_falling = np.clip((slopes <= 0).sum(axis=0) - 1, 0, 15)
            low, high = lengths[last_falling, column], lengths[last_falling + 1, column]
            if zoom and np.all(low > 0):
                break
        fall, rise = -slopes[last_falling, column], slopes[last_falling + 1, column]
        return low + (high - low) * np.clip(fall / np.maximum(fall + rise, np.finfo(float).tiny), 0, 1)

    def line_slopes(self, block, problems, weights, direction, lengths):
        X = as_float64(block.X)
        signs, row_weights = problems.signs(block), problems.row_weights(block)
        slack, change = 1 - signs * self.scores(X, weights), signs * self.scores(X, direction)
        return np.stack(
            [
                -2 * (row_weights * change * np.maximum(0, slack - length[:, None] * change)).sum(axis=1)
                for length in lengths
            ]
        )

    def loss_and_gradient(self, X, signs, row_weights, hinge):
        pull = row_weights * hinge
        loss = np.einsum("pi,pi->p", pull, hinge)
        pull *= signs
        return loss, -2 * self.times_transposed(X, pull)

    def scores(self, X, weights):
        """(problems, rows), from (problems, width)."""
        scores = (X @ weights[:, : X.shape[1]].T).T if sp.issparse(X) else weights[:, : X.shape[1]] @ X.T
        if self.fit_intercept:
            scores += weights[:, -1:]
        return scores

    def times_transposed(self, X, pull):
        """(problems, width), from (problems, rows)."""
        features = (X.T @ pull.T).T if sp.issparse(X) else pull @ X
        return np.hstack([features, pull.sum(axis=1, keepdims=True)]) if self.fit_intercept else features


class ExactNewton(Newton):
    """The direction from a Cholesky factor of the Hessian; ``curvature`` is the Gram matrix."""

    def problems_in_memory(self):
        return max(1, GRAM_ELEMENTS // self.width**2)

    def start(self, problems):
        weights = np.zeros((len(problems), self.width))
        loss, gradient, _ = self.sum(self.evaluate, problems, weights, weights)
        used, places = np.unique(problems.fold, return_inverse=True)
        grams = np.stack(self.sum(self.grams_of_folds, used))[places]
        return State(problems, weights, loss, gradient, grams, np.diagonal(grams, axis1=1, axis2=2).copy())

    def grams_of_folds(self, block, folds):
        """At zero all rows are active, and the folds differ in what they leave out of one common sum."""
        weights = fold_weights(block)[folds]
        most = weights.max(axis=0)
        total = self.gram(block.X, most)
        return tuple(total - self.gram(block.X, most - fold) for fold in weights)

    def evaluate(self, block, problems, weights, reference):
        """Loss and gradient at ``weights``, and by how much their Gram matrices differ from the reference."""
        X = as_float64(block.X)
        signs, row_weights = problems.signs(block), problems.row_weights(block)
        # One product for both: it costs hardly more than for one, as reading the rows is what takes time.
        scores, old_scores = np.split(self.scores(X, np.vstack([weights, reference])), 2)
        hinge = np.maximum(0, 1 - signs * scores)
        loss, gradient = self.loss_and_gradient(X, signs, row_weights, hinge)
        now, before = hinge > 0, signs * old_scores < 1
        entered, left = row_weights * (now & ~before), row_weights * (before & ~now)
        changes = tuple(self.gram(X, entered[p]) - self.gram(X, left[p]) for p in range(len(problems)))
        return loss, gradient, changes

    def grams(self, block, problems, weights):
        X = as_float64(block.X)
        signs, row_weights = problems.signs(block), problems.row_weights(block)
        active = signs * self.scores(X, weights) < 1
        return tuple(self.gram(X, row_weights[p] * active[p]) for p in range(len(problems)))

    def gram(self, X, row_weights):
        """``X' diag(row_weights) X`` with the column of the intercept, or just 0 when no row has a weight."""
        rows = np.flatnonzero(row_weights)
        if len(rows) == 0:
            return 0.0
        if sp.issparse(X):
            return self.sparse_gram(X[rows], row_weights[rows])
        scaled = np.empty((len(rows), self.width))
        scaled[:, : X.shape[1]] = X[rows]
        scaled[:, X.shape[1] :] = 1
        scaled *= np.sqrt(row_weights[rows])[:, None]
        return scaled.T @ scaled

    def sparse_gram(self, X, row_weights):
        X = as_float64(X)
        product = (X.T @ X.multiply(row_weights[:, None])).tocoo()
        gram = np.zeros((self.width, self.width))
        gram[product.row, product.col] = product.data
        if self.fit_intercept:
            gram[-1] = gram[:, -1] = self.times_transposed(X, row_weights[None])
        return gram

    def update_curvature(self, state, p, change):
        state.curvature[p] += change
        np.maximum(state.peak[p], state.curvature[p].diagonal(), out=state.peak[p])

    def refresh(self, state, C):
        """Sum a Gram matrix anew where too little is left of what it once was."""
        if state.curvature is None:
            state.curvature = np.empty((len(state.problems), self.width, self.width))
            stale = np.arange(len(state.problems))
        else:
            diagonal = np.diagonal(state.curvature, axis1=1, axis2=2)
            stale = np.flatnonzero((state.peak > CANCELLATION * (diagonal + 0.5 / C)).any(axis=1))
        if len(stale):
            self.sum_anew(state, stale)

    def sum_anew(self, state, stale):
        grams = self.sum(self.grams, state.problems[stale], state.weights[stale])
        for p, gram in zip(stale, grams, strict=True):
            state.curvature[p] = gram
            state.peak[p] = state.curvature[p].diagonal()

    def directions(self, state, open_, C, rate):
        gradients = state.weights[open_] + C * state.gradient[open_]
        directions = np.stack([-solve_hessian(state.curvature[p], C, g) for p, g in zip(open_, gradients, strict=True)])
        return directions, -0.5 * (directions * gradients).sum(axis=1)


class ConjugateNewton(Newton):
    """The direction by conjugate gradients; ``curvature`` is the diagonal of the Gram matrix."""

    def problems_in_memory(self):
        return PROBLEMS_PER_PASS

    def start(self, problems):
        weights = np.zeros((len(problems), self.width))
        return State(problems, weights, *self.sum(self.evaluate, problems, weights, None))

    def evaluate(self, block, problems, weights, _reference):
        X = as_float64(block.X)
        signs, row_weights = problems.signs(block), problems.row_weights(block)
        hinge = np.maximum(0, 1 - signs * self.scores(X, weights))
        active_weights = row_weights * (hinge > 0)
        loss, gradient = self.loss_and_gradient(X, signs, row_weights, hinge)
        return loss, gradient, self.times_transposed(squared(X), active_weights)

    def update_curvature(self, state, p, diagonal):
        state.curvature[p] = diagonal

    def refresh(self, state, C):
        if state.curvature is None:
            *_, state.curvature = self.sum(self.evaluate, state.problems, state.weights, None)

    def directions(self, state, open_, C, rate):
        """Preconditioned conjugate gradients for all open problems at once, one pass for each step.

        The nearer the optimum the more exact the direction, which keeps Newton's last steps fast.
        """
        gradients = state.weights[open_] + C * state.gradient[open_]
        precondition = 1 / (1 + 2 * C * state.curvature[open_])
        accuracy = np.clip(np.sqrt(rate), 1e-3, 1e-2)
        directions = np.zeros_like(gradients)
        decrease = np.zeros(len(open_))
        residual = -gradients
        search = precondition * residual
        size = (residual * search).sum(axis=1)
        enough = accuracy**2 * size
        running = np.flatnonzero(size > 0)
        for step in range(1, MAX_CG_STEPS + 1):
            if len(running) == 0:
                break
            chosen, along = open_[running], search[running]
            product = along + 2 * C * self.sum(self.gram_product, state.problems[chosen], state.weights[chosen], along)
            length = size[running] / (along * product).sum(axis=1)
            directions[running] += length[:, None] * along
            residual[running] -= length[:, None] * product
            gained = 0.5 * length * size[running]
            decrease[running] += gained
            conditioned = precondition[running] * residual[running]
            new_size = (residual[running] * conditioned).sum(axis=1)
            search[running] = conditioned + (new_size / size[running])[:, None] * along
            size[running] = new_size
            done = (new_size <= enough[running]) & (step * gained <= accuracy[running] * decrease[running])
            running = running[~done & (new_size > 0)]
        return directions, decrease

    def gram_product(self, block, problems, weights, along):
        X = as_float64(block.X)
        active = problems.signs(block) * self.scores(X, weights) < 1
        return self.times_transposed(X, problems.row_weights(block) * active * self.scores(X, along))


def objective(weights, loss, C):
    return 0.5 * (weights**2).sum(axis=1) + C * loss


def fold_weights(block):
    """(folds, rows)."""
    if block.sample_weight is None:
        return np.ones((1, block.X.shape[0]))
    return np.atleast_2d(as_float64(block.sample_weight).T)


def as_float64(X):
    return X.astype(np.float64, copy=False)


def squared(X):
    return X.multiply(X) if sp.issparse(X) else X * X


def quiet():
    """Let numbers overflow without a word: :func:`fit_path` tells. It holds in one thread: each block needs its own."""
    return np.errstate(over="ignore", invalid="ignore")


def solve_hessian(gram, C, gradient):
    """``(I + 2 C gram)^-1 gradient``; where rounding hides the identity, with a little more diagonal."""
    hessian = 2 * C * gram
    diagonal = 1 + hessian.diagonal()
    for damping in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):
        np.fill_diagonal(hessian, diagonal * (1 + damping))
        try:
            return cho_solve(cho_factor(hessian, check_finite=False), gradient, check_finite=False)
        except LinAlgError:
            continue
    return gradient / diagonal


class _BlasThreads:
    """Counts who wants BLAS held to one thread: the first to come sets it, the last to leave restores it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.users = 0
        self.limits = None
        self.libraries = None

    def hold(self):
        if self.libraries is None:  # looking for them takes milliseconds, and NumPy's and SciPy's are loaded by now
            self.libraries = ThreadpoolController()
        return self.libraries.limit(limits=1, user_api="blas")


_blas = _BlasThreads()


@contextmanager
def one_blas_thread():
    """Hold BLAS to one thread, also when several threads of this process ask for it at overlapping times.

    Rows are shared among ``n_jobs`` threads already, and on matrices this small more threads only get in each
    other's way. It also makes the result the same, to the bit, for any number of jobs.
    """
    with _blas.lock:
        if _blas.users == 0:
            _blas.limits = _blas.hold()
        _blas.users += 1
    try:
        yield
    finally:
        with _blas.lock:
            _blas.users -= 1
            if _blas.users == 0:
                _blas.limits.restore_original_limits()
