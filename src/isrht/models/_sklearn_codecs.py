"""What a model file keeps of scikit-learn's estimators: what is put before a linear SVM, and pipelines of it.

A codec is a class and two functions, as :class:`isrht.models.model_file.Entry` describes them: ``fields(model)`` returns what
is stored beside parameters and features, ``restore(model, state)`` takes it from a file, checks it, and sets it. A
codec covers what ``transform`` and ``inverse_transform`` use, and the attributes that scikit-learn documents. It also
checks parameters by which a fitted estimator still chooses what to do: scikit-learn looks at them in ``fit`` only.
"""

from __future__ import annotations

from itertools import pairwise
from numbers import Real

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.utils.validation import check_is_fitted

from isrht.models._archive import FLOATS, demand
from isrht.support.sparse_structure import check_sparse

INDICES = ("<i4", "<i8")


def check_choice(model, name, *choices):
    value = getattr(model, name)
    known = value is None or isinstance(value, str)
    demand(known and value in choices, f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")


# ------------------------------------------------------------ scalers


def max_abs_fields(model):
    return {name: getattr(model, name) for name in ("max_abs_", "scale_", "n_samples_seen_")}


def restore_max_abs(model, state):
    model.max_abs_ = state.array("max_abs_", FLOATS, (model.n_features_in_,))
    model.scale_ = positive_scale(model, state)
    model.n_samples_seen_ = state.integer("n_samples_seen_")


def min_max_fields(model):
    names = ("data_min_", "data_max_", "data_range_", "min_", "scale_", "n_samples_seen_")
    return {name: getattr(model, name) for name in names}


def restore_min_max(model, state):
    ends = model.feature_range
    is_range = isinstance(ends, tuple | list) and len(ends) == 2 and all(isinstance(end, Real) for end in ends)
    demand(is_range and ends[0] < ends[1], f"feature_range={ends!r} is no range")
    for name in ("data_min_", "data_max_", "data_range_", "min_"):
        setattr(model, name, state.array(name, FLOATS, (model.n_features_in_,)))
    model.scale_ = positive_scale(model, state)
    model.n_samples_seen_ = state.integer("n_samples_seen_")


def positive_scale(model, state):
    scale = state.array("scale_", FLOATS, (model.n_features_in_,))
    demand((scale > 0).all(), "scale_ is not positive")
    return scale


def standard_fields(model):
    return {name: getattr(model, name) for name in ("mean_", "var_", "scale_", "n_samples_seen_")}


def restore_standard(model, state):
    """Restore mean, variance and scale, which are None where they were not asked for."""
    each = (model.n_features_in_,)
    model.mean_ = state.array("mean_", FLOATS, each) if model.with_mean or state.has("mean_") else None
    model.var_ = state.array("var_", FLOATS, each) if model.with_std or state.has("var_") else None
    model.scale_ = positive_scale(model, state) if model.with_std or state.has("scale_") else None
    demand(model.var_ is None or (model.var_ >= 0).all(), "var_ is negative")
    model.n_samples_seen_ = counted_samples(model, state)


def counted_samples(model, state):
    """Return how many rows were seen: a number (or sum of weights), or one per feature where values were missing."""
    if "n_samples_seen_" in state.values:
        return state.number("n_samples_seen_")
    counts = state.array("n_samples_seen_", (*INDICES, *FLOATS), (model.n_features_in_,))
    demand((counts >= 0).all(), "n_samples_seen_ is negative")
    return counts


def robust_fields(model):
    return {"center_": model.center_, "scale_": model.scale_}


def restore_robust(model, state):
    each = (model.n_features_in_,)
    model.center_ = state.array("center_", FLOATS, each) if model.with_centering or state.has("center_") else None
    model.scale_ = positive_scale(model, state) if model.with_scaling or state.has("scale_") else None


def nothing(model):
    return {}


def restore_normalizer(model, state):
    check_choice(model, "norm", "l1", "l2", "max")


# ------------------------------------------------------------ other transformers of single features


def quantile_fields(model):
    return {"quantiles_": model.quantiles_, "references_": model.references_}


def restore_quantile(model, state):
    check_choice(model, "output_distribution", "uniform", "normal")
    model.references_ = state.array("references_", "<f8", (None,))
    model.n_quantiles_ = len(model.references_)
    demand(model.n_quantiles_ >= 1, "references_ are missing")
    demand(is_not_decreasing(model.references_), "references_ are not in increasing order")
    demand(model.references_[0] >= 0 and model.references_[-1] <= 1, "references_ are out of range")
    model.quantiles_ = state.array("quantiles_", FLOATS, (model.n_quantiles_, model.n_features_in_))
    demand(is_not_decreasing(model.quantiles_), "quantiles_ are not in increasing order")


def is_not_decreasing(values):
    return (values[:-1] <= values[1:]).all()


def power_fields(model):
    return {"lambdas_": model.lambdas_, "scaler": getattr(model, "_scaler", None)}


def restore_power(model, state):
    check_choice(model, "method", "yeo-johnson", "box-cox")
    model.lambdas_ = state.array("lambdas_", "<f8", (model.n_features_in_,))
    if model.standardize or state.has("scaler"):
        model._scaler = state.part("scaler", StandardScaler)
        demand(model._scaler.n_features_in_ == model.n_features_in_, "scaler is for another number of features")


def tfidf_fields(model):
    return {"idf_": getattr(model, "idf_", None)}


def restore_tfidf(model, state):
    check_choice(model, "norm", "l1", "l2", None)
    if model.use_idf or state.has("idf_"):
        model.idf_ = state.array("idf_", FLOATS, (model.n_features_in_,))


def variance_fields(model):
    return {"variances_": model.variances_}


def restore_variance(model, state):
    is_number = isinstance(model.threshold, Real) and not isinstance(model.threshold, bool)
    demand(is_number, f"threshold={model.threshold!r} is no number")
    model.variances_ = state.array("variances_", "<f8", (model.n_features_in_,))
    demand((model.variances_ > model.threshold).any(), "no variances_ are above the threshold")


# ------------------------------------------------------------ projections


def random_projection_fields(model):
    names = ("n_components_", "inverse_components_")
    return {name: getattr(model, name, None) for name in names}


def restore_random_projection(model, state):
    model.n_components_ = state.integer("n_components_")
    model._n_features_out = model.n_components_
    if model.compute_inverse_components or state.has("inverse_components_"):
        shape = (model.n_features_in_, model.n_components_)
        model.inverse_components_ = state.array("inverse_components_", FLOATS, shape)


def gaussian_fields(model):
    return random_projection_fields(model) | {"components_": model.components_}


def restore_gaussian(model, state):
    restore_random_projection(model, state)
    model.components_ = state.array("components_", FLOATS, (model.n_components_, model.n_features_in_))


def sparse_fields(model):
    components = model.components_
    return random_projection_fields(model) | {
        "density_": model.density_,
        "is_array": isinstance(components, sp.sparray),
        "data": components.data,
        "indices": components.indices,
        "indptr": components.indptr,
    }


def restore_sparse(model, state):
    restore_random_projection(model, state)
    model.density_ = state.number("density_")
    kind = sp.csr_array if state.value("is_array", bool) else sp.csr_matrix
    indptr = state.array("indptr", INDICES, (model.n_components_ + 1,))
    data = state.array("data", FLOATS, (None,))
    indices = state.array("indices", INDICES, data.shape)
    demand(indptr[-1] == len(data), "indptr are not those of the data")
    model.components_ = kind((data, indices, indptr), shape=(model.n_components_, model.n_features_in_))
    check_sparse(model.components_, "components_")


PCA_NAMES = (
    *("n_components_", "components_", "mean_", "explained_variance_", "explained_variance_ratio_", "singular_values_"),
    *("noise_variance_", "n_samples_"),
)


def pca_fields(model):
    return {name: getattr(model, name) for name in PCA_NAMES}


def restore_pca(model, state):
    model.n_components_ = state.integer("n_components_")
    model.components_ = state.array("components_", FLOATS, (model.n_components_, model.n_features_in_))
    model.mean_ = state.array("mean_", FLOATS, (model.n_features_in_,))
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        setattr(model, name, state.array(name, FLOATS, (model.n_components_,)))
    demand((model.explained_variance_ >= 0).all(), "explained_variance_ is negative")
    model.noise_variance_ = state.value("noise_variance_", float, np.floating)
    demand(0 <= model.noise_variance_ < np.inf, "noise_variance_ is negative or not finite")
    model.n_samples_ = state.integer("n_samples_")


# ------------------------------------------------------------ pipelines


def pipeline_fields(model):
    """Return the steps by number, because no member of a file can have some of the names that steps may have."""
    for name, step in model.steps:
        if isinstance(step, Pipeline):
            raise TypeError(f"cannot save step {name!r}: a model file holds no Pipeline inside of a Pipeline")
        if isinstance(step, BaseEstimator):
            check_is_fitted(step)
    steps = {f"step{number}": step for number, (_, step) in enumerate(model.steps)}
    return {"names": [name for name, _ in model.steps]} | steps


def restore_pipeline(model, state):
    names = state.value("names", list)
    are_names = names and all(isinstance(name, str) and "__" not in name for name in names)
    demand(are_names and len(set(names)) == len(names), f"names={names!r} are no different names of steps")
    model.steps = [(name, restored_step(state, f"step{number}")) for number, name in enumerate(names)]
    check_chain([step for _, step in model.steps if isinstance(step, BaseEstimator)])
    demand(model.memory is None, "a file may not say where results are to be cached")


def restored_step(state, name):
    """Return an estimator, or what stands for a step that does nothing: ``"passthrough"`` or None."""
    if name in state.parts:
        step = state.part(name)
        demand(not isinstance(step, Pipeline), f"{name} is a Pipeline inside of a Pipeline")
        return step
    if state.has(name):
        word = state.value(name, str)
        demand(word == "passthrough", f"{name} is {word!r}, which is no step")
        return word
    return None


def check_chain(steps):
    """Demand that every step but the last transforms, and gives as many features as the next one takes."""
    for step, following in pairwise(steps):
        name = type(step).__name__
        demand(hasattr(step, "transform"), f"{name} is not the last step, but has no transform")
        width = n_features_out(step)
        fits = width == following.n_features_in_
        demand(fits, f"{name} gives {width} features, but {type(following).__name__} takes {following.n_features_in_}")


def n_features_out(step):
    """Return the width of what a fitted transformer gives, which may be a selector, a projection or a scaler."""
    if hasattr(step, "get_support"):
        return int(step.get_support().sum())
    return getattr(step, "_n_features_out", step.n_features_in_)


CODECS = (
    (MaxAbsScaler, max_abs_fields, restore_max_abs),
    (MinMaxScaler, min_max_fields, restore_min_max),
    (StandardScaler, standard_fields, restore_standard),
    (RobustScaler, robust_fields, restore_robust),
    (Normalizer, nothing, restore_normalizer),
    (QuantileTransformer, quantile_fields, restore_quantile),
    (PowerTransformer, power_fields, restore_power),
    (TfidfTransformer, tfidf_fields, restore_tfidf),
    (VarianceThreshold, variance_fields, restore_variance),
    (GaussianRandomProjection, gaussian_fields, restore_gaussian),
    (SparseRandomProjection, sparse_fields, restore_sparse),
    (PCA, pca_fields, restore_pca),
)
