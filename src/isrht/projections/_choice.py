"""From statistics to kept columns, as the parameters of an :class:`~isrht.ISRHT` say: weigh the classes, score, select.

:data:`RULES` has every selection by its name. Its score is one of :mod:`isrht.projections.scores`, and the columns are
taken by a function of :mod:`isrht.projections.selection`. ``settings`` are the parameters that the estimator had when
it was fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import NamedTuple

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from isrht.projections import scores
from isrht.projections.selection import columns_for_share, select_by_importance, select_top, select_uniform
from isrht.support.validation import resolved_n_components


class Rule(NamedTuple):
    """One way to select columns.

    Parameters
    ----------
    select : callable
        It returns a selection of r columns: ``select(column_scores, r, rng, settings)``.
    score : callable or None, default=None
        It returns one number per column: ``score(settings, statistics, rotation, class_weights)``. None is for columns
        that are drawn blindly.
    needs_squares : callable or None, default=None
        It says whether sums of squares enter the score, ``needs_squares(settings, n_classes)``. None is for always.
    sees_labels : bool, default=False
        Whether the score is made with the labels, so that held-out rows must have columns chosen without them.
    unused : tuple of str, default=()
        The parameters that make no difference.
    """

    select: Callable
    score: Callable | None = None
    needs_squares: Callable | None = None
    sees_labels: bool = False
    unused: tuple[str, ...] = ()


def _energy(settings, statistics, rotation, weights):
    return scores.energy(statistics, rotation, weights, settings.center)


def _supervised(settings, statistics, rotation, weights):
    return scores.supervised(statistics, rotation, weights, settings.balance)


RULES = {
    "uniform": Rule(
        lambda column_scores, r, rng, _: select_uniform(len(column_scores), r, rng),
        unused=("balance", "replace", "n_score_samples"),
    ),
    "importance": Rule(
        lambda column_scores, r, rng, settings: select_by_importance(column_scores, r, rng, settings.replace),
        _energy,
        unused=("balance",),
    ),
    "top": Rule(lambda column_scores, r, *_: select_top(column_scores, r), _energy, unused=("balance", "replace")),
    "supervised": Rule(
        lambda column_scores, r, *_: select_top(column_scores, r),
        _supervised,
        lambda settings, n_classes: scores.needs_squares(settings.balance, settings.class_weight, n_classes),
        sees_labels=True,
        unused=("replace",),
    ),
}


def needs_statistics(settings):
    """Say whether anything must be measured before columns can be selected."""
    return settings.center or RULES[settings.selection].score is not None


def needs_squares(settings, n_classes):
    """Say whether sums of squares enter the scores at all."""
    rule = RULES[settings.selection]
    return rule.score is not None and (rule.needs_squares is None or rule.needs_squares(settings, n_classes))


def chosen_columns(settings, statistics, rotation, rng):
    """Return the columns that are kept, as a :class:`~isrht.projections.selection.Selection`.

    Parameters
    ----------
    settings : namespace of parameters
    statistics : ColumnStatistics or None
        What was measured; None where columns are drawn blindly and nothing had to be.
    rotation : Rotation
    rng : RandomState
    """
    rule = RULES[settings.selection]
    column_scores = np.ones(rotation.length)
    if rule.score is not None:
        column_scores = rule.score(settings, statistics, rotation, class_weights(settings.class_weight, statistics))
    return rule.select(column_scores, _number_of_columns(settings, column_scores), rng, settings)


def _number_of_columns(settings, column_scores):
    wanted = settings.n_components
    if isinstance(wanted, Real) and wanted < 1:
        return columns_for_share(column_scores, wanted)
    return resolved_n_components(wanted, len(column_scores))


def class_weights(class_weight, statistics):
    """Return one weight per class, as scikit-learn computes them from labels."""
    if class_weight is None:
        return np.ones(len(statistics.classes))
    if class_weight == "balanced":
        return statistics.n_samples / (len(statistics.classes) * statistics.counts)
    return compute_class_weight(class_weight, classes=statistics.classes, y=statistics.classes)


def weighted_mean(class_weight, statistics):
    """Return the mean of the rows that were measured, in which rows of a class count by its weight."""
    weights = class_weights(class_weight, statistics)
    return (weights @ statistics.sums) / (weights @ statistics.counts)
