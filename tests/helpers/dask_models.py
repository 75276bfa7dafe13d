"""Comparing a model of rows in Dask with that of the same rows in memory."""

import numpy as np
from dask_data import dask
from numpy.testing import assert_allclose, assert_array_equal


def assert_same(got, expected, X, X_dask):
    if hasattr(expected, "C_"):
        assert got.C_ == expected.C_
    if hasattr(expected, "projection_"):
        assert_array_equal(got.projection_.selected_columns_, expected.projection_.selected_columns_)
    assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-8 * np.abs(expected.coef_).max())
    assert_allclose(got.intercept_, expected.intercept_, rtol=0, atol=1e-8)
    lazy = got.predict(X_dask)
    assert dask.is_dask_collection(lazy)
    assert_array_equal(lazy.compute(), expected.predict(X))
