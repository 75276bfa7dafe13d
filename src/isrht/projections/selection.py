"""Select: from scores to columns and their scales, the sampling matrix S as two short arrays.

- uniform: r distinct columns, each with equal chance, scaled by ``sqrt(d / r)``: the plain SRHT (eq. 2).
- importance: r draws with ``p_j`` proportional to the score, scaled by ``sqrt(1 / (r p_j))`` (eq. 4 and 5).
- top: the r best scores, unscaled.

Equal scores go by column index. Scores that differ only by rounding count as equal, so that a tie does not depend on
the order in which some machine added the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Scores are compared at this many decimals of the largest one.
TIE_DECIMALS = 10


@dataclass(frozen=True)
class Selection:
    """Chosen ``columns`` in increasing order, their ``scales``, and what the choice was made from."""

    columns: np.ndarray
    scales: np.ndarray
    scores: np.ndarray | None
    probabilities: np.ndarray | None = None
    histogram: ScoreHistogram | None = None  # in place of scores, where these were not kept


@dataclass(frozen=True)
class ScoreHistogram:
    """The numbers of columns, and of the kept ones, whose scores lie between each two ``edges``."""

    edges: np.ndarray
    counts: np.ndarray
    kept: np.ndarray


def score_histogram(selection, n_bins=24):
    """Return the histogram of the scores of a selection, or None where all scores are the same."""
    if selection.scores is None:
        return selection.histogram
    with np.errstate(over="ignore", invalid="ignore"):
        edges = np.linspace(selection.scores.min(), selection.scores.max(), n_bins + 1)
    if not (edges[:-1] < edges[1:]).all():
        return None
    counts, _ = np.histogram(selection.scores, edges)
    kept, _ = np.histogram(selection.scores[selection.columns], edges)
    return ScoreHistogram(edges, counts, kept)


def select_uniform(n_columns, r, rng):
    """Draw r distinct columns, each with equal chance, as the plain SRHT does."""
    probabilities = np.full(n_columns, 1 / n_columns)
    columns = np.sort(rng.choice(n_columns, r, replace=False))
    return Selection(columns, np.full(r, np.sqrt(n_columns / r)), probabilities, probabilities)


def select_by_importance(scores, r, rng, replace=True):
    """Draw r columns with probabilities in proportion to their scores (ISRHT-nps)."""
    probabilities = _probabilities(scores)
    if replace:
        columns = np.sort(rng.choice(len(scores), r, p=probabilities))
        return Selection(columns, np.sqrt(1 / (r * probabilities[columns])), scores, probabilities)
    positive = np.flatnonzero(probabilities)
    if len(positive) <= r:
        columns = np.sort(rank(scores)[:r])
    else:
        columns = np.sort(rng.choice(len(scores), r, replace=False, p=probabilities))
    return Selection(columns, np.ones(r), scores, probabilities)


def select_top(scores, r):
    """Take the r columns of the best scores (ISRHT-top-r, and supervised)."""
    return Selection(np.sort(rank(scores)[:r]), np.ones(r), scores)


def rank(scores):
    """Return the column indices, best score first; columns of equal scores go by index."""
    return np.argsort(-comparable(scores), kind="stable")


def columns_for_share(scores, share):
    """Return the smallest number of columns that hold this share of the (positive part of the) scores."""
    mass = np.sort(np.maximum(comparable(scores), 0))[::-1]
    total = mass.sum()
    if total == 0:
        return max(1, int(np.ceil(share * len(scores))))
    held = np.cumsum(mass) / total
    return min(int(np.searchsorted(held, share - 1e-12)) + 1, len(scores))


def comparable(scores):
    """Return the scores without the digits that rounding makes up."""
    largest = np.abs(scores).max(initial=0)
    return np.round(scores / largest, TIE_DECIMALS) if largest > 0 else np.zeros_like(scores)


def _probabilities(scores):
    mass = np.maximum(comparable(scores), 0)
    total = mass.sum()
    return mass / total if total > 0 else np.full(len(scores), 1 / len(scores))
