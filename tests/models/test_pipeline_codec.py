"""What a model file keeps of pipelines: their steps under their names, as long as these follow each other."""

import numpy as np
import pandas as pd
import pytest
from forged_files import content_of, forged, model_of, node_of, read, with_part_of
from kept_models import N_FEATURES, assert_same, assert_same_bits, fitted_model, make_data
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler
from sklearn.svm import LinearSVC

from isrht import ISRHT, ISRHTClassifier, LinearSVM, save
from isrht.models import ModelFileError


def named_data():
    X, y = make_data()
    return pd.DataFrame(X, columns=[f"f{k}" for k in range(N_FEATURES)]), y


def test_names_of_features_come_back():
    frame, y = named_data()
    model = make_pipeline(MaxAbsScaler(), LinearSVM()).fit(frame, y)
    loaded = model_of(content_of(model))
    assert_same(loaded, model)
    assert_array_equal(loaded.feature_names_in_, frame.columns)
    assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])


def test_a_pipeline_that_passes_frames_on_still_does():
    """Otherwise its later steps, which know names, would warn of rows without them."""
    frame, y = named_data()
    model = make_pipeline(MaxAbsScaler(), ISRHT(8, random_state=0), LinearSVM())
    model.set_output(transform="pandas").fit(frame, y)
    content = content_of(model)
    assert node_of(content)["parts"]["step0"]["values"]["transform_output"] == "pandas"
    loaded = model_of(content)
    assert_same(loaded, model)
    assert_array_equal(loaded.predict(frame), model.predict(frame))
    pd.testing.assert_frame_equal(loaded[:-1].transform(frame), model[:-1].transform(frame))


@pytest.mark.parametrize(
    ("junk", "message"), [("evil", "no transform_output is called 'evil'"), (1, "of the wrong type")]
)
def test_frames_that_cannot_be_are_refused(junk, message):
    model = make_pipeline(MaxAbsScaler(), LinearSVM()).set_output(transform="pandas")
    content = content_of(model.fit(*named_data()))
    node = node_of(content)
    node["parts"]["step0"]["values"]["transform_output"] = junk
    with pytest.raises(ModelFileError, match=message):
        model_of(forged(content, node=node))


def test_a_pipeline_can_be_trained_again_after_loading():
    X, y = make_data()
    model = fitted_model("pipeline of a classifier")
    loaded = model_of(content_of(model))
    assert isinstance(loaded, Pipeline)
    assert_same_bits(loaded.fit(X, y).decision_function(X), model.decision_function(X))


# ------------------------------------------------------------ what is not saved


def test_where_results_are_cached_is_not_stored(tmp_path):
    X, y = make_data()
    model = make_pipeline(MaxAbsScaler(), LinearSVM(), memory=str(tmp_path / "cache")).fit(X, y)
    with pytest.warns(UserWarning, match="which load as defaults: memory$"):
        loaded = model_of(content_of(model))
    assert loaded.memory is None
    assert_same_bits(loaded.decision_function(X), model.decision_function(X))


def test_parameters_of_steps_that_are_not_stored_are_named():
    model = make_pipeline(MaxAbsScaler(), ISRHT(8, random_state=np.random.RandomState(0))).fit(*make_data())
    with pytest.warns(UserWarning, match=r"which load as defaults: step1\.random_state$"):
        content_of(model)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([MaxAbsScaler(), LinearSVC()], "cannot save LinearSVC: a model file holds ISRHT, "),
        ([FunctionTransformer(np.abs), LinearSVM()], "cannot save FunctionTransformer"),
        ([FeatureUnion([("a", MaxAbsScaler())]), LinearSVM()], "cannot save FeatureUnion"),
        ([make_pipeline(MaxAbsScaler()), LinearSVM()], "no Pipeline inside of a Pipeline"),
    ],
)
def test_steps_that_no_file_can_hold_are_named(path, steps, message):
    model = make_pipeline(*steps).fit(*make_data())
    with pytest.raises(TypeError, match=message):
        save(model, path)
    assert not path.exists()


def test_unfitted_pipelines_are_not_saved(path):
    X, y = make_data()
    for steps in ([MaxAbsScaler(), LinearSVM()], [MaxAbsScaler(), LinearSVM().fit(X, y)]):
        with pytest.raises(NotFittedError):
            save(make_pipeline(*steps), path)
    assert not path.exists()


def test_changed_weights_of_a_step_are_not_saved_unfolded():
    model = make_pipeline(MaxAbsScaler(), ISRHTClassifier(8, selection="supervised", C=1.0, random_state=0)).fit(
        *make_data()
    )
    assert_same(model_of(content_of(model, folded=False)), model)
    model[-1].coef_ = model[-1].coef_ + 1
    with pytest.raises(ModelFileError, match=r"coef_ is not what its parts give; save it with folded=True"):
        content_of(model, folded=False)


def test_only_the_last_step_may_lack_transform():
    model = make_pipeline(MaxAbsScaler(), LinearSVM()).fit(*make_data())
    model.steps = model.steps[::-1]
    with pytest.raises(ModelFileError, match="LinearSVM is not the last step, but has no transform"):
        content_of(model)


# ------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("memory", "cache", "may not say where results are to be cached"),
        ("steps", [], "Pipeline has no parameter 'steps'"),
    ],
)
def test_parameters_that_no_file_may_set_are_refused(parameter, value, message):
    content = content_of(fitted_model("pipeline"))
    node = node_of(content)
    node["params"][parameter] = value
    with pytest.raises(ModelFileError, match=message):
        model_of(forged(content, node=node))


@pytest.mark.parametrize(
    "names",
    [[], ["a"], ["a", "a", "b"], ["a", "b", "c__d"], ["a", "b", 1], ["a", "b", None], "abc", ["a", "b", "c", "d", "e"]],
    ids=repr,
)
def test_names_that_no_steps_can_have_are_refused(names):
    content = content_of(fitted_model("pipeline"))
    node = node_of(content)
    node["values"]["names"] = names
    if names == ["a", "b", "c", "d", "e"]:
        node["values"]["step4"] = "evil"
    with pytest.raises(ModelFileError, match="names|wrong type|unknown fields|no step"):
        model_of(forged(content, node=node))


def test_steps_that_do_not_fit_each_other_are_refused():
    X, y = make_data()
    content = content_of(make_pipeline(MaxAbsScaler(), LinearSVM()).fit(X, y))
    other = content_of(LinearSVM().fit(X[:, 1:], y))
    with pytest.raises(ModelFileError, match="MaxAbsScaler gives 37 features, but LinearSVM takes 36"):
        model_of(with_part_of(content, "step1", other))


def test_a_pipeline_inside_of_a_pipeline_is_refused():
    content = content_of(fitted_model("pipeline"))
    manifest, arrays = read(content)
    node = manifest["model"]
    node["parts"]["step0"] = {
        "class": "Pipeline",
        "params": {},
        "not_stored": [],
        "values": {"names": ["a"]},
        "parts": {},
    }
    arrays = {key: value for key, value in arrays.items() if not key.startswith("step0/")}
    with pytest.raises(ModelFileError, match="step0 is a Pipeline inside of a Pipeline"):
        model_of(forged(content, node=node, arrays=arrays))
