"""The optimum for every C of a path, each found from where the one before ended: the door to the solvers.

:func:`fit_path` chooses a solver for the data and lets it go from the smallest C to the largest. A solver has three
methods: ``groups`` says which problems it can solve together, ``start`` returns the state of such a group, whose
weights may be given, and
``minimise`` moves a state to the optimum for a C. A state has ``weights``, and ``release`` gives back its memory
while others have their turn. Whoever writes another solver gives it a file of its own beside
:mod:`isrht.linear._exact`, :mod:`isrht.linear._wide` and :mod:`isrht.linear._conjugate`, and says in
:func:`solver_for` for which data it is meant.

References
----------
.. [1] S. S. Keerthi and D. DeCoste, "A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs",
   Journal of Machine Learning Research 6, 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isrht.linear._conjugate import ConjugateNewton
from isrht.linear._exact import ExactNewton
from isrht.linear._problems import TwoClassProblems
from isrht.linear._wide import WideSolver
from isrht.rows.blocks import RowBlocks, RowsElsewhere, default_block_rows, is_sparse

# A Hessian of this width takes a fifth of a second to factor; other solvers are cheaper from here on.
EXACT_FEATURES = 2500
# Sparse rows have no BLAS, so their Gram matrix pays only where it is small; there it also spares
# ill-conditioned data the many steps of conjugate gradients.
SPARSE_EXACT_FEATURES = 400


@dataclass(frozen=True)
class SolverOptions:
    """The options by which problems are solved.

    Parameters
    ----------
    fit_intercept : bool, default=True
    penalize_intercept : bool, default=True
        Whether the intercept is penalised as the weights are.
    tol : float, default=1e-6
        A problem is solved when the next step promises to lower its objective by less than ``tol**2`` of it.
    max_iter : int, default=100
        The most Newton steps of a problem for one C.
    n_jobs : int or None, default=None
        Threads that share the rows of a pass.
    seed : int, default=0
        From which the wide solver draws the orders of the rows.
    rough : bool, default=False
        Whether the wide solver may stop where the scores of held-out rows hardly change any more.
    """

    fit_intercept: bool = True
    penalize_intercept: bool = True
    tol: float = 1e-6
    max_iter: int = 100
    n_jobs: int | None = None
    seed: int = 0
    rough: bool = False


DEFAULT_OPTIONS = SolverOptions()


class Solution(NamedTuple):
    """The optimum for one C. The first axis of the arrays counts folds, the second the problems of a fold."""

    C: float
    coef: np.ndarray
    intercept: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray


def fit_path(blocks, Cs, n_classes=2, options=DEFAULT_OPTIONS, start=None):
    """Yield a :class:`Solution` for every C in ascending order, each starting where the one before ended.

    Parameters
    ----------
    blocks : RowBlocks
        ``y`` holds class numbers from 0 to ``n_classes - 1``. ``sample_weight`` is None, one weight per row,
        or one column of them per fold.
    Cs : array of float
    n_classes : int, default=2
        Two classes are one problem, whose positive class is 1; more are one problem each, against the rest.
    options : SolverOptions
    start : array of shape (n_problems, width) or None, default=None
        Weights to begin with, the intercept last if there is one, instead of zeros.
    """
    n_folds = 1 if np.ndim(blocks.sample_weight) < 2 else blocks.sample_weight.shape[1]
    problems = TwoClassProblems.of(n_folds, n_classes)
    solver = solver_for(blocks, options)
    groups = solver.groups(len(problems))
    states, results = [None] * len(groups), [None] * len(groups)
    for C in np.sort(np.asarray(Cs, dtype=np.float64)):
        for g, group in enumerate(groups):
            states[g] = states[g] or solver.start(problems[group], None if start is None else start[group])
            results[g] = solver.minimise(states[g], C)
            if len(groups) > 1:
                states[g].release()
        weights = np.concatenate([state.weights for state in states]).reshape(n_folds, len(problems) // n_folds, -1)
        n_iter, converged = (np.concatenate(parts).reshape(n_folds, -1) for parts in zip(*results, strict=True))
        coef = weights[..., : blocks.n_features]
        intercept = weights[..., -1] if options.fit_intercept else np.zeros(coef.shape[:2])
        yield Solution(float(C), coef, intercept, n_iter, converged)


def solver_for(blocks, options):
    """Return the solver that is fastest for such rows.

    The dual of a free intercept has a constraint that coordinate descent cannot keep, so wide rows then have conjugate
    gradients, too.
    """
    most = SPARSE_EXACT_FEATURES if is_sparse(blocks.X) else EXACT_FEATURES
    if blocks.n_features <= most:
        return ExactNewton(blocks, options)
    is_free = options.fit_intercept and not options.penalize_intercept
    return (ConjugateNewton if is_free or isinstance(blocks.X, RowsElsewhere) else WideSolver)(blocks, options)


def training_blocks(X, y, sample_weight=None):
    """Return rows in blocks large enough that adding up Gram matrices costs less than computing them."""
    rows = default_block_rows(X)
    if not is_sparse(X) and X.shape[1] <= EXACT_FEATURES:
        rows = max(rows, 2 * X.shape[1])
    return RowBlocks(X, y, sample_weight, block_rows=rows)
