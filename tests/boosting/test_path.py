"""Diagonals of a path: orthonormal in their metric, and as few as carry the same SVMs."""

import numpy as np
import pytest
from boosting_data import new_path, two_classes
from numpy.testing import assert_allclose

from isrht.boosting._path import _basis_of_use


@pytest.fixture
def path():
    """A path on rows of unit deviation, where the metric of "standard" is the identity."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6))
    return new_path(X / X.std(axis=0), np.arange(50) % 2, "standard", n_columns=4)[0]


def extend(path, *diagonals):
    """Give the path new diagonals, with the products that it asks for."""
    path.z[path.size : path.size + len(diagonals)] = diagonals
    products = path.z[: path.size + len(diagonals)].astype(float) @ np.transpose(diagonals)
    return path.extend(np.linalg.norm(diagonals, axis=1), products)


def directions(path):
    return path.mixing[: path.size, : path.size] @ (path.z[: path.size] / path.norms[: path.size, None])


def test_new_diagonals_are_made_orthonormal_to_the_others(path, rng):
    first, second, third = rng.standard_normal((3, 6)).astype(np.float32)
    (new,) = extend(path, first)
    assert (new.source, new.remainder) == (0, 1.0)
    assert len(extend(path, second, third)) == 2
    assert path.size == 3
    assert_allclose(directions(path) @ directions(path).T, np.eye(3), atol=1e-6)
    assert_allclose(path.z[:3], [first, second, third])


def test_a_new_column_follows_from_the_product_and_the_columns_before(path, rng):
    X = rng.standard_normal((20, 6))
    diagonals, columns = rng.standard_normal((2, 6)).astype(np.float32), np.empty((20, 0))
    for diagonal in diagonals:
        (new,) = extend(path, diagonal)
        column = (X @ diagonal * new.scale - columns @ new.overlap) / new.remainder
        columns = np.column_stack([columns, column])
    assert_allclose(columns, X @ directions(path).T * path.row_scale, atol=1e-5)


def test_a_diagonal_that_is_not_new_adds_no_column(path, rng):
    known, other = rng.standard_normal((2, 6)).astype(np.float32)
    extend(path, known)
    assert [new.source for new in extend(path, 2 * known, np.zeros(6, dtype=np.float32), other)] == [2]
    assert path.size == 2
    assert_allclose(path.z[1], other)


def test_room_is_what_the_round_the_columns_and_the_classes_leave(path, rng):
    assert path.room(5) == 1  # two classes are one problem, with one residual
    extend(path, *rng.standard_normal((4, 6)).astype(np.float32))
    assert path.room(5) == 0


def test_a_path_without_residual_is_done(path):
    path.learn(np.zeros((1, 1)), np.array([1.0]))
    assert not path.done
    path.learn(np.zeros((1, 1)), np.array([0.0]))
    assert path.done


def test_a_head_knows_its_path_and_how_many_columns_it_has(path, rng):
    extend(path, rng.standard_normal(6).astype(np.float32))
    head = path.head_with(np.array([[1.0, 3.0]]))
    assert (head.path, head.size) == (0, 1)


@pytest.mark.parametrize("diagonal", ["standard", "z"])
def test_distilled_diagonals_span_what_the_svms_use(diagonal, rng):
    X, y = two_classes()
    path, _, features = new_path(X, y, diagonal, n_columns=4)
    deviation = features.deviation[:, 0]
    metric = np.ones(19) if diagonal == "standard" else deviation
    for _ in range(4):
        z = rng.standard_normal(19).astype(np.float32)
        path.z[path.size] = z
        products = path.z[: path.size + 1].astype(float) @ (metric * z)
        path.extend([np.sqrt(z @ (metric * z))], products[:, None])
    weights = rng.standard_normal((2, 4))
    few = path.distilled(weights, features, 3)
    assert few.size == 3
    wanted, have = weights @ directions(path), directions(few)
    assert_allclose(have @ (have * metric).T, np.eye(3), atol=1e-5)
    # In the metric, the projection of what is wanted on what there is has lost nothing.
    assert_allclose(wanted @ (have * metric).T @ have, wanted, atol=1e-4)
    assert_allclose(wanted @ (have[2] * metric), 0, atol=1e-4)


def test_a_basis_of_use_is_orthonormal_and_signed(rng):
    weights = rng.standard_normal((2, 5))
    basis = _basis_of_use(weights, 4)
    assert_allclose(basis @ basis.T, np.eye(4), atol=1e-12)
    assert_allclose(weights @ basis[:2].T @ basis[:2], weights)
    assert all(row[np.abs(row).argmax()] > 0 for row in basis[:2])
