"""The file of boosted columns: every kind of diagonal comes back, and columns that cannot be are refused."""

import pytest
from forged_files import content_of, model_of, read, with_array, with_value
from kept_models import assert_same_bits, fitted_model

from isrht.models import ModelFileError


@pytest.mark.parametrize(
    ("name", "kept", "dtype"),
    [("boosted", {"units"}, "<f4"), ("boosted z", set(), "<f4"), ("boosted signs", {"support"}, "|u1")],
)
def test_every_kind_of_diagonal_comes_back(name, kept, dtype):
    model = fitted_model(name)
    content = content_of(model)
    _, arrays = read(content)
    assert {"units", "support"} & arrays.keys() == kept
    assert arrays["stored"].dtype == dtype
    assert_same_bits(model_of(content).diagonals_, model.diagonals_)


@pytest.mark.parametrize(
    ("name", "array", "change", "message"),
    [
        ("boosted", "selected_columns_", lambda a: a + 64, "selected_columns_ are out of range"),
        ("boosted", "column_rounds_", lambda a: a + 64, "column_rounds_ are out of range"),
        ("boosted", "selected_columns_", lambda a: 0 * a + 1, "the learned columns do not come first"),
        ("boosted z", "column_rounds_", lambda a: 0 * a, "the learned columns do not come first"),
        ("boosted z", "norms", lambda a: -a, "norms of the diagonals are not positive"),
        ("boosted signs", "support", lambda a: a[:-1], "support has shape"),
    ],
)
def test_values_out_of_range_are_refused(name, array, change, message):
    with pytest.raises(ModelFileError, match=message):
        model_of(with_array(content_of(fitted_model(name)), array, change))


@pytest.mark.parametrize(
    ("diagonal", "message"),
    [("other", "diagonal_='other' is unknown"), ("z", "unknown arrays: units"), ("signs", "stored is of type <f4")],
)
def test_another_kind_of_diagonal_is_refused(diagonal, message):
    with pytest.raises(ModelFileError, match=message):
        model_of(with_value(content_of(fitted_model("boosted")), "diagonal_", diagonal))
