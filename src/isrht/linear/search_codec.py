"""What a model file keeps of a :class:`~isrht.LinearSVMCV`: the classifier, how its C was chosen, its probabilities."""

from __future__ import annotations

import numpy as np

from isrht.linear import svm_codec
from isrht.linear.calibration import Calibration
from isrht.linear.search import LinearSVMCV
from isrht.support.codec import REALS, Codec, demand


def fields(model):
    """Return the fields of a fitted model."""
    return svm_codec.fields(model) | search_fields(model) | calibration_fields(model)


def restore(model, stored):
    """Make a fitted model of stored fields."""
    svm_codec.restore(model, stored)
    restore_search(model, stored)
    restore_weight_unit(model, stored)
    restore_calibration(model, stored)


def search_fields(model):
    """Return how C was chosen, with None where it was given."""
    names = ("C_", "Cs_", "scores_", "mean_scores_", "std_scores_", "weight_unit_")
    return {name: getattr(model, name, None) for name in names}


def restore_search(model, stored):
    """Restore how C was chosen. Scores may be nan, where a fold had none."""
    model.C_ = stored.number("C_")
    model.Cs_ = stored.array("Cs_", "<f8", (None,))
    model.scores_ = stored.array("scores_", "<f8", (len(model.Cs_), None), finite=False)
    model.mean_scores_ = stored.array("mean_scores_", "<f8", model.Cs_.shape, finite=False)
    model.std_scores_ = stored.array("std_scores_", "<f8", model.Cs_.shape, finite=False)


def restore_weight_unit(model, stored):
    """Restore the unit of the weights. The first files do not hold it: there it is 1, as without weights."""
    model.weight_unit_ = stored.number("weight_unit_", missing=1.0)


def calibration_fields(model):
    """Return the curve of a model that has probabilities, with None where it has none."""
    found = model.calibration_
    return {f"calibration_{name}": getattr(found, name, None) for name in ("slope", "offsets")}


def restore_calibration(model, stored):
    """Restore the curve. The first files do not hold it: there are no probabilities then."""
    if not stored.has("calibration_slope"):
        model.calibration_ = None
        return
    slope = float(stored.value("calibration_slope", *REALS))
    demand(0 <= slope < np.inf, f"calibration_slope is {slope}")
    n_problems = 1 if len(model.classes_) == 2 else len(model.classes_)
    model.calibration_ = Calibration(slope, stored.array("calibration_offsets", "<f8", (n_problems,)))


CODEC = Codec(LinearSVMCV, fields, restore)
