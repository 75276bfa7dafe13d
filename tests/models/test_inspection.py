"""What is said of a model must be true of it, and come from its file alone."""

import json

import numpy as np
import pandas as pd
import pytest
from exported_models import MODELS, fitted, make_data
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn_models import SKLEARN_MODELS

from isrht import (
    ISRHT,
    BoostedISRHT,
    HadamardFourierFeatures,
    ISRHTClassifier,
    LeverageScoreSelection,
    LinearSVM,
    SparseEmbedding,
    save,
)
from isrht.models.inspection import inspect_file


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_the_facts_are_those_of_the_model(name, n_classes, tmp_path):
    model, _ = fitted(name, n_classes)
    save(model, tmp_path / "model")
    facts = inspect_file(tmp_path / "model", n_top=5)
    json.dumps(facts, allow_nan=False)
    assert facts["class"] == type(model).__name__
    assert facts["file"]["bytes"] == (tmp_path / "model").stat().st_size
    assert facts["learned"]["n_features_in_"] == 37
    assert facts["learned"]["classes_"] == model.classes_.tolist()
    strength = np.abs(model.coef_).max(axis=0)
    shown = [row["feature"] for row in facts["features"]]
    assert shown == sorted(range(37), key=lambda k: (-strength[k], k))[:5]
    for row in facts["features"]:
        problem = 0 if n_classes == 2 else model.classes_.tolist().index(row["class"])
        assert row["weight"] == model.coef_[problem, row["feature"]]
        assert abs(row["weight"]) == strength[row["feature"]]


def test_the_histogram_is_there_where_columns_were_scored(tmp_path):
    for name in MODELS:
        model, _ = fitted(name)
        save(model, tmp_path / "model")
        scores = inspect_file(tmp_path / "model")["column_scores"]
        assert (scores is None) == (name in ("uniform", "boosted", "svm", "svm cv"))
        if scores is not None:
            assert sum(scores["columns"]) == model.projection_.n_features_padded_
            assert sum(scores["kept"]) == 8


def test_names_of_features_are_shown(tmp_path):
    X, y = make_data()
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    save(MODELS["svm"].fit(frame, y), tmp_path / "model")
    for row in inspect_file(tmp_path / "model")["features"]:
        assert row["name"] == f"f{row['feature']}"


def test_projections_have_no_telling_features(tmp_path):
    X, y = make_data()
    for model in (ISRHT(8), BoostedISRHT(4), SparseEmbedding(8), LeverageScoreSelection(4), HadamardFourierFeatures(8)):
        save(model.fit(X, y), tmp_path / "model")
        facts = inspect_file(tmp_path / "model")
        assert facts["features"] is None
        json.dumps(facts, allow_nan=False)


def test_the_steps_of_a_pipeline_are_shown(tmp_path):
    X, y = make_data()
    steps = [
        ("scale", StandardScaler()),
        ("skip", "passthrough"),
        ("classify", ISRHTClassifier(8, selection="supervised", C=1.0)),
    ]
    save(Pipeline(steps).fit(X, y), tmp_path / "model")
    facts = inspect_file(tmp_path / "model")
    json.dumps(facts, allow_nan=False)
    assert facts["class"] == "Pipeline"
    assert "steps" not in facts["parameters"]
    assert list(facts["parts"]) == ["scale", "skip", "classify", "classify.projection_", "classify.svm_"]
    assert facts["parts"]["scale"]["class"] == "StandardScaler"
    assert facts["parts"]["skip"] == {"class": "passthrough"}
    assert facts["learned"]["n_features_in_"] == 37
    assert facts["learned"]["classes_"] == [-3, 7]
    assert sum(facts["column_scores"]["kept"]) == 8
    assert facts["features"] is None  # weights are per unit of what the steps before have made of the features


@pytest.mark.parametrize("name", SKLEARN_MODELS)
def test_every_file_can_be_shown(name, tmp_path):
    model = clone(SKLEARN_MODELS[name]).fit(*make_data())
    save(model, tmp_path / "model")
    facts = inspect_file(tmp_path / "model")
    json.dumps(facts, allow_nan=False)
    assert facts["class"] == type(model).__name__


def test_parameters_that_a_file_cannot_hold_are_named(tmp_path):
    X, y = make_data()
    with pytest.warns(UserWarning, match="random_state"):
        save(ISRHT(8, random_state=np.random.RandomState(0)).fit(X, y), tmp_path / "model")
    assert inspect_file(tmp_path / "model")["not_stored"] == ["random_state"]


def test_weights_of_classes_are_shown_by_class(tmp_path):
    X, y = make_data()
    save(LinearSVM(class_weight={-3: 2.5, 7: 1}).fit(X, y), tmp_path / "model")
    assert inspect_file(tmp_path / "model")["parameters"]["class_weight"] == {"-3": 2.5, "7": 1}
