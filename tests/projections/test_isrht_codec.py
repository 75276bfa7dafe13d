"""The file of an ISRHT: it projects as before, keeps a histogram of its scores, and holds nothing that cannot be."""

import numpy as np
import pytest
from forged_files import content_of, model_of, with_array, with_part_of
from kept_models import assert_same_bits, fit, fitted_model, make_data
from numpy.testing import assert_array_equal

from isrht import ISRHT
from isrht.models import ModelFileError


def test_a_partially_fitted_model_is_selected_and_saved():
    X, y = make_data()
    model = ISRHT(8, random_state=0).partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    assert_same_bits(model_of(content_of(model)).transform(X), ISRHT(8, random_state=0).fit(X, y).transform(X))


def test_a_loaded_projection_has_no_statistics_and_does_not_pretend_to():
    X, y = make_data()
    loaded = model_of(content_of(ISRHT(8, random_state=0).fit(X, y)))
    assert loaded.statistics_ is None
    assert loaded.column_scores_ is None
    assert loaded.selection_probabilities_ is None
    with pytest.raises(ValueError, match="partial_fit"):
        loaded.partial_fit(X, y)
    assert_same_bits(loaded.fit(X, y).transform(X), ISRHT(8, random_state=0).fit_transform(X, y))
    loaded.partial_fit(X, y)


def test_the_histogram_of_the_scores_comes_back():
    model = fitted_model("supervised")
    content = content_of(model)
    loaded = model_of(content)
    assert content_of(loaded) == content
    for name in ("edges", "counts", "kept"):
        assert_array_equal(getattr(loaded.score_histogram_, name), getattr(model.score_histogram_, name))
    assert loaded.column_scores_ is None


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda h: h.edges.__setitem__(1, h.edges[0]), "score_edges are not in increasing order"),
        (lambda h: h.counts.__setitem__(0, h.counts[0] + 1), "score_counts are not those of columns"),
        (lambda h: h.kept.__setitem__(slice(0, 2), [-1, 1]), "score_counts are not those of columns"),
    ],
)
def test_a_histogram_that_cannot_be_is_refused(damage, message):
    loaded = model_of(content_of(fitted_model("supervised")))
    damage(loaded.score_histogram_)
    with pytest.raises(ModelFileError, match=message):
        content_of(loaded)


@pytest.mark.parametrize(
    ("array", "change", "message"),
    [
        ("selected_columns_", lambda a: a + 64, "selected_columns_ are out of range"),
        ("selected_columns_", lambda a: a - 64, "selected_columns_ are out of range"),
        ("selected_columns_", lambda a: a[::-1].copy(), "columns_ are not in increasing order"),
        ("selected_columns_", lambda a: np.zeros(65, dtype=a.dtype), "there are more selected_columns_ than columns"),
        ("column_scales_", lambda a: 0 * a, "column_scales_ are not positive"),
        ("column_scales_", lambda a: np.inf * a, "column_scales_ is not finite"),
        ("signs_", lambda a: a | 1, "signs_ are for another number of features"),
        ("signs_", lambda a: a[:-1], "signs_ has shape"),
    ],
)
def test_values_out_of_range_are_refused(array, change, message):
    with pytest.raises(ModelFileError, match=message):
        model_of(with_array(content_of(fitted_model("supervised")), array, change))


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [("signs_", np.zeros(37), "signs_ are not all"), ("_mean", np.ones(3), "mean_ has shape")],
)
def test_a_model_that_was_spoilt_is_not_saved(attribute, value, message):
    model = fitted_model("supervised")
    setattr(model, attribute, value)
    with pytest.raises(ModelFileError, match=message):
        content_of(model)


def test_a_sketch_for_another_number_of_features_is_refused():
    X, y = make_data()
    other = fit("sketched", X[:, 1:], y).embedding_
    with pytest.raises(ModelFileError, match="embedding_ is for another number of features"):
        model_of(with_part_of(content_of(fitted_model("sketched")), "embedding_", content_of(other)))
