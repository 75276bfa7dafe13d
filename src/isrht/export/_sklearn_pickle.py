"""A pickle of a plain scikit-learn pipeline, which predicts where scikit-learn is installed and isrht is not.

The pipeline holds one fitted ``LinearSVC``, whose weights of features include scaling and projection. A pickle runs
code when it is loaded, so it is only for users who trust its author. The name of the file says so, and so does
``pipeline.isrht_export_``.

scikit-learn has no classifier that takes a given sigmoid and still decides by the sign of the score. So a model that
has probabilities becomes two: the pipeline decides, and ``pipeline.isrht_probabilities_``, a logistic regression of the
same weights, has ``predict_proba``.
"""

from __future__ import annotations

import pickle

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

import isrht
from isrht.export._feature_weights import feature_weights

WARNING = "a pickle runs code when it is loaded: load it only if you trust whoever wrote it"


def chunks(model, path):
    """Yield the bytes of the pickle."""
    yield pickle.dumps(pipeline(model), protocol=5)


def pipeline(model):
    """Return a fitted ``Pipeline`` that decides as the model does and needs nothing but scikit-learn and NumPy."""
    weights = feature_weights(model)
    C = getattr(model, "C_", None) or model.C
    svc = LinearSVC(C=float(C), dual=False, fit_intercept=model.fit_intercept)
    svc.coef_, svc.intercept_, svc.classes_ = weights.coef.copy(), weights.intercept.copy(), weights.classes.copy()
    svc.n_features_in_, svc.n_iter_ = weights.n_features, int(model.n_iter_)
    if weights.feature_names is not None:
        svc.feature_names_in_ = weights.feature_names.copy()
    whole = Pipeline([("classifier", svc)])
    if weights.calibration is not None:
        whole.isrht_probabilities_ = probabilities(weights)
    whole.isrht_export_ = {
        "warning": WARNING,
        "trusted_only": True,
        "model": type(model).__name__,
        "isrht_version": isrht.__version__,
        "sklearn_version": sklearn.__version__,
    }
    return whole


def probabilities(weights):
    """Return a fitted logistic regression whose ``predict_proba`` is that of the model."""
    slope, offsets = weights.calibration.slope, weights.calibration.offsets
    model = LogisticRegression()
    model.coef_, model.intercept_ = slope * weights.coef, slope * weights.intercept + offsets
    model.classes_, model.n_features_in_, model.n_iter_ = weights.classes.copy(), weights.n_features, np.array([1])
    if weights.feature_names is not None:
        model.feature_names_in_ = weights.feature_names.copy()
    return model
