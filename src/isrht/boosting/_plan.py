"""What is tried while columns are learned: candidates for the diagonal, numbers of rounds, and values of C."""

from __future__ import annotations

from dataclasses import dataclass

from isrht.projections.diagonals import Candidate

ROUND_GRID = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
MOST_ROUNDS = ROUND_GRID[-1]
# In units in which the mean squared row is 1.
C_GRID = tuple(4.0**exponent for exponent in range(-6, 5))
# The kinds of diagonals that each value of the parameter stands for. Among equals the later one is preferred, and the
# last is the cautious one.
KINDS = {"auto": ("standard", "z"), "standard": ("standard",), "z": ("z",), "signs": ("signs",)}
THRESHOLDS = (0.0, 2.0)
# Learned columns for two classes and for three, and how many per class where that is more.
LEARNED = {2: 16, 3: 32}
LEARNED_PER_CLASS = 6
# Several classes learn at least so many columns each, which are distilled to as many as were asked for.
DISTILLED_PER_CLASS = 3


@dataclass(frozen=True)
class Plan:
    """What is tried.

    Parameters
    ----------
    candidates : list of Candidate
        The diagonals among which one is chosen.
    rounds : list of int
        The numbers of rounds among which one is chosen, ascending.
    n_columns : int
        The most columns that a path learns.
    per_round : int
        How many columns a round adds.
    """

    candidates: list
    rounds: list
    n_columns: int
    per_round: int


def make_plan(n_components, n_classes, rounds, candidates):
    """Return the :class:`Plan` for so many components and classes.

    Parameters
    ----------
    n_components, n_classes : int
    rounds : int or "auto"
        A given number of rounds, or "auto" to try several.
    candidates : list of Candidate
    """
    wanted = n_components
    if 2 < n_classes <= n_components and all(candidate.diagonal != "signs" for candidate in candidates):
        wanted = max(wanted, DISTILLED_PER_CLASS * n_classes)
    n_learned = min(wanted, LEARNED.get(n_classes, max(LEARNED[3], LEARNED_PER_CLASS * n_classes)))
    per_round = -(-n_learned // MOST_ROUNDS)
    if rounds != "auto":
        rounds = min(rounds, -(-wanted // per_round))
        return Plan(candidates, [rounds], min(wanted, rounds * per_round), per_round)
    most = -(-n_learned // per_round)
    return Plan(candidates, [some for some in ROUND_GRID if some < most] + [most], n_learned, per_round)


def candidates_for(diagonal, threshold):
    """Return the candidates that the parameters ``diagonal`` and ``threshold`` of the estimator stand for."""
    thresholds = THRESHOLDS if threshold == "auto" else (float(threshold),)
    if diagonal == "signs":
        thresholds = (0.0,)
    return [Candidate(kind, each) for kind in KINDS[diagonal] for each in thresholds]
