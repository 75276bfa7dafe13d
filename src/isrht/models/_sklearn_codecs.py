"""What a model file keeps of scikit-learn's estimators: of scalers and projections that are put before a linear SVM.

These codecs (:mod:`isrht.support.codec`) cannot stand beside their estimators, which belong to scikit-learn. They cover
what ``transform`` and ``inverse_transform`` use, and the attributes that scikit-learn documents. They also check the
parameters by which a fitted estimator still chooses what to do: scikit-learn looks at them in ``fit`` only.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
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

from isrht.support.codec import FLOATS, Codec, demand
from isrht.support.sparse_structure import check_sparse

INDICES = ("<i4", "<i8")


def attributes(*names):
    """Return the ``fields`` of a codec whose fields are attributes of the model under these names."""
    return lambda model: {name: getattr(model, name) for name in names}


def check_choice(model, name, *choices):
    """Demand that a parameter is one of these strings, or None where that is among them."""
    value = getattr(model, name)
    known = value is None or isinstance(value, str)
    demand(known and value in choices, f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")


# ------------------------------------------------------------ scalers


def restore_max_abs(model, stored):
    """Restore the largest absolute values, and the scales made of them."""
    model.max_abs_ = stored.array("max_abs_", FLOATS, (model.n_features_in_,))
    model.scale_ = positive_scale(model, stored)
    model.n_samples_seen_ = stored.integer("n_samples_seen_")


def restore_min_max(model, stored):
    """Restore the ranges of the features, and the scales made of them."""
    ends = model.feature_range
    is_range = isinstance(ends, tuple | list) and len(ends) == 2 and all(isinstance(end, Real) for end in ends)
    demand(is_range and ends[0] < ends[1], f"feature_range={ends!r} is no range")
    for name in ("data_min_", "data_max_", "data_range_", "min_"):
        setattr(model, name, stored.array(name, FLOATS, (model.n_features_in_,)))
    model.scale_ = positive_scale(model, stored)
    model.n_samples_seen_ = stored.integer("n_samples_seen_")


def restore_standard(model, stored):
    """Restore mean, variance and scale, which are None where they were not asked for."""
    each = (model.n_features_in_,)
    model.mean_ = stored.optional_array("mean_", FLOATS, each, required=model.with_mean)
    model.var_ = stored.optional_array("var_", FLOATS, each, required=model.with_std)
    model.scale_ = positive_scale(model, stored) if model.with_std or stored.has("scale_") else None
    demand(model.var_ is None or (model.var_ >= 0).all(), "var_ is negative")
    model.n_samples_seen_ = counted_samples(model, stored)


def counted_samples(model, stored):
    """Return how many rows were seen: a number (or sum of weights), or one per feature where values were missing."""
    if stored.has_value("n_samples_seen_"):
        return stored.number("n_samples_seen_")
    counts = stored.array("n_samples_seen_", (*INDICES, *FLOATS), (model.n_features_in_,))
    demand((counts >= 0).all(), "n_samples_seen_ is negative")
    return counts


def restore_robust(model, stored):
    """Restore center and scale, which are None where they were not asked for."""
    each = (model.n_features_in_,)
    model.center_ = stored.optional_array("center_", FLOATS, each, required=model.with_centering)
    model.scale_ = positive_scale(model, stored) if model.with_scaling or stored.has("scale_") else None


def positive_scale(model, stored):
    """Return the scales of the features, all of which must be positive."""
    scale = stored.array("scale_", FLOATS, (model.n_features_in_,))
    demand((scale > 0).all(), "scale_ is not positive")
    return scale


def restore_normalizer(model, stored):
    """Check the norm: nothing is learned."""
    check_choice(model, "norm", "l1", "l2", "max")


# ------------------------------------------------------------ other transformers of single features


def restore_quantile(model, stored):
    """Restore the quantiles of the features, and the places of these quantiles between 0 and 1."""
    check_choice(model, "output_distribution", "uniform", "normal")
    model.references_ = stored.array("references_", "<f8", (None,))
    model.n_quantiles_ = len(model.references_)
    demand(model.n_quantiles_ >= 1, "references_ are missing")
    demand(is_not_decreasing(model.references_), "references_ are not in increasing order")
    demand(model.references_[0] >= 0 and model.references_[-1] <= 1, "references_ are out of range")
    model.quantiles_ = stored.array("quantiles_", FLOATS, (model.n_quantiles_, model.n_features_in_))
    demand(is_not_decreasing(model.quantiles_), "quantiles_ are not in increasing order")


def is_not_decreasing(values):
    """Say whether no value, or row of values, is less than the one before."""
    return (values[:-1] <= values[1:]).all()


def power_fields(model):
    """Return the powers, and the scaler after them, which scikit-learn keeps in a private attribute."""
    return {"lambdas_": model.lambdas_, "scaler": getattr(model, "_scaler", None)}


def restore_power(model, stored):
    """Restore the powers, and the scaler where there is to be one."""
    check_choice(model, "method", "yeo-johnson", "box-cox")
    model.lambdas_ = stored.array("lambdas_", "<f8", (model.n_features_in_,))
    if model.standardize or stored.has("scaler"):
        model._scaler = stored.part("scaler", StandardScaler)
        demand(model._scaler.n_features_in_ == model.n_features_in_, "scaler is for another number of features")


def tfidf_fields(model):
    """Return the weights of the terms, where there are any."""
    return {"idf_": getattr(model, "idf_", None)}


def restore_tfidf(model, stored):
    """Restore the weights of the terms, where there are to be any."""
    check_choice(model, "norm", "l1", "l2", None)
    if model.use_idf or stored.has("idf_"):
        model.idf_ = stored.array("idf_", FLOATS, (model.n_features_in_,))


def restore_variance(model, stored):
    """Restore the variances, of which some must be above the threshold."""
    is_number = isinstance(model.threshold, Real) and not isinstance(model.threshold, bool)
    demand(is_number, f"threshold={model.threshold!r} is no number")
    model.variances_ = stored.array("variances_", "<f8", (model.n_features_in_,))
    demand((model.variances_ > model.threshold).any(), "no variances_ are above the threshold")


# ------------------------------------------------------------ projections


def random_projection_fields(model):
    """Return what random projections have in common beside their components."""
    names = ("n_components_", "inverse_components_")
    return {name: getattr(model, name, None) for name in names}


def restore_random_projection(model, stored):
    """Restore what random projections have in common. The width of the output is private in scikit-learn."""
    model.n_components_ = stored.integer("n_components_")
    model._n_features_out = model.n_components_
    if model.compute_inverse_components or stored.has("inverse_components_"):
        shape = (model.n_features_in_, model.n_components_)
        model.inverse_components_ = stored.array("inverse_components_", FLOATS, shape)


def gaussian_fields(model):
    """Return the fields of a projection whose components are an array."""
    return random_projection_fields(model) | {"components_": model.components_}


def restore_gaussian(model, stored):
    """Restore a projection whose components are an array."""
    restore_random_projection(model, stored)
    model.components_ = stored.array("components_", FLOATS, (model.n_components_, model.n_features_in_))


def sparse_fields(model):
    """Return the fields of a projection whose components are a CSR matrix or array."""
    components = model.components_
    return random_projection_fields(model) | {
        "density_": model.density_,
        "is_array": isinstance(components, sp.sparray),
        "data": components.data,
        "indices": components.indices,
        "indptr": components.indptr,
    }


def restore_sparse(model, stored):
    """Restore a projection whose components are a CSR matrix or array."""
    restore_random_projection(model, stored)
    model.density_ = stored.number("density_")
    kind = sp.csr_array if stored.value("is_array", bool) else sp.csr_matrix
    indptr = stored.array("indptr", INDICES, (model.n_components_ + 1,))
    data = stored.array("data", FLOATS, (None,))
    indices = stored.array("indices", INDICES, data.shape)
    demand(indptr[-1] == len(data), "indptr are not those of the data")
    model.components_ = kind((data, indices, indptr), shape=(model.n_components_, model.n_features_in_))
    check_sparse(model.components_, "components_")


PCA_NAMES = (
    *("n_components_", "components_", "mean_", "explained_variance_", "explained_variance_ratio_", "singular_values_"),
    *("noise_variance_", "n_samples_"),
)


def restore_pca(model, stored):
    """Restore the components and what each of them explains."""
    model.n_components_ = stored.integer("n_components_")
    model.components_ = stored.array("components_", FLOATS, (model.n_components_, model.n_features_in_))
    model.mean_ = stored.array("mean_", FLOATS, (model.n_features_in_,))
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        setattr(model, name, stored.array(name, FLOATS, (model.n_components_,)))
    demand((model.explained_variance_ >= 0).all(), "explained_variance_ is negative")
    model.noise_variance_ = stored.value("noise_variance_", float, np.floating)
    demand(0 <= model.noise_variance_ < np.inf, "noise_variance_ is negative or not finite")
    model.n_samples_ = stored.integer("n_samples_")


# ------------------------------------------------------------ the codecs

MAX_ABS_SCALER = Codec(MaxAbsScaler, attributes("max_abs_", "scale_", "n_samples_seen_"), restore_max_abs)
MIN_MAX_SCALER = Codec(
    MinMaxScaler,
    attributes("data_min_", "data_max_", "data_range_", "min_", "scale_", "n_samples_seen_"),
    restore_min_max,
)
STANDARD_SCALER = Codec(StandardScaler, attributes("mean_", "var_", "scale_", "n_samples_seen_"), restore_standard)
ROBUST_SCALER = Codec(RobustScaler, attributes("center_", "scale_"), restore_robust)
NORMALIZER = Codec(Normalizer, attributes(), restore_normalizer)
QUANTILE_TRANSFORMER = Codec(QuantileTransformer, attributes("quantiles_", "references_"), restore_quantile)
POWER_TRANSFORMER = Codec(PowerTransformer, power_fields, restore_power)
TFIDF_TRANSFORMER = Codec(TfidfTransformer, tfidf_fields, restore_tfidf)
VARIANCE_THRESHOLD = Codec(VarianceThreshold, attributes("variances_"), restore_variance)
GAUSSIAN_RANDOM_PROJECTION = Codec(GaussianRandomProjection, gaussian_fields, restore_gaussian)
SPARSE_RANDOM_PROJECTION = Codec(SparseRandomProjection, sparse_fields, restore_sparse)
PCA_CODEC = Codec(PCA, attributes(*PCA_NAMES), restore_pca)
