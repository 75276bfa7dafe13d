"""Rows for tests of sources, in blocks as some stranger's files might have them, and the models that are compared."""

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

N = 3000


def dense(rng):
    X = rng.standard_normal((N, 90)) + 0.3
    return X, (X[:, :5].sum(axis=1) + rng.standard_normal(N) > 0).astype(int)


def three_classes(rng):
    X, _ = dense(rng)
    return X, np.array(["a", "b", "c"])[(X @ rng.standard_normal((90, 3))).argmax(axis=1)]


def single(rng):
    X, y = dense(rng)
    return X.astype(np.float32), y


def sparse(rng):
    X = sp.random_array((N, 300), density=0.05, format="csr", random_state=rng)
    return X, (X @ rng.standard_normal(300) > 0).astype(int)


class Blocks:
    """Rows in blocks of a few, then of more, as some stranger's files might have them."""

    def __init__(self, X, y=None, size=257):
        self.X, self.y, self.size = X, y, size

    def __iter__(self):
        start, size = 0, max(1, self.size // 3)
        while start < self.X.shape[0]:
            X = self.X[start : start + size]
            yield X if self.y is None else (X, self.y[start : start + size])
            start, size = start + size, self.size


def assert_same_model(got, expected, X):
    if hasattr(expected, "C_"):
        assert got.C_ == expected.C_
    if hasattr(expected, "scores_"):
        assert_allclose(got.scores_, expected.scores_, rtol=0, atol=1e-12)
    if hasattr(expected, "projection_"):
        assert_array_equal(got.projection_.selected_columns_, expected.projection_.selected_columns_)
        single = getattr(X, "dtype", None) == np.float32
        assert_allclose(got.transform(X), expected.transform(X), atol=1e-5 if single else 1e-9)
    scale = np.abs(expected.coef_).max()
    assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-8 * scale)
    assert_allclose(got.intercept_, expected.intercept_, rtol=0, atol=1e-8 * max(scale, 1))
    assert_array_equal(got.predict(X), expected.predict(X))
