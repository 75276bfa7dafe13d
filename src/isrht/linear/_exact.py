"""Newton's method with the exact Hessian, for data with few features.

The Hessian is ``I + 2 C G`` with the Gram matrix ``G = X_A' S X_A`` of the active rows. Only rows that enter or leave A
change G. One pass scores the rows by the old and by the new weights and adds or subtracts the few that changed; it
needs no memory of the rows between passes.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from isrht import kernels
from isrht.kernels.records import CsrRows, csr_rows
from isrht.linear._newton import Newton, State
from isrht.linear._objective import hinge_of, is_active
from isrht.linear._problems import weights_by_fold
from isrht.support.matrices import as_float64

# Gram matrices held at once: 256 MB. Problems beyond that take turns, and sum theirs anew for every C.
GRAM_ELEMENTS = 2**25
# Subtracting rows leaves the rounding of the largest sum behind; beyond this ratio it is summed anew.
CANCELLATION = 100.0


class ExactNewton(Newton):
    """A solver that finds directions by a Cholesky factor of the Hessian; ``curvature`` is the Gram matrix."""

    def problems_in_memory(self):
        """Return how many problems may be solved together."""
        return max(1, GRAM_ELEMENTS // self.width**2)

    def state_at_zero(self, problems):
        """Return the :class:`State` of some problems at zero, where all rows are active."""
        weights = np.zeros((len(problems), self.width))
        used, places = np.unique(problems.fold, return_inverse=True)
        loss, gradient, grams = self.sum(self.evaluate_at_zero, problems, weights, used)
        grams = np.stack(grams)[places]
        return State(problems, weights, loss, gradient, grams, np.diagonal(grams, axis1=1, axis2=2).copy())

    def evaluate_at_zero(self, block, problems, weights, folds):
        """Return loss and gradient at zero, and the Gram matrix of all rows of a block for each of the folds."""
        loss, gradient, _ = self.evaluate(block, problems, weights, weights)
        return loss, gradient, self.grams_of_folds(block, folds)

    def grams_of_folds(self, block, folds):
        """Return the Gram matrix of all rows of a block, for each of the folds.

        The folds differ only in what they hold out of one common sum, so that sum is computed once.
        """
        weights = weights_by_fold(block)[folds]
        most = weights.max(axis=0)
        total = self.gram(block.X, most)
        return tuple(total - self.gram(block.X, most - fold) for fold in weights)

    def evaluate(self, block, problems, weights, reference):
        """Return loss and gradient at ``weights``, and how the Gram matrices differ from those at ``reference``."""
        X = as_float64(block.X)
        signs, row_weights = problems.signs(block), problems.row_weights(block)
        # One product for both: it costs hardly more than for one, as reading the rows is what takes time.
        scores, old_scores = np.split(self.scores(X, np.vstack([weights, reference])), 2)
        hinge = hinge_of(signs, scores)
        loss, gradient = self.loss_and_gradient(X, signs, row_weights, hinge)
        now, before = hinge > 0, is_active(signs, old_scores)
        entered, left = row_weights * (now & ~before), row_weights * (before & ~now)
        changes = tuple(self.gram(X, entered[p]) - self.gram(X, left[p]) for p in range(len(problems)))
        return loss, gradient, changes

    def grams(self, block, problems, weights):
        """Return the Gram matrix of the active rows of a block, for each problem."""
        X = as_float64(block.X)
        signs, row_weights = problems.signs(block), problems.row_weights(block)
        active = is_active(signs, self.scores(X, weights))
        return tuple(self.gram(X, row_weights[p] * active[p]) for p in range(len(problems)))

    def gram(self, X, row_weights):
        """Return ``X' diag(row_weights) X`` with the column of the intercept, or just 0 when no row has a weight."""
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
        """Return the Gram matrix of sparse rows. No row is made dense for it."""
        n_features = X.shape[1]
        pairs, squares = np.zeros((n_features, n_features)), np.zeros(n_features)
        rows = CsrRows(*map(np.ascontiguousarray, csr_rows(X)))
        kernels.engine.add_gram_csr(rows, np.sqrt(row_weights), pairs, squares)
        gram = np.empty((self.width, self.width))
        gram[:n_features, :n_features] = pairs + pairs.T
        if self.fit_intercept:
            gram[-1] = gram[:, -1] = self.times_transposed(X, row_weights[None])
        gram[np.arange(n_features), np.arange(n_features)] += squares
        return gram

    def update_curvature(self, state, p, change):
        """Add to the Gram matrix of problem ``p`` what its last step changed."""
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
        """Sum the Gram matrices of some problems from nothing, which ends the rounding of earlier changes."""
        grams = self.sum(self.grams, state.problems[stale], state.weights[stale])
        for p, gram in zip(stale, grams, strict=True):
            state.curvature[p] = gram
            state.peak[p] = state.curvature[p].diagonal()

    def directions(self, state, open_, C, rate):
        """Return the Newton step of each open problem, and the decrease of the objective that it promises."""
        gradients, ridge = self.gradients(state, open_, C), self.damped_ridge
        directions = np.stack(
            [-solve_hessian(state.curvature[p], C, g, ridge) for p, g in zip(open_, gradients, strict=True)]
        )
        return directions, -0.5 * (directions * gradients).sum(axis=1)


def solve_hessian(gram, C, gradient, ridge=1.0):
    """Return ``(I + 2 C gram)^-1 gradient``; where rounding hides the identity, with a little more diagonal.

    The diagonal of I is ``ridge``.
    """
    hessian = 2 * C * gram
    diagonal = ridge + hessian.diagonal()
    for damping in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):
        np.fill_diagonal(hessian, diagonal * (1 + damping))
        try:
            return cho_solve(cho_factor(hessian, check_finite=False), gradient, check_finite=False)
        except LinAlgError:
            continue
    return gradient / diagonal
