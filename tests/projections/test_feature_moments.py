import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from isrht.boosting._roles import Roles
from isrht.boosting._rows import LearnedRows
from isrht.projections import feature_moments
from isrht.projections.feature_moments import chunks_of, gradients, measure_features, moments
from isrht.rows.by_feature import ByFeature
from isrht.support.threads import in_threads

STORED = {
    "dense": np.asarray,
    "float32": np.float32,
    "csr": sp.csr_array,
    "by feature": lambda X: ByFeature(sp.csr_array(X)),
}


@pytest.fixture
def X(rng):
    X = rng.standard_normal((70, 23)) * (rng.random((70, 23)) < 0.4)
    X[:, 4] = 0
    return X.astype(np.float32).astype(np.float64)


def rows_of(X, rng, n_folds=2):
    n_samples = X.shape[0]
    training = rng.integers(0, 3, (n_samples, n_folds)).astype(np.uint8)
    codes, weights = rng.integers(0, 2, n_samples), rng.random(n_samples)
    roles = Roles(codes, 2, training, 1 - np.minimum(training, 1), weights)
    return LearnedRows(roles, np.arange(n_folds), None)


@pytest.mark.parametrize("kind", STORED)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_moments_and_gradients_are_sums_over_rows(kind, n_jobs, X, rng, monkeypatch):
    monkeypatch.setattr(feature_moments, "block_rows_for", lambda X, totals: 16)
    monkeypatch.setattr(feature_moments, "CHUNK", 5)
    rows = rows_of(X, rng)

    def sides(rows):
        weights = rows.all_training_weights()
        return weights * rows.Y, weights**2

    first, second = sides(rows)
    totals_of, *sums = moments(STORED[kind](X), rows, sides, 2, n_jobs)
    got = np.concatenate([totals_of(chunk) for chunk in chunks_of(X.shape[1])])
    expected = np.stack([X.T @ first, X.T @ second, (X * X).T @ second], axis=1)
    assert_allclose(got, expected, atol=1e-12)
    assert_allclose(sums, [first.sum(axis=0), second.sum(axis=0)])
    if kind != "by feature":
        got, pull = gradients(STORED[kind](X), rows, lambda rows: sides(rows)[0], 2, n_jobs)
        assert_allclose(got, X.T @ first, atol=1e-12)
        assert_allclose(pull, first.sum(axis=0))


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("n_problems", [1, 4, 9, 13])
def test_threads_share_the_problems_of_one_block(kind, n_problems, X, rng):
    first, second = rng.standard_normal((2, len(X), n_problems))

    def moments_by(n_jobs):
        totals_of, *sums = moments(STORED[kind](X), np.arange(len(X)), lambda rows: (first, second), n_problems, n_jobs)
        return [totals_of(slice(0, 23)), totals_of(slice(3, 9)), *sums]

    for alone, shared in zip(moments_by(1), moments_by(3), strict=True):
        assert_array_equal(shared, alone)


@pytest.mark.parametrize("kind", STORED)
def test_features_are_measured_in_every_fold(kind, X, rng):
    rows = rows_of(X, rng)
    features = measure_features(STORED[kind](X), rows, LearnedRows.all_training_weights, rows.roles.n_folds)
    for fold, weights in enumerate(rows.all_training_weights().T):
        mean = weights @ X / weights.sum()
        variance = weights @ (X - mean) ** 2 / weights.sum()
        assert_allclose(features.mean[:, fold], mean, atol=1e-12)
        assert_array_equal(features.varies[:, fold], variance > 0)
        assert_allclose(features.deviation[:, fold], np.where(variance > 0, np.sqrt(variance), 1), rtol=1e-8)
        assert_allclose(features.mean_squared_row("standard", fold), np.count_nonzero(variance))
        assert_allclose(features.mean_squared_row("z", fold), np.sqrt(variance).sum(), rtol=1e-8)


def test_values_too_large_are_an_error(rng):
    X = np.full((10, 2), 1e200)
    with pytest.raises(ValueError, match="sums of squares of the features overflow"):
        measure_features(X, rows := rows_of(X, rng), LearnedRows.all_training_weights, rows.roles.n_folds)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_results_come_in_order(n_jobs):
    assert list(in_threads(lambda item: item**2, range(20), n_jobs)) == [item**2 for item in range(20)]
