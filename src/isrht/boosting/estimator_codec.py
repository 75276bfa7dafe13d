"""What a model file keeps of a :class:`~isrht.BoostedISRHT`: what was chosen, the learned diagonals and the columns."""

from __future__ import annotations

import numpy as np

from isrht.boosting.estimator import BoostedISRHT
from isrht.linear.search_codec import calibration_fields, restore_calibration
from isrht.support.codec import REALS, Codec, check_range, demand
from isrht.transform.lengths import next_power_of_two

# Attributes that are fields under their own names, and private ones that are fields without their underscore.
PUBLIC = (
    *("diagonal_", "threshold_", "C_", "has_signal_", "held_out_score_", "fold_scores_", "rounds_", "weight_unit_"),
    *("search_candidates_", "search_rounds_", "search_Cs_"),
    *("classes_", "mean_", "mixing_", "selected_columns_", "column_rounds_", "column_scales_", "offsets_"),
)
PRIVATE = ("stored", "support", "units", "norms", "row_scale")


def fields(model):
    """Return the fields of a fitted model."""
    public = {name: getattr(model, name) for name in PUBLIC}
    scores = model.search_scores_.reshape(-1, len(model.search_Cs_))  # a file holds tables
    private = {name: getattr(model, f"_{name}") for name in PRIVATE}
    return public | private | calibration_fields(model) | {"search_scores_": scores}


def restore(model, stored):
    """Make a fitted model of stored fields."""
    _restore_choice(model, stored)
    _restore_diagonals(model, stored)
    _restore_columns(model, stored)
    restore_calibration(model, stored)
    _restore_search(model, stored)
    model.mean_ = stored.array("mean_", "<f8", (model.n_features_in_,))


def _restore_choice(model, stored):
    """Restore what was chosen on held-out rows. Scores are nan where no rows were held out."""
    model.classes_ = stored.labels("classes_")
    model.diagonal_ = stored.value("diagonal_", str)
    demand(model.diagonal_ in ("standard", "z", "signs"), f"diagonal_={model.diagonal_!r} is unknown")
    model.threshold_, model.rounds_ = stored.value("threshold_", *REALS), stored.integer("rounds_")
    model.C_, model.has_signal_ = stored.number("C_"), stored.value("has_signal_", bool, np.bool_)
    model.held_out_score_ = stored.value("held_out_score_", *REALS)
    model.weight_unit_ = stored.number("weight_unit_", missing=1.0)  # the first files do not hold it
    model.fold_scores_ = stored.array("fold_scores_", "<f8", (None,), finite=False)


def _restore_search(model, stored):
    """Restore what was tried. The first files do not hold it; then the model has no such attributes."""
    if not stored.has("search_scores_"):
        return
    model.search_candidates_ = stored.value("search_candidates_", list)
    demand(all(isinstance(name, str) for name in model.search_candidates_), "search_candidates_ are no names")
    model.search_rounds_ = stored.array("search_rounds_", "<i8", (None,))
    model.search_Cs_ = stored.array("search_Cs_", "<f8", (None,))
    shape = len(model.search_candidates_), len(model.search_rounds_), len(model.search_Cs_)
    scores = stored.array("search_scores_", "<f8", (shape[0] * shape[1], shape[2]), finite=False)
    model.search_scores_ = scores.reshape(shape)


def _restore_diagonals(model, stored):
    """Restore the diagonals: numbers, with or without units, or bits with a mask of those that are not zero."""
    n_features, n_bytes = model.n_features_in_, -(-model.n_features_in_ // 8)
    model._norms = stored.array("norms", "<f8", (None,))
    model.n_learned_ = len(model._norms)
    demand((model._norms > 0).all(), "the norms of the diagonals are not positive")
    as_bits, with_units = model.diagonal_ == "signs", model.diagonal_ == "standard"
    dtype, width = ("|u1", n_bytes) if as_bits else ("<f4", n_features)
    model._stored = stored.array("stored", dtype, (model.n_learned_, width))
    model._support = stored.array("support", "|u1", (n_bytes,)) if as_bits else None
    model._units = stored.array("units", "<f8", (n_features,)) if with_units else None
    model._row_scale = stored.value("row_scale", *REALS)
    model.mixing_ = stored.array("mixing_", "<f8", (model.n_learned_, model.n_learned_))


def _restore_columns(model, stored):
    """Restore which columns of which diagonals are kept. The learned ones, column 0 of each diagonal, come first."""
    model.n_features_padded_ = next_power_of_two(model.n_features_in_)
    model.selected_columns_ = stored.array("selected_columns_", "<i8", (None,))
    each = model.selected_columns_.shape
    model.column_rounds_ = stored.array("column_rounds_", "<i8", each)
    check_range("selected_columns_", model.selected_columns_, model.n_features_padded_)
    check_range("column_rounds_", model.column_rounds_, model.n_learned_)
    learned = np.arange(model.n_learned_)
    are_first = np.array_equal(model.column_rounds_[: len(learned)], learned)
    are_first &= not model.selected_columns_[: len(learned)].any()
    demand(are_first, "the learned columns do not come first")
    model.column_scales_ = stored.array("column_scales_", "<f8", each)
    model.offsets_ = stored.array("offsets_", "<f8", each)


CODEC = Codec(BoostedISRHT, fields, restore)
