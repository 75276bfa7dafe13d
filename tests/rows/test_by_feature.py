"""Sparse rows stored by feature: the sums are those of the rows themselves."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from isrht.rows.by_feature import ByFeature, worth_storing_by_feature


@pytest.fixture(params=[np.float64, np.float32])
def X(request, rng):
    return sp.random_array((20, 300), density=0.1, format="csr", random_state=rng, dtype=request.param)


@pytest.mark.parametrize("chunk", [slice(0, 300), slice(17, 90), slice(299, 300)])
def test_moments_of_a_slice_of_features(kernel, X, chunk, rng):
    factors = rng.standard_normal((20, 2, 3))
    first, second = factors[:, 0], factors[:, 1]
    dense = X.toarray().astype(np.float64)[:, chunk]
    expected = np.stack([dense.T @ first, dense.T @ second, (dense**2).T @ second], axis=1)
    stored = ByFeature(X)
    for _ in range(2):  # the arrays of a slice are kept for the next round
        assert_allclose(stored.moments(chunk, factors), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("count", [1, 4, 7, 1000])
def test_lanes_are_all_features_in_about_equal_shares(X, count):
    stored = ByFeature(X)
    lanes = stored.lanes(count)
    assert len(lanes) <= count
    assert_array_equal(np.concatenate([np.arange(lane.start, lane.stop) for lane in lanes]), np.arange(300))
    work = [stored.features[lane].nnz + lane.stop - lane.start for lane in lanes]
    heaviest = 1 + np.diff(stored.features.indptr).max()
    assert max(work) - min(work) <= 2 * heaviest


def test_the_rows_themselves_are_not_touched(X):
    before = X.copy()
    stored = ByFeature(X)
    stored.features.data[:] = 0
    assert_array_equal(X.toarray(), before.toarray())
    assert stored.shape == X.shape


@pytest.mark.parametrize(
    ("X", "worth"),
    [
        (sp.csr_array((5, 9)), True),
        (sp.csr_array((9, 9)), True),
        (sp.csr_array((10, 9)), False),
        (np.zeros((5, 9)), False),
    ],
)
def test_only_wide_sparse_rows_are_worth_it(X, worth):
    assert worth_storing_by_feature(X) == worth


def test_singles_are_the_features_that_one_row_alone_has(rng):
    X = sp.random_array((30, 200), density=0.03, format="csr", random_state=rng)
    numbers, rows, values = ByFeature(X).singles
    dense = X.toarray()
    assert 0 < len(numbers) < 200
    assert_array_equal(numbers, np.flatnonzero((dense != 0).sum(axis=0) == 1))
    assert_array_equal(dense[rows, numbers], values)
