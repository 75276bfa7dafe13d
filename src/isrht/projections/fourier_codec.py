"""What a model file keeps of :class:`~isrht.HadamardFourierFeatures`: signs, phases, chosen columns and gamma."""

from __future__ import annotations

import numpy as np

from isrht.projections.fourier import ROTATIONS, HadamardFourierFeatures
from isrht.support.codec import Codec, check_increasing, demand, packed_signs
from isrht.transform.lengths import next_power_of_two


def fields(model):
    """Return the fields of a fitted model."""
    return {
        "signs_": packed_signs(model.signs_.ravel()),
        "phases_": model.phases_,
        "selected_columns_": model.selected_columns_.astype(np.int64),
        "gamma_": model.gamma_,
    }


def restore(model, stored):
    """Make a fitted model of stored fields. The phases tell how many blocks of rotations there are."""
    width = model.n_features_padded_ = next_power_of_two(model.n_features_in_)
    model.phases_ = stored.array("phases_", "<f8", (None,))
    n_blocks = len(model.phases_) // width
    demand(n_blocks >= 1 and len(model.phases_) == n_blocks * width, "phases_ are not those of whole blocks")
    model.signs_ = stored.signs("signs_", n_blocks * ROTATIONS * width).reshape(n_blocks, ROTATIONS, width)
    model.selected_columns_ = stored.array("selected_columns_", "<i8", (None,))
    check_increasing("selected_columns_", model.selected_columns_, len(model.phases_), repeated=False)
    model.gamma_ = float(stored.number("gamma_"))


CODEC = Codec(HadamardFourierFeatures, fields, restore)
