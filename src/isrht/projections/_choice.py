"""From statistics to kept columns, as the parameters of an :class:`~isrht.ISRHT` say: weigh the classes, score, select.

The scores are those of :mod:`isrht.projections.scores`, the rules those of :mod:`isrht.projections.selection`.
``settings`` are the parameters that the estimator had when it was fitted.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from isrht.projections import scores
from isrht.projections.selection import columns_for_share, select_by_importance, select_top, select_uniform
from isrht.support.validation import resolved_n_components


def chosen_columns(settings, statistics, rotation, rng):
    """Return the columns that are kept, as a :class:`~isrht.projections.selection.Selection`.

    Parameters
    ----------
    settings : namespace of parameters
    statistics : ColumnStatistics or None
        What was measured; None where columns are drawn uniformly and nothing had to be.
    rotation : Rotation
    rng : RandomState
    """
    if settings.selection == "uniform":
        r = _number_of_columns(settings, np.ones(rotation.length))
        return select_uniform(rotation.length, r, rng)
    column_scores = _scores(settings, statistics, rotation)
    r = _number_of_columns(settings, column_scores)
    if settings.selection == "importance":
        return select_by_importance(column_scores, r, rng, settings.replace)
    return select_top(column_scores, r)


def _scores(settings, statistics, rotation):
    weights = class_weights(settings.class_weight, statistics)
    if settings.selection == "supervised":
        return scores.supervised(statistics, rotation, weights, settings.balance)
    return scores.energy(statistics, rotation, weights, settings.center)


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
