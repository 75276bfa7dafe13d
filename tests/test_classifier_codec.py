"""The file of a classifier: parts that fit each other, and weights of features that may be computed again."""

import numpy as np
import pytest
from forged_files import content_of, model_of, read, with_array, with_part_of
from kept_models import MODELS, N_FEATURES, assert_same, assert_same_bits, fit, fitted_model, make_data
from sklearn.preprocessing import StandardScaler

from isrht.models import ModelFileError

CLASSIFIERS = [name for name in MODELS if name.startswith("classifier")]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_weights_that_were_left_out_are_computed_again(name):
    model = fitted_model(name)
    content = content_of(model, folded=False)
    assert not {"coef_", "intercept_"} & read(content)[1].keys()
    assert_same(model_of(content), model)


def test_changed_weights_are_not_saved_unfolded():
    model = fitted_model("classifier")
    model.coef_ = model.coef_ + 1
    with pytest.raises(ModelFileError, match=r"coef_ is not what its parts give; save it with folded=True"):
        content_of(model, folded=False)
    assert_same_bits(model_of(content_of(model)).coef_, model.coef_)


@pytest.mark.parametrize(("name", "part"), [("classifier cv", "scaler_"), ("classifier", "projection_")])
def test_parts_for_another_number_of_features_are_refused(name, part):
    X, y = make_data()
    other = getattr(fit(name, X[:, 1:], y), part)
    with pytest.raises(ModelFileError, match="for another number of features"):
        model_of(with_part_of(content_of(fitted_model(name)), part, content_of(other)))


def test_an_svm_for_another_number_of_columns_is_refused():
    other = fitted_model("svm")
    with pytest.raises(ModelFileError, match="svm_ does not fit projection_"):
        model_of(with_part_of(content_of(fitted_model("classifier")), "svm_", content_of(other)))


@pytest.mark.parametrize(
    ("name", "array", "change", "message"),
    [
        ("classifier", "svm_/classes_", lambda a: a + 1, "svm_ is for other classes"),
        ("classifier cv", "scaler_/scale_", lambda a: -a, "scale_ is not positive"),
    ],
)
def test_values_out_of_range_are_refused(name, array, change, message):
    with pytest.raises(ModelFileError, match=message):
        model_of(with_array(content_of(fitted_model(name)), array, change))


def test_a_scaler_that_no_classifier_has_is_not_saved():
    model = fitted_model("classifier")
    model.scaler_ = StandardScaler().fit(np.eye(N_FEATURES))
    with pytest.raises(ModelFileError, match="scaler_/ is of class StandardScaler, not"):
        content_of(model)
