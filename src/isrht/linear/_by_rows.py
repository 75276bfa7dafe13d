"""Newton's method for dense rows of which few are active: exact directions, from the products of rows with each other.

With Z the active rows and S their weights, the Hessian ``I + 2 C Z' S Z`` is inverted by Woodbury's identity, which has
one unknown for each active row instead of one for each feature:

    H^-1 g = g - Z' (Z Z' + S^-1 / (2 C))^-1 Z g.

The products of rows depend neither on C nor on weights, labels or folds. So they are kept, and from step to step only
those of rows that have become active are added. Conjugate gradients, which read all active rows for each product with
the Hessian, take hundreds of them where C is large.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from isrht.linear._in_memory import NewtonInMemory, keys_of
from isrht.rows.blocks import Block
from isrht.support.matrices import as_float64

# The products of so many rows are held: 256 MB, and as much again while a direction is found.
MOST_ROWS = isqrt(2**25)
# So many values of rows are copied at once: 128 MB.
VALUES_AT_ONCE = 2**24


class RowProducts:
    """The scalar products of rows with each other, as far as they have been asked for.

    Parameters
    ----------
    X : ndarray
    fit_intercept : bool
        Whether each row has one more feature, of the value 1.
    """

    def __init__(self, X, fit_intercept):
        self.X, self.fit_intercept = X, fit_intercept
        self.forget()

    def forget(self):
        """Begin anew."""
        self.rows, self.products = np.empty(0, dtype=np.intp), np.empty((0, 0))

    def among(self, rows):
        """Return the products of some rows with each other, as an array that may be changed."""
        new = np.setdiff1d(rows, self.rows)
        if len(self.rows) + len(new) > MOST_ROWS:
            self.forget()
            new = rows
        if len(new):
            self._add(new)
        place = np.empty(self.X.shape[0], dtype=np.intp)
        place[self.rows] = np.arange(len(self.rows))
        return self.products[np.ix_(place[rows], place[rows])]

    def _add(self, new):
        known, count = len(self.rows), len(self.rows) + len(new)
        products = np.full((count, count), float(self.fit_intercept))
        products[:known, :known] = self.products
        step = max(1, VALUES_AT_ONCE // count)
        for first in range(0, self.X.shape[1], step):
            features = slice(first, first + step)
            of_new = as_float64(self.X[new, features])
            products[known:, known:] += of_new @ of_new.T
            if known:
                products[known:, :known] += of_new @ as_float64(self.X[self.rows, features]).T
        products[:known, known:] = products[known:, :known].T
        self.rows, self.products = np.concatenate([self.rows, new]), products


class NewtonByRows(NewtonInMemory):
    """A solver that finds exact directions where few enough rows are active, and others by conjugate gradients.

    Parameters
    ----------
    blocks : RowBlocks
        Dense rows in memory.
    options : SolverOptions
    """

    def __init__(self, blocks, options):
        super().__init__(blocks, options)
        self.row_products = RowProducts(blocks.X, self.fit_intercept)

    def minimise(self, state, C):
        """Move ``state`` to the optimum for C, and give back the memory of the products."""
        result = super().minimise(state, C)
        self.row_products.forget()
        return result

    def directions(self, state, open_, C, rate):
        """Return the step of each open problem, and the decrease of the objective that it promises."""
        self.know_all_active(state, open_)
        try:
            directions, decrease = self.exact_directions(state, open_, C)
        except LinAlgError:
            return super().directions(state, open_, C, rate)
        return (directions, decrease) if (decrease >= 0).all() else super().directions(state, open_, C, rate)

    def exact_directions(self, state, open_, C):
        """Return the exact steps, and what they promise. Raise LinAlgError where they cannot be had."""
        active = [self.active_rows(key) for key in keys_of(state.problems[open_])]
        if max(len(rows) for rows, _ in active) > MOST_ROWS:
            raise LinAlgError("too many rows are active")
        gradients = self.gradients(state, open_, C)
        slopes = np.hstack(list(self.blocks.map(lambda block: self.scores(block.X, gradients), self.n_jobs)))
        factors = np.zeros_like(slopes)
        for p, (rows, weights) in enumerate(active):
            factors[p, rows] = self.solve_among(rows, weights, C, slopes[p, rows])
        directions = self.sum(self.combined, factors) - gradients
        return directions, -0.5 * (directions * gradients).sum(axis=1)

    def solve_among(self, rows, weights, C, right):
        """Return ``(Z Z' + S^-1 / (2 C))^-1 right`` for some rows Z. Raise LinAlgError where it cannot be had."""
        if len(rows) == 0:
            return right
        matrix = self.row_products.among(rows)
        matrix[np.diag_indices_from(matrix)] += 0.5 / (C * weights)
        return cho_solve(cho_factor(matrix, overwrite_a=True, check_finite=False), right, check_finite=False)

    def state_near(self, problems, weights, supports, C):
        """Return the :class:`State` of problems that are near their optimum for C.

        Dual variables know better than weights which rows will be active. So the weights that would be the optimum if
        the *support*, the rows whose variables are not zero, were just the active rows, are taken if they are better.
        """
        state = self.state_at(problems, weights)
        state.solved_for = C
        whole = Block(0, self.blocks.X, self.blocks.y, self.blocks.sample_weight)
        signs, row_weights = problems.signs(whole), problems.row_weights(whole)
        factors = np.zeros_like(signs)
        try:
            if max(map(len, supports)) > MOST_ROWS:
                return state
            for p, rows in enumerate(supports):
                factors[p, rows] = self.solve_among(rows, row_weights[p, rows], C, signs[p, rows])
        except LinAlgError:
            return state
        self.move(state, np.arange(len(problems)), self.sum(self.combined, factors) - weights, 0.0, C)
        return state

    def active_rows(self, key):
        """Return the numbers and the weights of all rows that are active in a problem."""
        known = [(start, active[key][1]) for start, active in sorted(self.active.items())]
        rows = np.concatenate([start + active.rows for start, active in known])
        return rows, np.concatenate([active.weights for _, active in known])

    def combined(self, block, factors):
        """Return the sums of the rows of a block times their factors: a row per problem."""
        return self.times_transposed(as_float64(block.X), factors[:, block.rows])
