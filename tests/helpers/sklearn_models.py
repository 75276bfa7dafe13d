"""Estimators of scikit-learn that a model file keeps, and pipelines of them and ours."""

from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from isrht import ISRHT, HadamardFourierFeatures, ISRHTClassifier, LinearSVM, make_projection

STEPS = [
    *[("größe", StandardScaler(with_mean=False)), ("nothing", "passthrough"), ("none", None)],
    ("a-b c", ISRHTClassifier(8, selection="supervised", C=1.0, scale="maxabs", random_state=0)),
]

SKLEARN_MODELS = {
    "maxabs": MaxAbsScaler(),
    "minmax": MinMaxScaler((-1, 1)),
    "minmax clipped": MinMaxScaler(clip=True),
    "standard": StandardScaler(),
    "standard without mean": StandardScaler(with_mean=False),
    "standard without anything": StandardScaler(with_mean=False, with_std=False),
    "robust": RobustScaler(),
    "robust without center": RobustScaler(with_centering=False, unit_variance=True),
    "normalizer": Normalizer("l1"),
    "quantile": QuantileTransformer(n_quantiles=20, random_state=0),
    "quantile normal": QuantileTransformer(n_quantiles=20, output_distribution="normal", random_state=0),
    "power": PowerTransformer(),
    "power alone": PowerTransformer(standardize=False),
    "tfidf": TfidfTransformer(),
    "tf": TfidfTransformer(use_idf=False, norm=None),
    "variance": VarianceThreshold(0.4),
    "gaussian": make_projection("Gaussian", 8, random_state=0),
    "achlioptas": make_projection("Achlioptas", 8, random_state=0),
    "achlioptas inverted": make_projection("Achlioptas", 8, random_state=0).set_params(compute_inverse_components=True),
    "pca": make_projection("PCA", 8, random_state=0),
    "pca whitened": PCA(0.9, whiten=True),
    "pipeline": make_pipeline(MaxAbsScaler(), ISRHT(8, random_state=0), LinearSVM()),
    "pipeline of a classifier": Pipeline(STEPS),
    "pipeline of a sketch": make_pipeline(Normalizer(), ISRHT(8, sketch_size=16, random_state=0), LinearSVM()),
    "pipeline of features": make_pipeline(MaxAbsScaler(), HadamardFourierFeatures(64, random_state=0), LinearSVM()),
    "pipeline of a selector": make_pipeline(VarianceThreshold(0.4), MaxAbsScaler(), LinearSVM()),
    "pipeline of a transformer": make_pipeline(MaxAbsScaler(), ISRHT(8, random_state=0)),
    "pipeline of nothing": Pipeline([("first", "passthrough"), ("svm", LinearSVM())]),
}


def takes_no_sparse_rows(model):
    """Say whether a transformer, or the scaler of a classifier, takes no sparse rows, or none with negative values."""
    centers = getattr(model, "with_mean", False) or getattr(model, "scale", None) == "minmax"
    return centers or isinstance(model, MinMaxScaler | PowerTransformer | QuantileTransformer)
