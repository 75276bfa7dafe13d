"""The file of a count sketch: components in few bytes, signs in bits, and none that cannot be."""

import numpy as np
import pytest
from forged_files import content_of, forged, model_of, node_of, read, with_array
from kept_models import assert_same, fitted_model, make_data

from isrht import SparseEmbedding
from isrht.models import ModelFileError


@pytest.mark.parametrize(("n_components", "dtype"), [(1, "|u1"), (256, "|u1"), (257, "<u2"), (65_537, "<u4")])
def test_components_take_as_few_bytes_as_they_need(n_components, dtype):
    model = SparseEmbedding(n_components, random_state=0).fit(make_data()[0])
    content = content_of(model)
    assert read(content)[1]["components_"].dtype == dtype
    assert_same(model_of(content), model)


def test_components_out_of_range_are_refused():
    content = content_of(fitted_model("embedding"))
    with pytest.raises(ModelFileError, match="components_ are out of range"):
        model_of(with_array(content, "components_", lambda a: a + np.uint16(300)))


def test_a_model_that_was_spoilt_is_not_saved():
    model = fitted_model("embedding")
    model.n_components_ = 2
    with pytest.raises(ModelFileError, match="components_ are out of range"):
        content_of(model)


@pytest.mark.parametrize("value", ["auto", 0, True, 2.0, 2**31])
def test_the_parameter_of_an_old_file_must_be_a_number_of_components(value):
    content = content_of(fitted_model("embedding"))
    node = node_of(content)
    del node["values"]["n_components_"]
    node["params"]["n_components"] = value
    with pytest.raises(ModelFileError, match="is no number of components"):
        model_of(forged(content, node=node))
