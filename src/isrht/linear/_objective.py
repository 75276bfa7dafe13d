"""What a linear SVM minimises: the squared hinge of its rows and the squared norm of its weights.

For one two-class problem with labels y = +1/-1, row weights s and scores f = X w + b, the objective is

    0.5 * (|w|^2 + b^2) + C * sum_i s_i * max(0, 1 - y_i f_i)^2,

or the same without ``b^2``, where the intercept is free. The *ridge* says what is penalised: 1 for every weight, and
1 or 0 for the intercept.

The hinge ``max(0, 1 - y f)`` says how far a row is from the right side of the margin. The rows with y f < 1, whose
hinge is not zero, are the *active* rows A. The objective is smooth, and quadratic as long as A does not change: its
gradient is ``w - 2 C X' (s y hinge)`` and its Hessian is ``I + 2 C X_A' S X_A``, with the ridge for I.

Another loss begins here. That the Hessian counts rows as active or not is known to the Newton solvers, too, and
:mod:`isrht.linear._descent` solves the dual of this very loss. All arrays have one row per problem and one column per
data row.
"""

from __future__ import annotations

import numpy as np


def objective(weights, loss, C, ridge=1.0):
    """Return the objective of each problem from its weights (the intercept among them) and its loss."""
    return 0.5 * (ridge * weights**2).sum(axis=1) + C * loss


def hinge_of(signs, scores):
    """Return how far each row is from the right side of the margin, 0 where it is there."""
    return np.maximum(0, 1 - signs * scores)


def is_active(signs, scores):
    """Say which rows have a part in the loss, and so in the gradient and in the Hessian."""
    return signs * scores < 1


def loss_and_pull(row_weights, signs, hinge):
    """Return the loss of each problem, and the pull of each row: the gradient of the loss is ``-2 X' pull``."""
    pull = row_weights * hinge
    loss = np.einsum("pi,pi->p", pull, hinge)
    pull *= signs
    return loss, pull


def slopes_along(lengths, row_weights, slack, change):
    """Return the derivative of the loss after steps of several lengths along a line: an array (lengths, problems).

    Parameters
    ----------
    lengths : array of shape (n_lengths, n_problems)
    row_weights : array of shape (n_problems, n_rows)
    slack : array of shape (n_problems, n_rows)
        ``1 - y f`` where the line begins.
    change : array of shape (n_problems, n_rows)
        By how much ``y f`` grows over a step of length 1.
    """
    return np.stack(
        [
            -2 * (row_weights * change * np.maximum(0, slack - length[:, None] * change)).sum(axis=1)
            for length in lengths
        ]
    )
