"""The estimators that a model file can hold, and the places of their codecs.

A file names the class of its model. Only the classes of this list are ever built, so that no file can choose what runs.
A codec is imported when a model of its class is saved or loaded. To add an estimator, put a codec beside it and a line
here.
"""

from __future__ import annotations

from pkgutil import resolve_name

# Name of the class -> module and name of its codec. Errors list the classes in this order.
CODECS = {
    "ISRHT": "isrht.projections.isrht_codec:CODEC",
    "BoostedISRHT": "isrht.boosting.estimator_codec:CODEC",
    "SparseEmbedding": "isrht.projections.embedding_codec:CODEC",
    "LeverageScoreSelection": "isrht.projections.leverage_codec:CODEC",
    "LinearSVM": "isrht.linear.svm_codec:CODEC",
    "LinearSVMCV": "isrht.linear.search_codec:CODEC",
    "ISRHTClassifier": "isrht.classifier_codec:CODEC",
    "HadamardFourierFeatures": "isrht.projections.fourier_codec:CODEC",
    "HadamardRotation": "isrht.projections.hadamard_rotation_codec:CODEC",
    "MaxAbsScaler": "isrht.models._sklearn_codecs:MAX_ABS_SCALER",
    "MinMaxScaler": "isrht.models._sklearn_codecs:MIN_MAX_SCALER",
    "StandardScaler": "isrht.models._sklearn_codecs:STANDARD_SCALER",
    "RobustScaler": "isrht.models._sklearn_codecs:ROBUST_SCALER",
    "Normalizer": "isrht.models._sklearn_codecs:NORMALIZER",
    "QuantileTransformer": "isrht.models._sklearn_codecs:QUANTILE_TRANSFORMER",
    "PowerTransformer": "isrht.models._sklearn_codecs:POWER_TRANSFORMER",
    "TfidfTransformer": "isrht.models._sklearn_codecs:TFIDF_TRANSFORMER",
    "VarianceThreshold": "isrht.models._sklearn_codecs:VARIANCE_THRESHOLD",
    "GaussianRandomProjection": "isrht.models._sklearn_codecs:GAUSSIAN_RANDOM_PROJECTION",
    "SparseRandomProjection": "isrht.models._sklearn_codecs:SPARSE_RANDOM_PROJECTION",
    "PCA": "isrht.models._sklearn_codecs:PCA_CODEC",
    "Pipeline": "isrht.models._pipeline_codec:CODEC",
}


def codec_named(name):
    """Return the codec of a class of the list."""
    return resolve_name(CODECS[name])


def codec_of(model):
    """Return the codec of an estimator, or raise a TypeError that names the classes which can be saved."""
    name = type(model).__name__
    codec = codec_named(name) if name in CODECS else None
    if codec is None or type(model) is not codec.cls:
        raise TypeError(f"cannot save {type(model).__qualname__}: a model file holds {', '.join(CODECS)}")
    return codec
