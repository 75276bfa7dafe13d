"""What a model file keeps of scikit-learn's estimators: what ``transform`` needs, checked, and whole pipelines."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler
from sklearn.random_projection import GaussianRandomProjection
from sklearn.svm import LinearSVC
from test_persistence import N_FEATURES, assert_same, assert_same_bits, fitted_model, forge, make_data, read

from isrht import ISRHT, ISRHTClassifier, LinearSVM
from isrht.models._archive import ModelFileError
from isrht.models.model_file import load, save


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.isrht"


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
def test_values_out_of_range_are_refused(path, model, array, change, message):
    save(fitted_model(model), path)
    _, arrays = read(path)
    forge(path, arrays=arrays | {array: change(arrays[array])})
    with pytest.raises(ModelFileError, match=message):
        load(path)


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
        ("pipeline", "memory", "cache", "may not say where results are to be cached"),
        ("pipeline", "steps", [], "Pipeline has no parameter 'steps'"),
    ],
)
def test_parameters_that_would_mislead_a_fitted_estimator_are_refused(path, name, parameter, value, message):
    save(fitted_model(name), path)
    node = read(path)[0]["model"]
    node["params"][parameter] = value
    forge(path, node=node)
    with pytest.raises(ModelFileError, match=message):
        load(path)


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
def test_states_that_other_fits_leave(path, fit):
    X, y = make_data()
    model = fit(X, y)
    save(model, path)
    assert_same(load(path), model)
    assert_same_bits(load(path).transform(X), model.transform(X))


def test_the_width_of_an_automatic_projection_is_known_after_loading(path):
    """scikit-learn itself leaves ``n_components="auto"`` unresolved there."""
    X = np.random.default_rng(0).standard_normal((20, 3000))
    model = GaussianRandomProjection(eps=0.5, random_state=0).fit(X)
    save(model, path)
    assert len(load(path).get_feature_names_out()) == model.n_components_
    assert_same_bits(load(path).transform(X), model.transform(X))


# ------------------------------------------------------------ pipelines


def test_names_of_features_come_back(path):
    X, y = make_data()
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(N_FEATURES)])
    model = make_pipeline(MaxAbsScaler(), LinearSVM()).fit(frame, y)
    save(model, path)
    loaded = load(path)
    assert_same(loaded, model)
    assert_array_equal(loaded.feature_names_in_, frame.columns)
    assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])


def test_a_pipeline_that_passes_frames_on_still_does(path):
    """Otherwise its later steps, which know names, would warn of rows without them."""
    X, y = make_data()
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(N_FEATURES)])
    model = make_pipeline(MaxAbsScaler(), ISRHT(8, random_state=0), LinearSVM())
    model.set_output(transform="pandas").fit(frame, y)
    save(model, path)
    loaded = load(path)
    assert_same(loaded, model)
    assert_array_equal(loaded.predict(frame), model.predict(frame))
    pd.testing.assert_frame_equal(loaded[:-1].transform(frame), model[:-1].transform(frame))
    node = read(path)[0]["model"]
    assert node["parts"]["step0"]["values"]["transform_output"] == "pandas"
    for junk, message in [("evil", "no transform_output is called 'evil'"), (1, "of the wrong type")]:
        node["parts"]["step0"]["values"]["transform_output"] = junk
        forge(path, node=node)
        with pytest.raises(ModelFileError, match=message):
            load(path)


def test_where_results_are_cached_is_not_stored(path, tmp_path):
    X, y = make_data()
    model = make_pipeline(MaxAbsScaler(), LinearSVM(), memory=str(tmp_path / "cache")).fit(X, y)
    with pytest.warns(UserWarning, match="which load as defaults: memory$"):
        save(model, path)
    assert load(path).memory is None
    assert_same_bits(load(path).decision_function(X), model.decision_function(X))


def test_parameters_of_steps_that_are_not_stored_are_named(path):
    X, y = make_data()
    model = make_pipeline(MaxAbsScaler(), ISRHT(8, random_state=np.random.RandomState(0))).fit(X, y)
    with pytest.warns(UserWarning, match=r"which load as defaults: step1\.random_state$"):
        save(model, path)


@pytest.mark.parametrize(
    ("steps", "error", "message"),
    [
        ([MaxAbsScaler(), LinearSVC()], TypeError, "cannot save LinearSVC: a model file holds ISRHT, "),
        ([FunctionTransformer(np.abs), LinearSVM()], TypeError, "cannot save FunctionTransformer"),
        ([FeatureUnion([("a", MaxAbsScaler())]), LinearSVM()], TypeError, "cannot save FeatureUnion"),
        ([make_pipeline(MaxAbsScaler()), LinearSVM()], TypeError, "no Pipeline inside of a Pipeline"),
    ],
)
def test_steps_that_no_file_can_hold_are_named(path, steps, error, message):
    model = make_pipeline(*steps).fit(*make_data())
    with pytest.raises(error, match=message):
        save(model, path)
    assert not path.exists()


def test_unfitted_pipelines_are_not_saved(path):
    X, y = make_data()
    for steps in ([MaxAbsScaler(), LinearSVM()], [MaxAbsScaler(), LinearSVM().fit(X, y)]):
        with pytest.raises(NotFittedError):
            save(make_pipeline(*steps), path)
    assert not path.exists()


def test_changed_weights_of_a_step_are_not_saved_unfolded(path):
    model = make_pipeline(MaxAbsScaler(), ISRHTClassifier(8, C=1.0, random_state=0)).fit(*make_data())
    save(model, path, folded=False)
    assert_same(load(path), model)
    model[-1].coef_ = model[-1].coef_ + 1
    with pytest.raises(ModelFileError, match=r"coef_ is not what its parts give; save it with folded=True"):
        save(model, path, folded=False)


@pytest.mark.parametrize(
    "names",
    [[], ["a"], ["a", "a", "b"], ["a", "b", "c__d"], ["a", "b", 1], ["a", "b", None], "abc", ["a", "b", "c", "d", "e"]],
    ids=repr,
)
def test_names_that_no_steps_can_have_are_refused(path, names):
    save(fitted_model("pipeline"), path)
    node = read(path)[0]["model"]
    node["values"]["names"] = names
    if names == ["a", "b", "c", "d", "e"]:
        node["values"]["step4"] = "evil"
    forge(path, node=node)
    with pytest.raises(ModelFileError, match="names|wrong type|unknown fields|no step"):
        load(path)


def test_steps_that_do_not_fit_each_other_are_refused(path, tmp_path):
    X, y = make_data()
    save(make_pipeline(MaxAbsScaler(), LinearSVM()).fit(X, y), path)
    save(LinearSVM().fit(X[:, 1:], y), tmp_path / "other")
    (manifest, arrays), (other, other_arrays) = read(path), read(tmp_path / "other")
    node = manifest["model"]
    node["parts"]["step1"] = other["model"]
    arrays |= {f"step1/{key}": value for key, value in other_arrays.items()}
    forge(path, node=node, arrays=arrays)
    with pytest.raises(ModelFileError, match="MaxAbsScaler gives 37 features, but LinearSVM takes 36"):
        load(path)


def test_only_the_last_step_may_lack_transform(path):
    X, y = make_data()
    model = make_pipeline(MaxAbsScaler(), LinearSVM()).fit(X, y)
    model.steps = model.steps[::-1]
    with pytest.raises(ModelFileError, match="LinearSVM is not the last step, but has no transform"):
        save(model, path)


def test_a_pipeline_inside_of_a_pipeline_is_refused(path):
    save(fitted_model("pipeline"), path)
    manifest, arrays = read(path)
    node = manifest["model"]
    inner = {"class": "Pipeline", "params": {}, "not_stored": [], "values": {"names": ["a"]}, "parts": {}}
    node["parts"]["step0"] = inner
    forge(path, node=node, arrays={key: value for key, value in arrays.items() if not key.startswith("step0/")})
    with pytest.raises(ModelFileError, match="step0 is a Pipeline inside of a Pipeline"):
        load(path)


def test_a_pipeline_can_be_trained_again_after_loading(path):
    X, y = make_data()
    model = fitted_model("pipeline of a classifier")
    save(model, path)
    loaded = load(path)
    assert isinstance(loaded, Pipeline)
    assert_same_bits(loaded.fit(X, y).decision_function(X), model.decision_function(X))
