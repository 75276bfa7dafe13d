"""The weights of rows in training: the weights of the samples times those of their classes, in all folds at once."""

from __future__ import annotations

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from isrht.rows.values import derived, total


def training_weights(training, class_weight, labels, sample_weight=None):
    """Return the weight of every row in the training of each fold, zero where it has no part in it.

    Parameters
    ----------
    training : array of shape (n_samples, n_folds)
        How often each fold trains on a row.
    class_weight : None, "balanced" or dict
        "balanced" is meant of the rows that a fold trains on.
    labels : CodedLabels
    sample_weight : array of shape (n_samples,) or None

    Returns
    -------
    array of shape (n_samples, n_folds)
    """
    n_folds = training.shape[1]
    weights = derived(counted_weights, training, sample_weight, width=n_folds)
    if class_weight is None:
        return weights

    def class_totals_of_folds(codes, weights):
        return np.stack([np.bincount(codes, fold, minlength=labels.n_classes) for fold in weights.T])

    totals = total(class_totals_of_folds, labels.codes, weights)
    factors = np.stack([class_factors(class_weight, labels.classes, of_fold) for of_fold in totals])
    return derived(lambda weights, codes: (weights.T * factors[:, codes]).T, weights, labels.codes, width=n_folds)


def counted_weights(counts, sample_weight):
    """Return counts (rows, folds) times the weights of the rows, laid out in memory one fold after the other."""
    weights = counts.T.astype(np.float64, order="C")
    if sample_weight is not None:
        weights *= sample_weight
    return weights.T


def weighted_rows(class_weight, labels, sample_weight=None):
    """Return the product of sample and class weights; None where there are neither."""
    if class_weight is None:
        return sample_weight
    totals = labels.totals(sample_weight)
    factors = class_factors(class_weight, labels.classes, totals)

    def weighted(codes, weights):
        return factors[codes] if weights is None else weights * factors[codes]

    return derived(weighted, labels.codes, sample_weight)


def class_factors(class_weight, classes, totals):
    """Return one factor per class, where ``totals`` are the weights of the classes together.

    A class without any weight has no balanced factor, which would be 1 / 0; it keeps 1.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = totals > 0
        factors = np.ones(len(classes))
        factors[present] = totals.sum() / (present.sum() * totals[present])
        return factors
    return compute_class_weight(class_weight, classes=classes, y=classes)
