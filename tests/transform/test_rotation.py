import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.linalg import hadamard

from isrht.transform.rotation import Rotation


def slow_matrix(rotation):
    """``D H`` in full, orthonormal columns."""
    H = hadamard(rotation.length)[: rotation.n_features] / np.sqrt(rotation.length)
    return rotation.diagonal[:, None] * H


@pytest.mark.parametrize("n_features", [1, 5, 64, 100])
@pytest.mark.parametrize("as_matrix", [np.asarray, np.asfortranarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_project_and_back_are_the_matrix_and_its_transpose(kernel, n_features, as_matrix, dtype, n_jobs, rng):
    rotation = Rotation(rng.standard_normal(n_features))
    columns, scales = rng.integers(0, rotation.length, 9), rng.random(9) + 0.5
    R = slow_matrix(rotation)[:, columns] * scales
    X = rng.standard_normal((23, n_features)).astype(dtype)
    Z = rotation.project(as_matrix(X), columns, scales, n_jobs)
    assert Z.dtype == dtype
    assert_allclose(Z, X @ R, atol=1e-4 if dtype == np.float32 else 1e-12)
    back = rotation.project_back(Z, columns, scales)
    assert back.dtype == dtype
    assert_allclose(back, Z @ R.T, atol=1e-3 if dtype == np.float32 else 1e-12)


def test_rotate_is_unnormalised(kernel, rng):
    rotation = Rotation(rng.choice([-1, 1], 13))
    X = rng.standard_normal((3, 13))
    assert_allclose(rotation.rotate(X), X @ slow_matrix(rotation) * 4, atol=1e-12)


def test_different_index_types_in_one_matrix(rng):
    X = sp.random_array((10, 30), density=0.3, format="csr", random_state=0)
    mixed = X.copy()
    mixed.indptr = mixed.indptr.astype(np.int64)
    rotation = Rotation(np.ones(30, np.int8))
    columns, scales = np.arange(5), np.ones(5)
    assert_allclose(rotation.project(mixed, columns, scales), rotation.project(X, columns, scales))
