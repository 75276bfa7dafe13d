"""What held-out rows say of the small SVMs: how many are right, how wrong the others are, and whether it is luck."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isrht import kernels
from isrht.boosting._small_svm import learned_columns
from isrht.kernels.records import JudgedSvms

# Several classes have two chances to look like a signal, which is worth so many standard errors.
TWO_CHANCES = 0.5
# Scores are constant when what remains of their sum of squares is this small a part of it.
CONSTANT = 1e-12


@dataclass(frozen=True)
class HeldOut:
    """A function of some rows: what those of them that are held out say of the SVMs of each path, one for every C.

    For each path it returns weighted hits and mean squared hinges (Cs), and the weighted sums that the correlation of
    scores and labels is made of (4, Cs, problems): of scores, their squares, scores times labels, and labels.
    """

    heads: list

    def __call__(self, rows):
        return tuple(self._of_path(rows, head) for head in self.heads)

    def _of_path(self, rows, head):
        n_problems = rows.roles.n_problems
        in_cells = len(head.solutions) // n_problems, n_problems
        judged = JudgedSvms(np.empty(in_cells[0]), np.empty((5, len(head.solutions))))
        columns = learned_columns(rows, head.path, head.size, rows.held_out_weights(head.path))
        kernels.engine.judge_svms(columns, np.ascontiguousarray(head.solutions), judged)
        sums = judged.sums.reshape(5, *in_cells)
        return judged.hits, sums[4].mean(axis=1), sums[:4]


def evidence(sums, totals, n_effective):
    """Return by how many standard errors scores and labels +1/-1 of held-out rows are correlated: an array (Cs,).

    Scores and labels are centred in each fold and then taken together, for a fold may have very few rows.

    Of several classes, either all speak together or one speaks for itself. Correlations with each of them add up to a
    number with a standard error of classes / sqrt(classes - 1), where scores and labels of all classes add up to a
    constant, which is about so; the best of them is beyond zero by sqrt(2 log classes) by luck alone.

    Parameters
    ----------
    sums : array of shape (n_folds, 4, n_Cs, n_problems)
        The last result of :class:`HeldOut`.
    totals : array of shape (n_folds,)
        The weight of the rows that each fold holds out.
    n_effective : float
        How many rows of equal weight would say as much as all of these.
    """
    score, score_squared, score_label, label = np.moveaxis(sums, 1, 0)
    totals = totals[:, None, None]
    spread = score_squared - score**2 / totals
    spread[spread <= CONSTANT * score_squared] = 0
    size = np.sqrt(spread.sum(axis=0) * (totals - label**2 / totals).sum(axis=0))
    covariance = (score_label - score * label / totals).sum(axis=0)
    errors = np.sqrt(n_effective) * np.where(size > 0, covariance / np.where(size > 0, size, 1), 0)
    n_classes = errors.shape[-1]
    if n_classes == 1:
        return errors[:, 0]
    together = errors.sum(axis=-1) * np.sqrt(n_classes - 1) / n_classes
    return np.maximum(together - TWO_CHANCES, errors.max(axis=-1) - np.sqrt(2 * np.log(n_classes)))
