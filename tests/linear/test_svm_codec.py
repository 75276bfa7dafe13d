"""The file of a linear SVM: as many coefficients as classes and features need, for different labels in order."""

import numpy as np
import pytest
from forged_files import content_of, model_of, with_array, with_value
from kept_models import N_FEATURES, assert_same, fitted_model, make_data

from isrht import LinearSVM
from isrht.models import ModelFileError


@pytest.mark.parametrize("n_classes", [2, 3])
def test_coefficients_come_back(n_classes):
    X, y = make_data()
    model = LinearSVM().fit(X, y % n_classes)
    loaded = model_of(content_of(model))
    assert loaded.coef_.shape == (1 if n_classes == 2 else n_classes, N_FEATURES)
    assert_same(loaded, model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a[::-1].copy(), "classes_ are not different labels in order"),
        (lambda a: a * 0, "classes_ are not different labels in order"),
        (lambda a: a[:1], "classes_ are not two or more labels"),
        (lambda a: np.array([0, 1, np.nan]), "classes_ are not finite"),
        (lambda a: a[:2], "coef_ has shape"),
    ],
)
def test_labels_that_cannot_be_are_refused(change, message):
    with pytest.raises(ModelFileError, match=message):
        model_of(with_array(content_of(fitted_model("svm")), "classes_", change))


@pytest.mark.parametrize("n_iter", [0, -1, 1.5, "1", True])
def test_steps_are_a_positive_integer(n_iter):
    with pytest.raises(ModelFileError, match="n_iter_ is"):
        model_of(with_value(content_of(fitted_model("svm")), "n_iter_", n_iter))


@pytest.mark.parametrize(
    ("coef", "message"),
    [(np.full((3, N_FEATURES), np.nan), "coef_ is not finite"), (np.ones((3, 5)), "coef_ has shape")],
)
def test_a_model_that_was_spoilt_is_not_saved(coef, message):
    model = fitted_model("svm")
    model.coef_ = coef
    with pytest.raises(ModelFileError, match=message):
        content_of(model)
