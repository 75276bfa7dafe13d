"""What a model file keeps of an :class:`~isrht.ISRHT`: signs, columns and scales, one bit per feature and O(r) more.

The statistics and the scores of all columns are left out, because they are many times larger than what ``transform``
needs. A histogram of the scores is kept in their place. A loaded model projects, but cannot learn on by
``partial_fit``.
"""

from __future__ import annotations

import numpy as np

from isrht.projections.embedding import SparseEmbedding
from isrht.projections.isrht import ISRHT
from isrht.projections.selection import ScoreHistogram, Selection
from isrht.support.codec import Codec, check_increasing, demand, packed_signs
from isrht.transform.lengths import next_power_of_two


def fields(model):
    """Return the fields of a fitted model."""
    return _histogram_fields(model.score_histogram_) | {
        "embedding_": model.embedding_,
        "signs_": packed_signs(model.signs_),
        "selected_columns_": model.selected_columns_.astype(np.int64),
        "column_scales_": model.column_scales_,
        "mean_": model.mean_,
    }


def restore(model, stored):
    """Make a fitted model of stored fields."""
    model.embedding_ = stored.part("embedding_", SparseEmbedding) if stored.has("embedding_") else None
    n_rotated = _n_rotated(model)
    model.signs_ = stored.signs("signs_", n_rotated)
    model.n_features_padded_ = next_power_of_two(len(model.signs_))
    columns = stored.array("selected_columns_", "<i8", (None,))
    demand(len(columns) <= model.n_features_padded_, "there are more selected_columns_ than columns")
    check_increasing("selected_columns_", columns, model.n_features_padded_, repeated=True)
    scales = stored.array("column_scales_", "<f8", columns.shape)
    demand((scales > 0).all(), "column_scales_ are not positive")
    model._mean = stored.optional_array("mean_", "<f8", (n_rotated,))
    model.statistics_ = None
    histogram = _restored_histogram(stored, model.n_features_padded_, len(columns))
    model._selected = Selection(columns, scales, scores=None, histogram=histogram)


def _n_rotated(model):
    """Return the number of features that are rotated: those of the sketch if there is one."""
    if model.embedding_ is None:
        return model.n_features_in_
    fits = model.embedding_.n_features_in_ == model.n_features_in_
    demand(fits, "embedding_ is for another number of features")
    return model.embedding_.n_components_


def _histogram_fields(histogram):
    if histogram is None:
        return {}
    counts = np.stack([histogram.counts, histogram.kept]).astype(np.int64)
    return {"score_edges": histogram.edges, "score_counts": counts}


def _restored_histogram(stored, n_columns, n_kept):
    """Return how the scores were spread, or None: the first files do not say it, and equal scores have no spread."""
    if not stored.has("score_edges"):
        return None
    edges = stored.array("score_edges", "<f8", (None,))
    demand(len(edges) >= 2 and (np.diff(edges) > 0).all(), "score_edges are not in increasing order")
    counts = stored.array("score_counts", "<i8", (2, len(edges) - 1))
    totals = counts.sum(axis=1).tolist()
    demand(counts.min() >= 0 and totals == [n_columns, n_kept], "score_counts are not those of columns")
    return ScoreHistogram(edges, *counts)


CODEC = Codec(ISRHT, fields, restore)
