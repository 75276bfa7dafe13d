"""What a model file keeps of a :class:`~isrht.LeverageScoreSelection`: the scores, and which features are kept."""

from __future__ import annotations

import numpy as np

from isrht.projections.leverage import LeverageScoreSelection
from isrht.support.codec import FLOATS, Codec, check_increasing


def fields(model):
    """Return the fields of a fitted model."""
    return {"leverage_": model.leverage_, "kept": model._kept.astype(np.int64)}


def restore(model, stored):
    """Make a fitted model of stored fields."""
    model.leverage_ = stored.array("leverage_", FLOATS, (model.n_features_in_,))
    model._kept = stored.array("kept", "<i8", (None,))
    check_increasing("the kept features", model._kept, model.n_features_in_, repeated=False)


CODEC = Codec(LeverageScoreSelection, fields, restore)
