"""The parameters say which columns are kept, and the weights of classes are those of scikit-learn."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.class_weight import compute_class_weight

from isrht.projections._choice import chosen_columns, class_weights, needs_squares, needs_statistics, weighted_mean
from isrht.projections.statistics import measure
from isrht.rows.labels import in_memory
from isrht.transform.rotation import Rotation


@pytest.fixture
def case(rng):
    X, y = rng.standard_normal((80, 12)), rng.integers(0, 3, 80)
    rotation = Rotation(rng.choice(np.array([-1, 1], np.int8), 12))
    return X, y, measure(X, in_memory(y), rotation), rotation


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 2: 0.5}])
def test_class_weights(case, class_weight):
    X, y, statistics, _ = case
    expected = compute_class_weight(class_weight, classes=np.arange(3), y=y)
    assert_allclose(class_weights(class_weight, statistics), expected)
    assert_allclose(weighted_mean(class_weight, statistics), np.average(X, axis=0, weights=expected[y]))


def chosen(case, **given):
    settings = {"selection": "top", "n_components": 4, "class_weight": None, "balance": 1.0, "center": False}
    _, _, statistics, rotation = case
    settings = SimpleNamespace(**settings | {"replace": False} | given)
    return chosen_columns(settings, statistics, rotation, np.random.RandomState(0))


@pytest.mark.parametrize("selection", ["top", "supervised"])
def test_the_best_scores_are_kept(case, selection):
    found = chosen(case, selection=selection)
    assert_array_equal(found.columns, np.sort(np.argsort(-found.scores)[:4]))


def test_others_are_drawn(case):
    assert_allclose(chosen(case, selection="uniform").scales, np.sqrt(16 / 4))
    drawn = chosen(case, selection="importance")
    assert_allclose(drawn.probabilities, drawn.scores / drawn.scores.sum())


@pytest.mark.parametrize(("wanted", "expected"), [("auto", 16), (3, 3)])
def test_the_number_of_columns(case, wanted, expected):
    assert len(chosen(case, n_components=wanted).columns) == expected


def test_a_share_of_the_scores(case):
    found = chosen(case, n_components=0.5)
    kept = found.scores[found.columns]
    assert kept.sum() >= 0.5 * found.scores.sum() > kept.sum() - kept.min()


@pytest.mark.parametrize(
    ("selection", "class_weight", "expected"),
    [
        ("uniform", None, False),
        ("top", "balanced", True),
        ("importance", None, True),
        ("supervised", None, True),
        ("supervised", "balanced", False),
    ],
)
def test_what_must_be_measured(selection, class_weight, expected):
    settings = SimpleNamespace(selection=selection, class_weight=class_weight, balance=1.0, center=False)
    assert needs_squares(settings, 2) == expected
    assert needs_statistics(settings) == (selection != "uniform")
    settings.center = True
    assert needs_statistics(settings)
