"""Probabilities from boosted columns: they follow from the scores that held-out rows had in the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from isrht.linear.calibration import fit_calibration
from isrht.rows.blocks import add


@dataclass(frozen=True)
class CalibrationWish:
    """What the calibration is to be for, where that is not the SVM and the weights of the search themselves.

    Parameters
    ----------
    C_factor : float, default=1.0
        The C of the SVM, as a multiple of the one that is chosen.
    class_factors : array of shape (n_classes,) or None, default=None
        What the weights of rows have been multiplied by for the sake of their class. A probability is a frequency of
        the data as they are, so that is undone.
    weight_unit : float, default=1.0
        What counts as one row then.
    keeps_scores : bool, default=False
        Whether the scores of all rows under the model of each fold are wanted, too (:mod:`isrht.boosting._blend`).
    moves_cut : bool, default=False
        Whether it is wanted where scores are best cut (:mod:`isrht.boosting._cut`).
    """

    C_factor: float = 1.0
    class_factors: np.ndarray | None = None
    weight_unit: float = 1.0
    keeps_scores: bool = False
    moves_cut: bool = False


AS_CHOSEN = CalibrationWish()


def calibrated_on_paths(rows, heads, wish, n_jobs=None):
    """Return the :class:`~isrht.linear.calibration.Calibration` by the rows that each path's fold holds out.

    Parameters
    ----------
    rows : LearnedRows
    heads : list of Head
        For each fold the path and the small SVM that are judged.
    wish : CalibrationWish
    n_jobs : int or None, default=None
    """
    factors = np.ones(rows.roles.n_classes) if wish.class_factors is None else wish.class_factors
    held_out = _HeldOutScores(heads, wish.weight_unit / np.where(factors > 0, factors, 1.0))
    if rows.elsewhere:
        return fit_calibration(lambda function: rows.sum(_OfRows(function, held_out), n_jobs), factors)
    # In memory the scores are computed once, and not in every step.
    blocks = rows.each(held_out, n_jobs)
    return fit_calibration(lambda function: reduce(add, (function(*block) for block in blocks)), factors)


@dataclass(frozen=True, eq=False)
class _OfRows:
    """A function of some rows: what another function makes of the scores of those that are held out."""

    function: Callable
    held_out: Callable

    def __call__(self, rows):
        return self.function(*self.held_out(rows))


@dataclass(frozen=True, eq=False)
class _HeldOutScores:
    """A function of some rows: scores, classes and weights of those that the folds hold out."""

    heads: list
    class_factors: np.ndarray

    def __call__(self, rows):
        parts = [self._of_path(rows, head) for head in self.heads]
        return tuple(np.concatenate(values) for values in zip(*parts, strict=True))

    def _of_path(self, rows, head):
        weights = rows.held_out_weights(head.path) * self.class_factors[rows.roles.codes]
        chosen = np.flatnonzero(weights)
        mine = rows[chosen]
        return head.scores(mine), mine.roles.codes, weights[chosen]
