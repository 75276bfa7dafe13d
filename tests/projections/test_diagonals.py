import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from isrht.boosting._places import learned_rows
from isrht.boosting._roles import Roles
from isrht.boosting._rows import LearnedRows
from isrht.projections import diagonals
from isrht.projections.diagonals import Candidate, Diagonals, Learned, class_grams, lanes_of
from isrht.projections.feature_moments import measure_features
from isrht.rows.by_feature import ByFeature

STORED = {"dense": np.asarray, "csr": sp.csr_array, "by feature": lambda X: ByFeature(sp.csr_array(X))}


def slow_diagonal(X, g, kind, threshold):
    """The z of every feature, and its norm in the metric of its kind."""
    spread, centred = X.std(axis=0), X - X.mean(axis=0)
    varies = spread > 0
    error = np.sqrt((centred**2).T @ g**2)
    z = np.where(varies, centred.T @ g / np.where(varies, error, 1), 0)
    z = np.sign(z) if kind == "signs" else np.sign(z) * np.maximum(0, np.abs(z) - threshold)
    weights = z / np.where(varies, spread, 1) if kind == "standard" else z
    metric = np.where(varies, spread, 1) ** (2 if kind == "standard" else 1)
    return z, weights, np.sqrt(metric @ weights**2)


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_diagonals_are_gradients_over_their_errors(stored, n_jobs, rng):
    X = rng.standard_normal((90, 17)) * (rng.random((90, 17)) < 0.6)
    X[:, 3] = 0
    y = (X[:, 0] + rng.standard_normal(90) > 0).astype(int)
    stored_rows = STORED[stored](X)
    roles = Roles(y, 2, None, None).all_training()
    rows = learned_rows(stored_rows, roles, np.zeros(1, dtype=int), 1)
    features = measure_features(stored_rows, rows, LearnedRows.all_training_weights)
    candidates = [Candidate("z", 0.0), Candidate("z", 1.5), Candidate("standard", 1.0), Candidate("signs", 0.0)]
    paths = [Learned(each, 0, np.empty((1, 17), dtype=np.float32)) for each in candidates]
    g = 2.0 * (y - y.mean())
    made = Diagonals(features, paths, np.arange(len(paths)))
    made.make(stored_rows, rows, lambda rows: (np.tile(g[:, None], 4), np.tile(g[:, None] ** 2, 4)), n_jobs)
    for p, (kind, threshold) in enumerate(candidates):
        z, weights, norm = slow_diagonal(X, g, kind, threshold)
        assert_allclose(paths[p].z[0], z, atol=1e-5)
        assert_allclose(made.norms[p], norm, rtol=1e-5)
        products = made.products[:, p] if made.products is not None else X @ made.matrix[:, p]
        assert_allclose(products, X @ weights, atol=1e-4)


def test_lanes_cover_the_features():
    for n_features in (1, 3, 8, 1000):
        lanes = lanes_of(n_features)
        assert len(lanes) == min(n_features, diagonals.LANES)
        assert [k for lane in lanes for k in range(lane.start, lane.stop)] == list(range(n_features))


@pytest.mark.parametrize("kind", ["standard", "z"])
def test_products_of_gradients_are_the_same_however_rows_are_stored(kind, rng):
    """Many features are of one row alone, and some of none; some rows are not trained on."""
    X = sp.random_array((60, 500), density=0.02, format="csr", random_state=rng)
    weights = (rng.random((60, 2)) < 0.8) * rng.integers(1, 3, (60, 2))
    residuals = rng.standard_normal((60, 2, 3)) * weights[:, :, None]
    paths = [Learned(Candidate(kind, 0.0), fold, np.empty((1, 500), np.float32)) for fold in (0, 1, 0)]

    def grams(X):
        rows = np.hstack([residuals[:, 0], residuals[:, 1], residuals[:, 0] ** 3]).reshape(60, 3, 3)
        features = measure_features(X, weights.astype(float), lambda rows: rows, 2)
        return class_grams(X, rows, lambda rows, some: rows[:, some].reshape(len(rows), -1), 3, features, paths)

    for found, expected in zip(grams(ByFeature(X)), grams(X.toarray()), strict=True):
        assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
