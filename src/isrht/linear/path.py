"""The optimum for every C of a path, each found from where the one before ended: the door to the solvers.

:func:`fit_path` chooses a solver for the data and lets it go from the smallest C to the largest. A solver has three
methods: ``groups`` says which problems it can solve together, ``start`` returns the state of such a group, whose
weights may be given, and
``minimise`` moves a state to the optimum for a C. A state has ``weights``, and ``release`` gives back its memory
while others have their turn. Whoever writes another solver gives it a file of its own beside
:mod:`isrht.linear._exact`, :mod:`isrht.linear._small`, :mod:`isrht.linear._wide` and
:mod:`isrht.linear._in_memory`, and says in :func:`solver_for` for which data it is meant.

References
----------
.. [1] S. S. Keerthi and D. DeCoste, "A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs",
   Journal of Machine Learning Research 6, 2005.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isrht.linear._conjugate import ConjugateNewton
from isrht.linear._exact import ExactNewton
from isrht.linear._in_memory import NewtonInMemory
from isrht.linear._problems import TwoClassProblems
from isrht.linear._small import SmallSolver, is_small
from isrht.linear._wide import WideSolver
from isrht.rows.blocks import RowBlocks, RowsElsewhere, default_block_rows, is_sparse

# A Hessian of this width takes a fifth of a second to factor; other solvers are cheaper from here on.
EXACT_FEATURES = 2500
# Sparse rows have no BLAS, so their Gram matrix pays only where it is small; there it also spares
# ill-conditioned data the many steps of conjugate gradients.
SPARSE_EXACT_FEATURES = 400
# From so many rows per feature on, Newton's method comes to the last digits sooner than coordinate descent.
TALL = 3.0


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
        Whether only scores of held-out rows are wanted: the wide solver may stop where these hardly change any more,
        and the small one, which counts no steps, may serve.
    """

    fit_intercept: bool = True
    penalize_intercept: bool = True
    tol: float = 1e-6
    max_iter: int = 100
    n_jobs: int | None = None
    seed: int = 0
    rough: bool = False


DEFAULT_OPTIONS = SolverOptions()


class Start(NamedTuple):
    """Where a path begins: weights (problems, width), the intercept last if there is one, and dual variables, if known.

    The wide solver begins at dual variables (problems, rows) where there are some, others at the weights.
    """

    weights: np.ndarray | None = None
    variables: np.ndarray | None = None

    def of(self, group):
        """Return the start of a group of problems."""
        return Start(*(None if part is None else part[group] for part in self))


class Solution(NamedTuple):
    """The optimum for one C. The first axis of the arrays counts folds, the second the problems of a fold.

    ``variables`` is a function that returns the dual variables (problems, rows) until the next solution is asked for;
    it is None where the solver has none.
    """

    C: float
    coef: np.ndarray
    intercept: np.ndarray
    n_iter: np.ndarray
    converged: np.ndarray
    variables: Callable | None = None

    def of_folds(self, count):
        """Return the solution of the first folds alone."""
        parts = (part[:count] for part in (self.coef, self.intercept, self.n_iter, self.converged))
        return Solution(self.C, *parts)


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
    start : Start or None, default=None
        What to begin with instead of zeros.
    """
    n_folds = 1 if np.ndim(blocks.sample_weight) < 2 else blocks.sample_weight.shape[1]
    problems = TwoClassProblems.of(n_folds, n_classes)
    solver = solver_for(blocks, np.max(Cs), options)
    groups = solver.groups(len(problems))
    states, results = [None] * len(groups), [None] * len(groups)
    for C in np.sort(np.asarray(Cs, dtype=np.float64)):
        for g, group in enumerate(groups):
            states[g] = states[g] or solver.start(problems[group], None if start is None else start.of(group))
            results[g] = solver.minimise(states[g], C)
            if len(groups) > 1:
                states[g].release()
        weights = np.concatenate([state.weights for state in states]).reshape(n_folds, len(problems) // n_folds, -1)
        n_iter, converged = (np.concatenate(parts).reshape(n_folds, -1) for parts in zip(*results, strict=True))
        coef = weights[..., : blocks.n_features]
        intercept = weights[..., -1] if options.fit_intercept else np.zeros(coef.shape[:2])
        variables = getattr(states[0], "variables", None) if len(states) == 1 else None
        yield Solution(float(C), coef, intercept, n_iter, converged, variables)


def solver_for(blocks, largest_C, options):
    """Return the solver that is fastest for such rows."""
    X = blocks.X
    if is_small(blocks, largest_C, options):
        solver = SmallSolver
    elif has_small_hessian(X):
        solver = ExactNewton
    elif isinstance(X, RowsElsewhere):
        solver = ConjugateNewton
    else:
        solver = WideSolver if is_wide(X, options) else NewtonInMemory
    return solver(blocks, options)


def has_small_hessian(X):
    """Say whether rows have so few features that solvers take the exact Hessian."""
    return X.shape[1] <= (SPARSE_EXACT_FEATURES if is_sparse(X) else EXACT_FEATURES)


def is_wide(X, options):
    """Say whether rows are for the wide solver.

    The dual of a free intercept has a constraint that coordinate descent cannot keep, so wide rows then have conjugate
    gradients, as those that are not in memory have. So have rows that are more than features, unless rough solutions
    will do, to which a few epochs lead.
    """
    is_free = options.fit_intercept and not options.penalize_intercept
    is_tall = X.shape[0] > TALL * X.shape[1] and not options.rough
    return not (has_small_hessian(X) or is_free or is_tall or isinstance(X, RowsElsewhere))


def training_blocks(X, y, sample_weight=None):
    """Return rows in blocks large enough that adding up Gram matrices costs less than computing them."""
    rows = default_block_rows(X)
    if not is_sparse(X) and X.shape[1] <= EXACT_FEATURES:
        rows = max(rows, 2 * X.shape[1])
    return RowBlocks(X, y, sample_weight, block_rows=rows)
