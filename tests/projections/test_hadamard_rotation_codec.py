"""The file of a rotation: its seed, and the signs of whole rounds."""

import pytest
from forged_files import content_of, model_of, with_array, with_value
from kept_models import assert_same, fitted_model

from isrht.models import ModelFileError


@pytest.mark.parametrize("name", ["rotation", "rotation of one round"])
def test_signs_have_their_shape_again(name):
    model = fitted_model(name)
    assert_same(model_of(content_of(model)), model)


@pytest.mark.parametrize(
    ("value", "number", "message"),
    [
        ("seed_", -1, "seed_ is out of range"),
        ("seed_", 2**64, "seed_"),
        ("n_steps", 3, "n_steps is not a number of whole rounds"),
        ("n_steps", 8, "n_steps is not a number of whole rounds"),
        ("n_steps", 0, "n_steps is 0, not a positive integer"),
        ("n_steps", 6, "signs_"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(value, number, message):
    """The model has 37 features, of which 36 are a length: two steps a round."""
    with pytest.raises(ModelFileError, match=message):
        model_of(with_value(content_of(fitted_model("rotation")), value, number))


def test_signs_that_do_not_fit_are_refused():
    with pytest.raises(ModelFileError, match="signs_ has shape"):
        model_of(with_array(content_of(fitted_model("rotation")), "signs_", lambda a: a[:-1]))
