"""One round: the diagonal of the residual, the column behind it, and an SVM that leaves less to explain."""

import numpy as np
import pytest
import scipy.sparse as sp
from boosting_data import new_path, three_classes, two_classes
from numpy.testing import assert_allclose, assert_array_equal

from isrht.boosting._rounds import grow
from isrht.rows.by_feature import ByFeature

STORED = {"dense": np.asarray, "csr": sp.csr_array, "by feature": lambda X: ByFeature(sp.csr_array(X))}


@pytest.mark.parametrize("stored", STORED)
def test_the_first_diagonal_is_the_gradient_over_its_standard_error(stored):
    X, y = two_classes()
    X = np.delete(X, 7, axis=1)  # the feature that is constant
    path, rows, features = new_path(STORED[stored](X), y)
    grow(STORED[stored](X), rows, features, [path])
    centred, g = X - X.mean(axis=0), 2.0 * (y - y.mean())
    assert_allclose(path.z[0], centred.T @ g / np.sqrt((centred**2).T @ g**2), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_are_the_rows_along_orthonormal_diagonals(stored, n_classes):
    X, y = three_classes()
    y = np.minimum(y, n_classes - 1)
    path, rows, features = new_path(STORED[stored](X), y, n_columns=3)
    for size in (1, 2, 3):
        grow(STORED[stored](X), rows, features, [path])
        assert path.size == size
    directions = path.mixing @ (path.z / path.norms[:, None])
    expected = (X - X.mean(axis=0)) @ directions.T * path.row_scale
    assert_allclose(rows.columns_of(0, 3), expected, atol=1e-5 * np.abs(expected).max())


def test_every_round_explains_more():
    X, y = two_classes()
    path, rows, features = new_path(X, y)
    left = [(path.head.residual(rows) ** 2).sum()]
    for _ in range(4):
        grow(X, rows, features, [path])
        left.append((path.head.residual(rows) ** 2).sum())
    assert (np.diff(left) < 0).all()


def test_a_round_of_several_columns_adds_one_for_each_direction_of_the_classes():
    X, y = three_classes()
    path, rows, features = new_path(X, y, n_columns=4)
    grow(X, rows, features, [path], per_round=2)
    assert path.size == 2
    grow(X, rows, features, [path], per_round=2)
    assert path.size == 4


def test_a_path_that_has_no_room_or_is_done_stays_as_it_is():
    X, y = two_classes()
    path, rows, features = new_path(X, y, n_columns=1)
    grow(X, rows, features, [path])
    z, solutions = path.z.copy(), path.solutions.copy()
    grow(X, rows, features, [path])
    other, rows, features = new_path(X, y)
    other.done = True
    grow(X, rows, features, [other])
    assert other.size == 0
    assert_array_equal(path.z, z)
    assert_array_equal(path.solutions, solutions)


def test_a_threshold_that_no_feature_passes_ends_the_path():
    X, y = two_classes()
    path, rows, features = new_path(X, y, threshold=100.0)
    grow(X, rows, features, [path])
    assert path.done
    assert path.size == 0


def test_contrasts_are_noted_where_they_are_wanted():
    X, y = two_classes()
    path, rows, features = new_path(X, y, n_contrasts=3)
    grow(X, rows, features, [path])
    (columns,) = path.contrasts
    assert len(columns) == 3
    assert 0 not in columns
    plain, rows, features = new_path(X, y)
    grow(X, rows, features, [plain])
    assert plain.contrasts == []
