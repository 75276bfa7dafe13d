"""The algorithm against its slow, obvious twin, and against what must follow from it whatever stores the rows."""

import numpy as np
import pytest
import scipy.sparse as sp
import slow_boosting
from boosting_data import fifths, three_classes
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from isrht import BoostedISRHT, LinearSVM, kernels
from isrht.boosting import estimator
from isrht.projections import feature_moments

DIAGONALS = ("standard", "z", "signs")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n_components", [3, 40])
def test_equals_its_slow_twin(data, sparse, n_components):
    X, y = data
    splits = fifths(y, 0)
    chosen, mean, R = slow_boosting.boosted(X, y, n_components, splits)
    fast = BoostedISRHT(n_components, random_state=0).fit(sp.csr_array(X) if sparse else X, y)
    got = fast.diagonal_, fast.threshold_, fast.rounds_, fast.C_
    assert got == chosen[:4]
    assert fast.held_out_score_ == pytest.approx(chosen[4])
    assert_allclose(fast.transform(X), (X - mean) @ R, atol=1e-7 * np.abs((X - mean) @ R).max())


@pytest.mark.parametrize("n_components", [2, 40])
def test_equals_its_slow_twin_with_several_classes(n_components):
    X, y = three_classes()
    splits = fifths(y, 3)[:2]
    chosen, mean, R = slow_boosting.boosted(X, y, n_components, splits)
    fast = BoostedISRHT(n_components, cv=splits).fit(X, y)
    assert (fast.diagonal_, fast.threshold_, fast.rounds_, fast.C_) == chosen[:4]
    assert_allclose(fast.transform(X), (X - mean) @ R, atol=1e-6 * np.abs((X - mean) @ R).max())


def test_signs_equal_their_slow_twin(data):
    X, y = data
    splits = fifths(y, 0)
    chosen, mean, R = slow_boosting.boosted(X, y, 6, splits, [("signs", 0.0)])
    fast = BoostedISRHT(6, diagonal="signs", random_state=0).fit(X, y)
    assert (fast.rounds_, fast.C_) == chosen[2:4]
    assert_allclose(fast.transform(X), (X - mean) @ R, atol=1e-8)


@pytest.mark.parametrize("diagonal", DIAGONALS)
def test_learned_columns_are_orthonormal_in_their_metric(data, diagonal):
    X, y = data
    model = BoostedISRHT(8, rounds=8, diagonal=diagonal, threshold=0, random_state=0).fit(X, y)
    deviation = np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    metric = deviation**2 if diagonal == "standard" else deviation
    U = model.mixing_ @ model.diagonals_
    assert model.n_learned_ >= 7  # signs may repeat, and then there is nothing left to learn
    assert_allclose((U * metric) @ U.T, np.eye(model.n_learned_), atol=1e-8)
    assert_allclose(np.einsum("tk,tk->t", model.diagonals_ * metric, model.diagonals_), 1, rtol=1e-8)


def test_the_first_diagonal_is_the_welch_statistic(data):
    """v over its standard error, for g = y - mean(y): up to a factor, a t statistic per feature."""
    X, y = data
    model = BoostedISRHT(1, diagonal="z", threshold=0, random_state=0).fit(X, y)
    g, centred = 2.0 * (y - y.mean()), X - X.mean(axis=0)
    error = np.sqrt((centred**2).T @ g**2)
    z = np.where(error > 1e-9, centred.T @ g / np.maximum(error, 1e-9), 0)
    assert_allclose(model.diagonals_[0] / np.linalg.norm(model.diagonals_[0]), z / np.linalg.norm(z), atol=1e-6)
    assert model.diagonals_[0, 7] == 0


def test_units_of_the_features_do_not_matter_to_standard(data):
    X, y = data
    factors = 10.0 ** np.arange(-9, 10)
    model = BoostedISRHT(6, diagonal="standard", random_state=0).fit(X, y)
    scaled = clone(model).fit(X * factors, y)
    assert_allclose(scaled.transform(X * factors), model.transform(X), atol=1e-5)


def test_scaled_columns_are_as_cautious_with_a_C_of_one(data):
    X, y = data
    plain = BoostedISRHT(5, threshold=0, scaled=False, random_state=0).fit(X, y)
    scaled = clone(plain).set_params(scaled=True).fit(X, y)
    assert scaled.C_ == plain.C_ != 1
    assert_allclose(scaled.transform(X), np.sqrt(plain.C_) * plain.transform(X), rtol=1e-12)
    chosen = LinearSVM(plain.C_).fit(plain.transform(X), y).decision_function(plain.transform(X))
    Z = scaled.transform(X)
    assert_allclose(LinearSVM(1.0).fit(Z, y).decision_function(Z), chosen, atol=0.05)


@pytest.mark.parametrize("diagonal", ["standard", "z"])
def test_as_many_columns_as_features_are_all_features(diagonal):
    """In the metric of the diagonal: features in units of their deviation, or of its root."""
    X, y = three_classes()
    X = X * np.geomspace(0.1, 10, 12)
    model = BoostedISRHT(12, rounds=20, threshold=0, diagonal=diagonal, scaled=False, random_state=0).fit(X, y)
    assert model.n_learned_ == 12
    deviation = X.std(axis=0)
    units = deviation if diagonal == "standard" else np.sqrt(deviation)
    features = (X - X.mean(axis=0)) / units
    features /= np.sqrt((features**2).sum(axis=1).mean())
    expected = LinearSVM(model.C_, tol=1e-9).fit(features, y).decision_function(features)
    Z = model.transform(X)
    assert_allclose(LinearSVM(model.C_, tol=1e-9).fit(Z, y).decision_function(Z), expected, atol=1e-4)


@pytest.mark.parametrize("diagonal", DIAGONALS)
@pytest.mark.parametrize("n_components", [2, 50])
def test_sparse_and_dense_agree(kernel, data, diagonal, n_components):
    X, y = data
    dense = BoostedISRHT(n_components, rounds=3, diagonal=diagonal, random_state=3).fit(X, y)
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
        sparse = clone(dense).fit(kind(X), y)
        assert_array_equal(sparse.selected_columns_, dense.selected_columns_)
        assert_allclose(sparse.transform(kind(X)), dense.transform(X), atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_rows_stored_by_feature_give_the_same_model(kernel, n_classes, n_jobs, monkeypatch):
    X, y = three_classes()
    y = np.minimum(y, n_classes - 1)
    expected = BoostedISRHT(12, cv=2, random_state=0).fit(X, y)
    monkeypatch.setattr(estimator, "worth_storing_by_feature", sp.issparse)
    monkeypatch.setattr(feature_moments, "CHUNK", 2)
    got = clone(expected).set_params(n_jobs=n_jobs).fit(sp.csr_array(X), y)
    assert (got.rounds_, got.C_, got.diagonal_) == (expected.rounds_, expected.C_, expected.diagonal_)
    assert_array_equal(got.selected_columns_, expected.selected_columns_)
    assert_allclose(got.transform(X), expected.transform(X), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("diagonal", ["standard", "z"])
def test_more_columns_are_distilled_to_fewer(diagonal, rng):
    """Three per class are learned, and any number from one per class on carries the same SVMs."""
    X = rng.standard_normal((300, 20)) * (1 + np.arange(20))
    y = np.argmax(X @ rng.standard_normal((20, 3)) + 20 * rng.standard_normal((300, 3)), axis=1)
    scores = []
    for n_components in (9, 5, 3):
        boosted = BoostedISRHT(n_components, rounds=9, diagonal=diagonal, scaled=False, random_state=0).fit(X, y)
        assert (boosted.rounds_, boosted.n_learned_, boosted.n_components_) == (9, n_components, n_components)
        Z = boosted.transform(X)
        scores.append(LinearSVM(boosted.C_).fit(Z, y).decision_function(Z))
    for got in scores[1:]:
        assert_allclose(got, scores[0], atol=1e-5)
    directions = boosted.mixing_ @ boosted.diagonals_
    spread = X.std(axis=0)
    metric = spread**2 if diagonal == "standard" else spread
    assert_allclose(directions @ (directions * metric).T, np.eye(3), atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_any_blocking_jobs_and_kernel_give_the_same_model(data, sparse, monkeypatch):
    X, y = data
    X = sp.csr_array(X) if sparse else X
    expected = BoostedISRHT(10, random_state=1).fit(X, y)
    names = kernels.available()
    for n_jobs, name, step in [(1, names[-1], 1000), (-1, names[0], 7), (2, names[1], 50), (None, names[-1], 1)]:
        kernels.use(name)
        monkeypatch.setattr(feature_moments, "block_rows_for", lambda X, totals, step=step: step)
        monkeypatch.setattr(feature_moments, "CHUNK", 5)
        got = clone(expected).set_params(n_jobs=n_jobs).fit(X, y)
        assert (got.rounds_, got.C_, got.diagonal_) == (expected.rounds_, expected.C_, expected.diagonal_)
        assert_array_equal(got.selected_columns_, expected.selected_columns_)
        assert_allclose(got.transform(X), expected.transform(X), rtol=1e-8, atol=1e-9)
    kernels.use(names[-1])


def test_repeated_entries_of_a_sparse_row_are_added(data):
    X, y = data
    whole = sp.csr_array(X)
    halves = sp.csr_array((np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), 2 * whole.indptr), X.shape)
    before = halves.nnz
    model = BoostedISRHT(4, rounds=2, random_state=0).fit(halves, y)
    assert halves.nnz == before
    assert_allclose(model.transform(X), BoostedISRHT(4, rounds=2, random_state=0).fit(X, y).transform(X), atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_repetitions(classes):
    X, y = three_classes()
    y = np.minimum(y, classes - 1)
    weights = np.random.default_rng(0).choice([0, 1, 1, 1, 2, 3], len(y))  # most rows weigh 1: that is the unit
    folds = np.arange(len(y)) % 3
    repeated = np.repeat(np.arange(len(y)), weights)

    def splits(folds):
        return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]

    weighted = BoostedISRHT(6, cv=splits(folds)).fit(X, y, sample_weight=weights)
    plain = BoostedISRHT(6, cv=splits(folds[repeated])).fit(X[repeated], y[repeated])
    assert weighted.held_out_score_ == pytest.approx(plain.held_out_score_)
    assert_allclose(weighted.transform(X), plain.transform(X), atol=1e-7)
