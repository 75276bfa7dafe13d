"""What a model file keeps of a :class:`~isrht.SparseEmbedding`: for every feature its component, sign and magnitude."""

from __future__ import annotations

import numpy as np

from isrht.projections.embedding import SparseEmbedding
from isrht.support.codec import Codec, check_range, demand, little_endian, packed_signs


def fields(model):
    """Return the fields of a fitted model. Components are stored in as few bytes as their number needs."""
    check_range("components_", model.components_, model.n_components_)
    return {
        "n_components_": model.n_components_,
        "dense_output": bool(model._dense_output),
        "components_": model.components_.astype(_narrow(model.n_components_)),
        "signs_": packed_signs(model.signs_),
        "magnitudes_": model.magnitudes_,
    }


def restore(model, stored):
    """Make a fitted model of stored fields."""
    model.n_components_ = _restored_n_components(model, stored)
    model._dense_output = _restored_output(model, stored)
    each = (model.n_features_in_,)
    components = stored.array("components_", little_endian(_narrow(model.n_components_)), each)
    check_range("components_", components, model.n_components_)
    model.components_ = components.astype(np.int32)
    model.signs_ = stored.signs("signs_", model.n_features_in_)
    model.magnitudes_ = stored.optional_array("magnitudes_", "<f4", each)


def _restored_n_components(model, stored):
    """Return the number of components. The first files do not hold it, and there it is the parameter."""
    count = stored.integer("n_components_") if stored.has("n_components_") else model.n_components
    is_count = isinstance(count, int | np.integer) and not isinstance(count, bool) and 1 <= count < 2**31
    demand(is_count, f"n_components={count!r} is no number of components")
    return int(count)


def _restored_output(model, stored):
    """Return whether the output is dense. The first files do not hold it, and there it is the parameter."""
    return stored.value("dense_output", bool) if stored.has("dense_output") else bool(model.dense_output)


def _narrow(n_components):
    return np.min_scalar_type(n_components - 1)


CODEC = Codec(SparseEmbedding, fields, restore)
