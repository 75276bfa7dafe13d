"""What a model file keeps of an :class:`~isrht.ISRHTClassifier`: its scaler, projection and SVM, and how C was chosen.

The weights of the original features follow from these parts. They take 8 bytes per feature and class, where the parts
take about a bit per feature, so a file may leave them out: they are then computed again on loading.
"""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler

from isrht.boosting.estimator import BoostedISRHT
from isrht.classifier import ISRHTClassifier
from isrht.linear import search_codec, svm_codec
from isrht.linear.search import LinearSVMCV
from isrht.linear.svm import LinearSVM
from isrht.projections.isrht import ISRHT
from isrht.support.codec import Codec, demand
from isrht.support.threads import one_blas_thread


def fields(model):
    """Return the fields of a fitted model."""
    parts = {name: getattr(model, name) for name in ("scaler_", "projection_", "svm_", "all_features_svm_")}
    parts |= {"blend_factors_": model.blend_factors_, "blend_share_": model.blend_share_ or None}
    return parts | svm_codec.fields(model) | search_codec.search_fields(model) | search_codec.calibration_fields(model)


def restore(model, stored):
    """Make a fitted model of stored fields, whose weights of features may still be missing."""
    model.scaler_ = stored.part("scaler_", MaxAbsScaler, MinMaxScaler) if stored.has("scaler_") else None
    model.projection_ = stored.part("projection_", ISRHT, BoostedISRHT)
    model.svm_ = stored.part("svm_", LinearSVM, LinearSVMCV)
    if stored.has("scores_"):
        search_codec.restore_search(model, stored)
    else:
        model.C_ = stored.number("C_")
    search_codec.restore_weight_unit(model, stored)
    if stored.has("coef_"):
        svm_codec.restore(model, stored)
    else:
        model.classes_, model.n_iter_ = stored.labels("classes_"), stored.integer("n_iter_")
    search_codec.restore_calibration(model, stored)
    _restore_blend(model, stored)
    _check_parts(model)


def _restore_blend(model, stored):
    """Restore the SVM on all features. The first files do not hold it, and those of a model that is no blend."""
    model.all_features_svm_, model.blend_factors_, model.blend_share_ = None, None, 0.0
    if not stored.has("all_features_svm_"):
        return
    model.all_features_svm_ = stored.part("all_features_svm_", LinearSVM)
    model.blend_factors_ = stored.array("blend_factors_", "<f8", (2,))
    model.blend_share_ = stored.number("blend_share_")


def derive(model):
    """Compute the weights of the original features from the parts."""
    with one_blas_thread():  # a BLAS sum that is shared among threads rounds differently
        model.coef_, model.intercept_ = model._on_features()


def _check_parts(model):
    """Demand that scaler, projection and SVM fit each other and the features."""
    n_features = {part.n_features_in_ for part in (model.scaler_, model.projection_) if part is not None}
    demand(n_features == {model.n_features_in_}, "scaler_ or projection_ is for another number of features")
    demand(model.svm_.n_features_in_ == model.projection_.n_components_, "svm_ does not fit projection_")
    demand(np.array_equal(model.svm_.classes_, model.classes_), "svm_ is for other classes")
    if (svm := model.all_features_svm_) is not None:
        demand(svm.n_features_in_ == model.n_features_in_, "all_features_svm_ is for another number of features")
        demand(np.array_equal(svm.classes_, model.classes_), "all_features_svm_ is for other classes")


CODEC = Codec(ISRHTClassifier, fields, restore, derived=("coef_", "intercept_"), derive=derive)
