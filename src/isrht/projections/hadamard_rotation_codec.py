"""What a model file keeps of a :class:`~isrht.HadamardRotation`: its seed, and the signs that follow from it."""

from __future__ import annotations

import numpy as np

from isrht.projections.hadamard_rotation import MOST_ROUNDS, HadamardRotation
from isrht.support.codec import Codec, demand, packed_signs
from isrht.transform.orthogonal import step_length, step_starts


def fields(model):
    """Return the fields of a fitted model."""
    return {"seed_": model.seed_, "n_steps": len(model.signs_), "signs_": packed_signs(model.signs_.ravel())}


def restore(model, stored):
    """Make a fitted model of stored fields."""
    model.seed_ = int(stored.value("seed_", int, np.integer))
    demand(0 <= model.seed_ < 2**64, "seed_ is out of range")
    length = step_length(model.n_features_in_)
    n_steps, a_round = stored.integer("n_steps"), len(step_starts(model.n_features_in_, length))
    demand(n_steps % a_round == 0 and n_steps // a_round <= MOST_ROUNDS, "n_steps is not a number of whole rounds")
    model.signs_ = stored.signs("signs_", n_steps * length).reshape(n_steps, length)


CODEC = Codec(HadamardRotation, fields, restore)
