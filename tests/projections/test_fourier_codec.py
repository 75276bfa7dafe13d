"""The file of Fourier features: signs of whole blocks of rotations, and columns that there are."""

import numpy as np
import pytest
from forged_files import content_of, model_of, with_array, with_value
from kept_models import assert_same, fitted_model

from isrht.models import ModelFileError


@pytest.mark.parametrize("name", ["fourier", "fourier chosen"])
def test_signs_have_their_shape_again(name):
    model = fitted_model(name)
    assert_same(model_of(content_of(model)), model)


@pytest.mark.parametrize(
    ("array", "change", "message"),
    [
        ("phases_", lambda a: a[:-1], "phases_ are not those of whole blocks"),
        ("phases_", lambda a: a[:0], "phases_ are not those of whole blocks"),
        ("phases_", lambda a: np.tile(a, 2), "signs_ has shape"),
        ("selected_columns_", lambda a: a + 64, "selected_columns_ are out of range"),
        ("selected_columns_", lambda a: a[::-1].copy(), "selected_columns_ are not in increasing order"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(array, change, message):
    with pytest.raises(ModelFileError, match=message):
        model_of(with_array(content_of(fitted_model("fourier")), array, change))


@pytest.mark.parametrize("gamma", [0, -1.0, {"float": "inf"}])
def test_a_kernel_that_cannot_be_is_refused(gamma):
    with pytest.raises(ModelFileError, match="gamma_ is .*, not a positive number"):
        model_of(with_value(content_of(fitted_model("fourier")), "gamma_", gamma))


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("phases_", np.ones(65), "phases_ are not those of whole blocks"),
        ("selected_columns_", np.arange(500), "selected_columns_ are out of range"),
    ],
)
def test_a_model_that_was_spoilt_is_not_saved(attribute, value, message):
    model = fitted_model("fourier")
    setattr(model, attribute, value)
    with pytest.raises(ModelFileError, match=message):
        content_of(model)
