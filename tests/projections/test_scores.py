import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from isrht.projections.scores import energy, needs_squares, second_moment_weights, supervised
from isrht.projections.statistics import measure
from isrht.rows.labels import CodedLabels
from isrht.transform.rotation import Rotation


def rotated(X, rotation):
    return rotation.project(X, np.arange(rotation.length), np.ones(rotation.length))


def slow_supervised(Z, y, weights, a):
    """Minus half the double sum over all pairs of rows."""
    A = np.where(y[:, None] == y, 1.0, -a) * np.multiply.outer(weights, weights)
    return -0.5 * np.einsum("ij,ijk->k", A, (Z[:, None] - Z[None]) ** 2)


@given(
    n_classes=st.sampled_from([2, 5]),
    balance=st.floats(0.01, 10),
    weighted=st.booleans(),
    shift=st.floats(-10, 10),
    seed=st.integers(0, 2**31),
)
@settings(deadline=None, max_examples=60)
def test_supervised_score_is_the_sum_over_pairs_and_ignores_shifts(n_classes, balance, weighted, shift, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 11)), np.arange(40) % n_classes
    rotation = Rotation(rng.choice([-1, 1], 11))
    class_weights = rng.random(n_classes) + 0.1 if weighted else np.ones(n_classes)
    expected = slow_supervised(rotated(X, rotation), y, class_weights[y], balance)
    for data in (X, X + shift):
        statistics = measure(data, CodedLabels(np.arange(n_classes), y), rotation)
        got = supervised(statistics, rotation, class_weights, balance)
        assert_allclose(got, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def test_the_laplacian_of_the_paper_is_the_case_of_two_classes(rng):
    """Section "Algorithm Implementation": L = D - yy' for labels +-1 and a = 1."""
    X, y = rng.standard_normal((30, 8)), rng.choice([-1.0, 1.0], 30)
    rotation = Rotation(rng.choice([-1, 1], 8))
    Z, A = rotated(X, rotation), np.multiply.outer(y, y)
    b = np.diag(Z.T @ (np.diag(A.sum(axis=1)) - A) @ Z)
    statistics = measure(X, CodedLabels(np.arange(2), (y > 0).astype(int)), rotation)
    assert_allclose(supervised(statistics, rotation, np.ones(2), 1.0), -b, atol=1e-10)


@pytest.mark.parametrize("size", [1.0, 1e-4])
@pytest.mark.parametrize("center", [False, True])
def test_energy_is_the_squared_norm(center, size, rng):
    X, y = size * (rng.standard_normal((50, 13)) + 3), rng.integers(0, 2, 50)
    rotation, weights = Rotation(rng.choice([-1, 1], 13)), np.array([0.5, 2.0])
    Z, w = rotated(X, rotation), weights[y]
    expected = w @ (Z - center * (w @ Z) / w.sum()) ** 2
    assert_allclose(
        energy(measure(X, CodedLabels(np.arange(2), y), rotation), rotation, weights, center), expected, rtol=1e-9
    )


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_balanced_classes_need_no_squares(n_classes, rng):
    balance = 1 / (n_classes - 1)
    X, y = rng.standard_normal((60, 9)), rng.integers(0, n_classes, 60)
    rotation = Rotation(rng.choice([-1, 1], 9))
    with_squares = measure(X, CodedLabels(np.arange(n_classes), y), rotation)
    without = measure(X, CodedLabels(np.arange(n_classes), y), rotation, with_squares=False)
    weights = 60 / (n_classes * with_squares.counts)
    assert not needs_squares(balance, "balanced", n_classes)
    assert_allclose(second_moment_weights(weights * with_squares.counts, balance), 0, atol=1e-12)
    assert_allclose(
        supervised(without, rotation, weights, balance), supervised(with_squares, rotation, weights, balance), atol=1e-9
    )


def test_everything_else_needs_squares():
    assert needs_squares(1.0, None, 2)
    assert needs_squares(1.0, "balanced", 3)
