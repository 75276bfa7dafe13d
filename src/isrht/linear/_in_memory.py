"""Newton's method by conjugate gradients, for rows in memory: what can be remembered of them from pass to pass is.

The rows have been checked once for all products with the Hessian (``CheckedCsr``), which are compiled
(``core/linear/gram.hpp``), and which rows are active is known from the scores that accepted the last step. Where rows
are more than features this is the fastest way to an optimum: the Hessian of many rows is well conditioned, so that few
products are wanted, while the dual has one variable for each of the rows.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht import kernels
from isrht.kernels.records import CsrRows, WeightedRows, csr_rows
from isrht.linear._conjugate import ConjugateNewton
from isrht.linear._newton import State
from isrht.linear._objective import hinge_of, is_active, loss_and_pull
from isrht.linear.scores import linear_scores
from isrht.rows.blocks import RowBlocks, default_block_rows
from isrht.support.matrices import contiguous_rows

# How many products with the Hessian Newton's method may take, times the most steps that a user allows: more where all
# rows together have few values.
PRODUCTS_PER_STEP = 30, 150
VALUES_PER_STEP = 30_000_000


class NewtonInMemory(ConjugateNewton):
    """A solver that finds directions by conjugate gradients, with as many products as users can wait for.

    Parameters
    ----------
    blocks : RowBlocks
        Rows in memory.
    options : SolverOptions
    """

    def __init__(self, blocks, options):
        super().__init__(larger_blocks(blocks), options)
        # By the number of the first row of a block: the rows as kernels take them; and, for each problem, which of them
        # are active, with the weights at which they are.
        self.checked, self.active = {}, {}
        n_values = blocks.X.nnz if sp.issparse(blocks.X) else blocks.X.size
        self.most_products = self.max_iter * int(np.clip(VALUES_PER_STEP // max(1, n_values), *PRODUCTS_PER_STEP))
        self.products_left = self.most_products

    def minimise(self, state, C):
        """Move ``state`` to the optimum for C, or as far as a number of products goes that users can wait for."""
        self.products_left = self.most_products
        return super().minimise(state, C)

    def is_spent(self):
        """Say whether there are no more steps to be taken."""
        return self.products_left <= 0

    def state_at(self, problems, weights):
        """Return the :class:`State` of some problems with these weights."""
        return State(problems, weights, *self.sum(self.evaluate, problems, weights, None))

    def state_near(self, problems, weights, _supports, _C):
        """Return the :class:`State` of problems that are near an optimum."""
        return self.state_at(problems, weights)

    def evaluate(self, block, problems, weights, _reference):
        """Return loss, gradient and the diagonal of the Gram matrix at ``weights``."""
        signs, row_weights = problems.signs(block), problems.row_weights(block)
        hinge = hinge_of(signs, self.scores(block.X, weights))
        loss, pull = loss_and_pull(row_weights, signs, hinge)
        active = row_weights * (hinge > 0)
        self.remember(block, problems, weights, active)
        sums = np.zeros((2, len(problems), self.width))
        add_moments, rows = self.moments_of(block)
        n_features = block.X.shape[1]
        for p in range(len(problems)):
            totals = np.zeros((n_features, 3, 1))
            add_moments(rows, column(pull[p]), column(active[p]), totals)
            sums[0, p, :n_features], sums[1, p, :n_features] = totals[:, 0, 0], totals[:, 2, 0]
        if self.fit_intercept:
            sums[0, :, -1], sums[1, :, -1] = pull.sum(axis=1), active.sum(axis=1)
        return loss, -2 * sums[0], sums[1]

    def moments_of(self, block):
        """Return the kernel that sums the moments of the features, and the rows of a block as it takes them."""
        if sp.issparse(block.X):
            return kernels.engine.add_csr_moments, CsrRows(*map(np.ascontiguousarray, csr_rows(block.X)))
        return kernels.engine.add_moments, contiguous_rows(block.X)

    def scores(self, X, weights):
        """Return the scores of rows under the weights (problems, width): an array (problems, rows)."""
        intercept = weights[:, -1] if self.fit_intercept else np.zeros(len(weights))
        return linear_scores(X, weights[:, : X.shape[1]], intercept)[0].T

    def remember(self, block, problems, weights, active):
        """Remember which rows of a block are active at some weights."""
        known = self.active.setdefault(block.start, {})
        for key, at, of_problem in zip(keys_of(problems), weights, active, strict=True):
            rows = np.flatnonzero(of_problem)
            known[key] = at.copy(), WeightedRows(rows, of_problem[rows], bool(self.fit_intercept))

    def directions(self, state, open_, C, rate):
        """Return the step of each open problem, and the decrease of the objective that it promises."""
        self.know_all_active(state, open_)
        return super().directions(state, open_, C, rate)

    def know_all_active(self, state, open_):
        """Find the active rows of the open problems, as far as they are not known."""
        problems, weights = state.problems[open_], state.weights[open_]
        for _ in self.blocks.map(lambda block: self.know_active(block, problems, weights), self.n_jobs):
            pass

    def know_active(self, block, problems, weights):
        """Find the active rows of a block for the problems whose last scores were those of a step that was refused."""
        known = self.active.get(block.start, {})
        pairs = zip(keys_of(problems), weights, strict=True)
        unknown = [p for p, (key, at) in enumerate(pairs) if key not in known or not np.array_equal(known[key][0], at)]
        if unknown:
            chosen = problems[unknown]
            active = is_active(chosen.signs(block), self.scores(block.X, weights[unknown]))
            self.remember(block, chosen, weights[unknown], chosen.row_weights(block) * active)

    def sum(self, function, *args):
        """Add over all blocks of rows, and count the products with Hessians."""
        self.products_left -= function == self.gram_product
        return super().sum(function, *args)

    def gram_product(self, block, problems, _weights, along):
        """Return the products of the Gram matrices of a block with the vectors ``along``: a row per problem."""
        products = np.zeros_like(along)
        engine, active = kernels.engine, self.active[block.start]
        if sp.issparse(block.X):
            rows, multiply = self.checked_rows(block), engine.add_gram_product_csr
        else:
            rows, multiply = contiguous_rows(block.X), engine.add_gram_product_rows
        for key, vector, product in zip(keys_of(problems), along, products, strict=True):
            multiply(rows, active[key][1], np.ascontiguousarray(vector), product)
        return products

    def checked_rows(self, block):
        """Return the sparse rows of a block as the kernel takes them, which are checked once."""
        if block.start not in self.checked:
            arrays = CsrRows(*map(np.ascontiguousarray, csr_rows(block.X)))
            self.checked[block.start] = kernels.engine.CheckedCsr(arrays, block.X.shape[1])
        return self.checked[block.start]


def keys_of(problems):
    """Return fold and class of each problem, which no two of them share."""
    return list(zip(problems.fold.tolist(), problems.positive.tolist(), strict=True))


def column(values):
    """Return values as a column."""
    return np.ascontiguousarray(values[:, None])


def larger_blocks(blocks):
    """Return the rows in blocks large enough that adding up vectors of all features costs less than the rows do."""
    if not sp.issparse(blocks.X):
        return blocks
    rows = max(blocks.block_rows, default_block_rows(blocks.X, 2 * blocks.n_features))
    return RowBlocks(blocks.X, blocks.y, blocks.sample_weight, block_rows=rows)
