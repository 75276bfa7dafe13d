"""A pickle of a plain scikit-learn pipeline, which predicts where scikit-learn is installed and isrht is not.

The pipeline holds one fitted ``LinearSVC``, whose weights of features include scaling and projection. A pickle runs
code when it is loaded, so it is only for users who trust its author. The name of the file says so, and so does
``pipeline.isrht_export_``.
"""

from __future__ import annotations

import pickle

import sklearn
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
    whole.isrht_export_ = {
        "warning": WARNING,
        "trusted_only": True,
        "model": type(model).__name__,
        "isrht_version": isrht.__version__,
        "sklearn_version": sklearn.__version__,
    }
    return whole
