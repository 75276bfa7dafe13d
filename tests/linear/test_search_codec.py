"""The file of a search for C: a score for each C and fold, also where a fold had none."""

import numpy as np
import pytest
from forged_files import content_of, model_of, with_array, with_value
from kept_models import assert_same, fitted_model

from isrht.models import ModelFileError


def test_scores_that_are_not_finite_come_back():
    model = fitted_model("svm cv")
    model.scores_[0, 0] = model.mean_scores_[0] = model.std_scores_[0] = np.nan
    assert_same(model_of(content_of(model)), model)


@pytest.mark.parametrize(
    ("array", "change", "message"),
    [
        ("scores_", lambda a: a[:1], "scores_ has shape"),
        ("mean_scores_", lambda a: a[:1], "mean_scores_ has shape"),
        ("std_scores_", lambda a: a[:1], "std_scores_ has shape"),
        ("Cs_", lambda a: a * np.inf, "Cs_ is not finite"),
    ],
)
def test_scores_of_other_searches_are_refused(array, change, message):
    with pytest.raises(ModelFileError, match=message):
        model_of(with_array(content_of(fitted_model("svm cv")), array, change))


@pytest.mark.parametrize("name", ["C_", "weight_unit_"])
@pytest.mark.parametrize("value", [0, -1.0, {"float": "inf"}, "1"])
def test_numbers_are_positive(name, value):
    with pytest.raises(ModelFileError, match=f"{name} is"):
        model_of(with_value(content_of(fitted_model("svm cv")), name, value))


def test_a_file_without_probabilities_is_a_model_without_them():
    model = fitted_model("svm cv")
    model.calibration_ = None
    loaded = model_of(content_of(model))
    assert loaded.calibration_ is None
    assert not hasattr(loaded, "predict_proba")


@pytest.mark.parametrize("value", [-1.0, {"float": "nan"}, {"float": "inf"}])
def test_slopes_are_not_negative(value):
    with pytest.raises(ModelFileError, match="calibration_slope is"):
        model_of(with_value(content_of(fitted_model("svm cv")), "calibration_slope", value))


def test_offsets_are_as_many_as_classes():
    with pytest.raises(ModelFileError, match="calibration_offsets has shape"):
        model_of(with_array(content_of(fitted_model("svm cv")), "calibration_offsets", lambda a: a[:1]))
