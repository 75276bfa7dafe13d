"""What a model file keeps of scikit-learn's estimators: all that ``transform`` needs, and nothing that cannot be."""

import numpy as np
import pytest
from forged_files import content_of, forged, model_of, node_of, with_array
from kept_models import N_FEATURES, assert_same, assert_same_bits, fitted_model, make_data
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection

from isrht.models import ModelFileError


def changed_at(place, value):
    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("model", "array", "change", "message"),
    [
        ("maxabs", "scale_", lambda a: 0 * a, "scale_ is not positive"),
        ("minmax", "scale_", lambda a: -a, "scale_ is not positive"),
        ("standard", "var_", lambda a: -a, "var_ is negative"),
        ("standard", "scale_", lambda a: 0 * a, "scale_ is not positive"),
        ("robust", "scale_", lambda a: -a, "scale_ is not positive"),
        ("quantile", "references_", lambda a: a[::-1].copy(), "references_ are not in increasing order"),
        ("quantile", "references_", lambda a: a + 1, "references_ are out of range"),
        ("quantile", "references_", lambda a: a - 1, "references_ are out of range"),
        ("quantile", "references_", lambda a: a[:0], "references_ are missing"),
        ("quantile", "quantiles_", lambda a: a[::-1].copy(), "quantiles_ are not in increasing order"),
        ("power", "scaler/scale_", lambda a: 0 * a, "scale_ is not positive"),
        ("variance", "variances_", lambda a: 0 * a, "no variances_ are above the threshold"),
        ("gaussian", "components_", lambda a: a[:5], "components_ has shape"),
        ("achlioptas", "indices", lambda a: a + N_FEATURES, "components_ is malformed: row 0 has column index"),
        ("achlioptas", "indices", lambda a: a - N_FEATURES, "components_ is malformed: row 0 has column index"),
        ("achlioptas", "indptr", changed_at(1, 2**30), "components_ is malformed: indptr decreases at row 1"),
        ("achlioptas", "indptr", changed_at(0, 1), "its parts do not make a model"),
        ("achlioptas", "indptr", changed_at(-1, 1), "indptr are not those of the data"),
        ("achlioptas inverted", "inverse_components_", lambda a: a[1:], "inverse_components_ has shape"),
        ("pca", "explained_variance_", lambda a: -a, "explained_variance_ is negative"),
        ("pca", "mean_", lambda a: a[1:], "mean_ has shape"),
    ],
)
def test_values_out_of_range_are_refused(model, array, change, message):
    with pytest.raises(ModelFileError, match=message):
        model_of(with_array(content_of(fitted_model(model)), array, change))


@pytest.mark.parametrize(
    ("name", "parameter", "value", "message"),
    [
        ("minmax", "feature_range", {"tuple": [1, -1]}, "is no range"),
        ("minmax", "feature_range", {"tuple": [-1, 0, 1]}, "is no range"),
        ("minmax", "feature_range", "ab", "is no range"),
        ("normalizer", "norm", "l3", "norm='l3' is not one of 'l1', 'l2', 'max'"),
        ("normalizer", "norm", [], r"norm=\[\] is not one of"),
        ("quantile", "output_distribution", "other", "output_distribution='other' is not one of"),
        ("power", "method", "other", "method='other' is not one of"),
        ("tfidf", "norm", "max", "norm='max' is not one of 'l1', 'l2', None"),
        ("variance", "threshold", "0", "threshold='0' is no number"),
        ("variance", "threshold", 1e9, "no variances_ are above the threshold"),
        ("variance", "threshold", {"float": "nan"}, "no variances_ are above the threshold"),
        ("standard without anything", "with_mean", True, "mean_ is missing"),
        ("standard without anything", "with_std", True, "var_ is missing"),
        ("robust without center", "with_centering", True, "center_ is missing"),
        ("power alone", "standardize", True, "scaler is missing"),
        ("tf", "use_idf", True, "idf_ is missing"),
        ("gaussian", "compute_inverse_components", True, "inverse_components_ is missing"),
    ],
)
def test_parameters_that_would_mislead_a_fitted_estimator_are_refused(name, parameter, value, message):
    content = content_of(fitted_model(name))
    node = node_of(content)
    node["params"][parameter] = value
    with pytest.raises(ModelFileError, match=message):
        model_of(forged(content, node=node))


def with_missing_values(X, y):
    X = X.copy()
    X[3, 4] = np.nan
    return StandardScaler().fit(X)


@pytest.mark.parametrize(
    "fit",
    [
        with_missing_values,
        lambda X, y: StandardScaler().fit(X, sample_weight=np.linspace(0.1, 1, len(X))),
        lambda X, y: StandardScaler().partial_fit(X[:10]).partial_fit(X[10:]),
        lambda X, y: StandardScaler().fit(X.astype(np.float32)),
        lambda X, y: GaussianRandomProjection(4, random_state=0).fit(X.astype(np.float32)),
    ],
    ids=["missing values", "weights", "partial_fit", "float32", "float32 projection"],
)
def test_states_that_other_fits_leave(fit):
    X, y = make_data()
    model = fit(X, y)
    loaded = model_of(content_of(model))
    assert_same(loaded, model)
    assert_same_bits(loaded.transform(X), model.transform(X))


def test_the_width_of_an_automatic_projection_is_known_after_loading():
    """scikit-learn itself leaves ``n_components="auto"`` unresolved there."""
    X = np.random.default_rng(0).standard_normal((20, 3000))
    model = GaussianRandomProjection(eps=0.5, random_state=0).fit(X)
    loaded = model_of(content_of(model))
    assert len(loaded.get_feature_names_out()) == model.n_components_
    assert_same_bits(loaded.transform(X), model.transform(X))
