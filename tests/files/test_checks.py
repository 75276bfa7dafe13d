from types import SimpleNamespace

import numpy as np
import pytest

from isrht.files._checks import check_feature_count, check_finite, check_width, label_place
from isrht.files.errors import FileError
from isrht.files.limits import Limits


@pytest.mark.parametrize("label", ["b", "1", 1, -2])
def test_the_label_by_its_name_or_its_place(label):
    assert label_place("table", label, ["a", "b", "c"]) == 1


def test_a_name_goes_before_a_place():
    assert label_place("table", "2", ["2", "1", "0"]) == 0


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        ("d", "table: there is no column 'd'; there are 'x0', 'x1', .* 'x9' and 2 more"),
        (12, "table: there is no column 12; there are 12 columns"),
        ("-13", "table: there is no column -13"),
    ],
)
def test_a_label_that_is_not_there(label, problem):
    with pytest.raises(FileError, match=problem):
        label_place("table", label, [f"x{number}" for number in range(12)])


def test_the_width_of_dense_rows():
    check_width("table", 3, 3)
    check_width("table", 3, None)
    with pytest.raises(FileError, match="table: there are 3 features in a row, not 4"):
        check_width("table", 3, 4)


def test_the_number_of_features_is_limited_unless_it_is_given():
    check_feature_count("rows", 10, SimpleNamespace(n_features=None, limits=Limits(features=10)))
    check_feature_count("rows", 11, SimpleNamespace(n_features=5, limits=Limits(features=10)))
    with pytest.raises(FileError, match="rows: it has 11 features, more than 10; if that is meant"):
        check_feature_count("rows", 11, SimpleNamespace(n_features=None, limits=Limits(features=10)))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_the_first_value_that_is_not_finite_is_named(wrong):
    X = np.ones((3, 2))
    X[1, 1] = X[2, 0] = wrong
    with pytest.raises(FileError, match=f"rows: row 12, column 2: {wrong} is not finite"):
        check_finite("rows", X, 10)
    with pytest.raises(FileError, match=f"rows: row 2, column 'b': {wrong} is not finite"):
        check_finite("rows", X, 0, ["a", "b"])


def test_values_whose_sum_overflows_are_finite():
    check_finite("rows", np.full((2, 2), 1e308), 0)
