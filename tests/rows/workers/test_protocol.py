"""A cluster in ten lines: whoever has the three calls of the protocol can fit everything."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from workers_here import HereWorkers, rows_of

from isrht import ISRHTClassifier, LinearSVMCV
from isrht.rows.workers.tree import TreeSum


@pytest.fixture
def data(rng):
    X = rng.standard_normal((600, 40)) + 0.2
    return X, np.array(["no", "yes"])[(X[:, :5].sum(axis=1) + rng.standard_normal(600) > 0).astype(int)]


CUTS = [7, 7, 250, 390]


@pytest.mark.parametrize(
    "model",
    [
        ISRHTClassifier(8, selection="supervised", random_state=0, Cs=[0.1, 1], cv=2),
        ISRHTClassifier(
            8,
            selection="supervised",
            scale="minmax",
            n_score_samples=200,
            scoring="f1_macro",
            random_state=0,
            Cs=[1],
            cv=2,
        ),
        ISRHTClassifier(2, selection="boosted", random_state=0),
        LinearSVMCV([0.1, 1], cv=3, class_weight="balanced"),
    ],
    ids=["supervised", "scored", "boosted", "svm"],
)
def test_a_cluster_of_three_calls_fits_everything(model, data, rng):
    X, y = data
    weights = rng.random(len(y))
    expected = clone(model).fit(X, y, sample_weight=weights)
    models = []
    for pieces in ([[0, 1, 2, 3, 4]], [[4, 0], [1, 3], [2]]):
        got = clone(model).fit(rows_of(X, CUTS, pieces), y, sample_weight=weights)
        assert got.C_ == expected.C_
        assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-8 * np.abs(expected.coef_).max())
        models.append(got)
    assert_array_equal(models[0].coef_, models[1].coef_)  # who has which block changes no bit


def test_a_total_is_the_sum_over_all_blocks_in_one_order():
    workers = HereWorkers([[2, 0], [1]])
    kept = workers.spread([[1e16, 1.0], [-1e16]])

    def total(numbers, values):
        found = TreeSum()
        for number, value in zip(numbers, values, strict=True):
            found.add(number, value)
        return found

    assert workers.total("sum", total, workers.spread(workers.pieces), kept) == 1e16 + (1.0 - 1e16)
