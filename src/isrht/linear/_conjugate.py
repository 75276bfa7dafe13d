"""Newton's method by conjugate gradients, for data with many features.

The Hessian is never formed. Conjugate gradients, preconditioned by its diagonal, need only its products with vectors,
which are sums over rows like everything else: ``H v = v + 2 C X_A' S (X_A v)``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht.linear._newton import PROBLEMS_PER_PASS, Newton, State
from isrht.linear._objective import hinge_of, is_active
from isrht.support.matrices import as_float64

# Conjugate gradients per Newton step. Short of it the step is still one of descent.
MAX_CG_STEPS = 1000
# How exact a direction is, at the optimum and far from it. That a step is not worth taking may be known less exactly.
ACCURACY = 1e-2, 1e-1
ACCURACY_OF_LITTLE = 0.3


class ConjugateNewton(Newton):
    """A solver that finds directions by conjugate gradients; ``curvature`` is the diagonal of the Gram matrix."""

    def problems_in_memory(self):
        """Return how many problems may be solved together."""
        return PROBLEMS_PER_PASS

    def state_at_zero(self, problems):
        """Return the :class:`State` of some problems at zero."""
        weights = np.zeros((len(problems), self.width))
        return State(problems, weights, *self.sum(self.evaluate, problems, weights, None))

    def evaluate(self, block, problems, weights, _reference):
        """Return loss, gradient and the diagonal of the Gram matrix at ``weights``."""
        X = as_float64(block.X)
        signs, row_weights = problems.signs(block), problems.row_weights(block)
        hinge = hinge_of(signs, self.scores(X, weights))
        active_weights = row_weights * (hinge > 0)
        loss, gradient = self.loss_and_gradient(X, signs, row_weights, hinge)
        return loss, gradient, self.times_transposed(squared(X), active_weights)

    def update_curvature(self, state, p, diagonal):
        """Take the diagonal of problem ``p`` that was summed with its last step."""
        state.curvature[p] = diagonal

    def refresh(self, state, C):
        """Sum the diagonals anew if they have been released."""
        if state.curvature is None:
            *_, state.curvature = self.sum(self.evaluate, state.problems, state.weights, None)

    def directions(self, state, open_, C, rate):
        """Return the step of each open problem, and the decrease of the objective that it promises.

        All problems take their conjugate gradients together, one pass for each of them. The nearer a problem is to its
        optimum the more exact is its direction, which keeps Newton's last steps fast.
        """
        gradients = self.gradients(state, open_, C)
        precondition = 1 / (self.damped_ridge + 2 * C * state.curvature[open_])
        little = self.smallest_decrease * self.objective(state.weights, state.loss, C)[open_]
        directions = np.zeros_like(gradients)
        decrease = np.zeros(len(open_))
        residual = -gradients
        search = precondition * residual
        size = (residual * search).sum(axis=1)
        first_size = size.copy()
        running = np.flatnonzero(size > 0)
        for step in range(1, MAX_CG_STEPS + 1):
            if len(running) == 0 or self.is_spent():
                break
            chosen, along = open_[running], search[running]
            product = self.sum(self.gram_product, state.problems[chosen], state.weights[chosen], along)
            product = self.damped_ridge * along + 2 * C * product
            length = size[running] / (along * product).sum(axis=1)
            directions[running] += length[:, None] * along
            residual[running] -= length[:, None] * product
            gained = 0.5 * length * size[running]
            decrease[running] += gained
            conditioned = precondition[running] * residual[running]
            new_size = (residual[running] * conditioned).sum(axis=1)
            search[running] = conditioned + (new_size / size[running])[:, None] * along
            size[running] = new_size
            far = np.clip(np.sqrt(rate[running]), *ACCURACY)
            accuracy = np.where(decrease[running] <= little[running], ACCURACY_OF_LITTLE, far)
            enough = accuracy**2 * first_size[running]
            done = (new_size <= enough) & (step * gained <= accuracy * decrease[running])
            running = running[~done & (new_size > 0)]
        return directions, decrease

    def gram_product(self, block, problems, weights, along):
        """Return the products of the Gram matrices of a block with the vectors ``along``: a row per problem."""
        X = as_float64(block.X)
        active = is_active(problems.signs(block), self.scores(X, weights))
        return self.times_transposed(X, problems.row_weights(block) * active * self.scores(X, along))


def squared(X):
    """Return the squares of all values of an array or sparse matrix."""
    return X.multiply(X) if sp.issparse(X) else X * X
