"""The file of a selection by leverage: which features are kept, in order, all of them there."""

import numpy as np
import pytest
from forged_files import content_of, model_of, with_array
from kept_models import N_FEATURES, assert_same, fitted_model

from isrht.models import ModelFileError


def test_scores_and_kept_features_come_back():
    model = fitted_model("leverage")
    loaded = model_of(content_of(model))
    assert_same(loaded, model)
    assert loaded.get_support(indices=True).tolist() == model.get_support(indices=True).tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a + N_FEATURES, "the kept features are out of range"),
        (lambda a: a[::-1].copy(), "the kept features are not in increasing order"),
        (lambda a: np.repeat(a, 2), "the kept features are not in increasing order"),
        (lambda a: a[:0], "the kept features are missing"),
    ],
)
def test_features_that_cannot_be_kept_are_refused(change, message):
    with pytest.raises(ModelFileError, match=message):
        model_of(with_array(content_of(fitted_model("leverage")), "kept", change))
