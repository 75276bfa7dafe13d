import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import slow_boosting
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ttest_rel
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from isrht import BoostedISRHT, ISRHTClassifier, LinearSVM, kernels
from isrht.boosting import _small_svm as small_svm
from isrht.boosting import estimator as boosting
from isrht.boosting._held_out import evidence
from isrht.projections import feature_moments
from isrht.rows.folds import held_out_fifths
from isrht.rows.labels import in_memory

DIAGONALS = ("standard", "z", "signs")


@parametrize_with_checks(
    [
        BoostedISRHT(2, cv=3),
        BoostedISRHT(2, rounds=2, diagonal="signs", n_jobs=2),
        ISRHTClassifier(2, selection="boosted"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def data(rng):
    X = rng.standard_normal((120, 19)) * (rng.random((120, 19)) < 0.5)
    X[:, 5] *= 100
    X[:, 7] = 3.0
    X[:, 8] += 2
    signal = X[:, 0] - X[:, 1] + 0.02 * X[:, 5] + 0.5 * X[:, 8] + 0.5 * rng.standard_normal(120)
    return X, (signal > np.median(signal)).astype(int)


def three_classes(n_samples=150):
    X, y = make_classification(
        n_samples, 12, n_informative=6, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=1
    )
    return X, y


# --- the algorithm --------------------------------------------------------------------------------------------


def fifths(y, seed):
    """What is held out by default, as a list of (train, test)."""
    seed = np.random.RandomState(seed).randint(2**31 - 1)
    counts = held_out_fifths(in_memory(y), seed).counts()
    return [tuple(map(np.flatnonzero, fold)) for fold in zip(*(side.T for side in counts), strict=True)]


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


def test_small_svm_is_the_linear_svm(rng, monkeypatch):
    Z, Y, weights = rng.standard_normal((80, 5)), rng.integers(0, 2, (80, 3)), rng.integers(1, 3, 80)
    label, C = np.repeat(np.arange(3), 3), np.tile([0.01, 1.0, 50.0], 3)
    expected = [LinearSVM(c, tol=1e-9).fit(Z, Y[:, k], weights) for k, c in zip(label, C, strict=True)]
    for grams_at_once, scores_at_once in [(10**6, 10**6), (0, 160)]:
        monkeypatch.setattr(small_svm, "GRAMS_AT_ONCE", grams_at_once)
        monkeypatch.setattr(small_svm, "SCORES_AT_ONCE", scores_at_once)
        got = small_svm.SmallSVMs(Z, 2.0 * Y - 1, weights).solve(label, C, rng.standard_normal((9, 3)))[0]
        assert_allclose(got[:, :-1], [svm.coef_[0] for svm in expected], atol=1e-6)
        assert_allclose(got[:, -1], [svm.intercept_[0] for svm in expected], atol=1e-6)


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
    monkeypatch.setattr(boosting, "worth_storing_by_feature", sp.issparse)
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


def test_wide_dense_rows_are_rotated(data, monkeypatch):
    X, y = data
    model = BoostedISRHT(20, rounds=2, random_state=0).fit(X, y)
    expected = model.transform(X)
    monkeypatch.setattr("isrht.boosting._projection.MATRIX_ELEMENTS", 0)
    assert_allclose(model.transform(X), expected, atol=1e-10)


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


# --- what it is for -------------------------------------------------------------------------------------------


def test_the_gain_over_the_supervised_selection_is_significant():
    X, y = load_digits(return_X_y=True)
    boosted, supervised, everything = [], [], []
    for seed in range(6):
        X_train, X_test, y_train, y_test = train_test_split(X / 16, y % 2, test_size=0.3, random_state=100 + seed)
        model = ISRHTClassifier(8, selection="boosted", random_state=seed).fit(X_train, y_train)
        boosted.append(model.score(X_test, y_test))
        model = ISRHTClassifier(8, selection="supervised", random_state=seed).fit(X_train, y_train)
        supervised.append(model.score(X_test, y_test))
        everything.append(LinearSVM(1.0).fit(X_train, y_train).score(X_test, y_test))
    gain = ttest_rel(boosted, supervised, alternative="greater")
    assert np.mean(boosted) > np.mean(supervised) + 0.02
    assert gain.pvalue < 0.01
    assert np.mean(boosted) > np.mean(everything) - 0.015


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_evidence_is_in_standard_errors(n_classes, rng):
    """Of scores that know nothing of the labels: normal with two classes, not more than that with several."""
    n_samples, n_trials = 200, 2000
    codes = rng.permuted(np.tile(np.arange(n_samples) % n_classes, (n_trials, 1)), axis=1)
    Y = np.where(codes[:, :, None] == np.arange(n_classes), 1.0, -1.0)
    scores = rng.standard_normal((n_trials, n_samples, n_classes))
    scores -= scores.mean(axis=2, keepdims=True)
    if n_classes == 2:
        Y, scores = Y[:, :, 1:], scores[:, :, 1:]
    folds = [slice(0, 120), slice(120, 200)]
    sums = [[v[:, fold].sum(axis=1) for v in (scores, scores**2, scores * Y, Y)] for fold in folds]
    found = evidence(np.array(sums), np.array([120, 80]), 200)
    if n_classes == 2:
        assert abs(found.mean()) < 0.1
        assert 0.93 < found.std() < 1.07
    assert np.mean(found > 1.645) < 0.07
    assert np.mean(found > 3) < 0.01


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_that_are_noise_are_seen_to_be(n_classes):
    """d >> n: any training accuracy can be had; what is reported is chance, and one round is all there is."""
    reported, tested, one_round = [], [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((120, 1000)), rng.integers(0, n_classes, 120)
        model = ISRHTClassifier(16, selection="boosted", random_state=0).fit(X, y)
        reported.append(model.projection_.held_out_score_)
        X_new, y_new = rng.standard_normal((500, 1000)), rng.integers(0, n_classes, 500)
        tested.append(model.score(X_new, y_new))
        one_round.append(model.projection_.rounds_ == 1 and not model.projection_.has_signal_)
    standard_error = np.sqrt(1 / n_classes * (1 - 1 / n_classes) / (4 * 120))
    assert abs(np.mean(reported) - 1 / n_classes) < 4 * standard_error
    assert abs(np.mean(tested) - 1 / n_classes) < 4 * standard_error
    assert sum(one_round) >= 3


def test_few_rows_of_noise_are_not_taken_for_a_signal():
    seen = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((12, 5)), rng.permutation(np.arange(12) % 3)
        seen += BoostedISRHT(4, random_state=seed).fit(X, y).has_signal_
    assert seen <= 2


def test_one_class_of_many_that_is_apart_is_a_signal(rng):
    X, y = rng.standard_normal((300, 10)), np.arange(300) % 20
    X[y == 0, 0] += 3
    assert BoostedISRHT(4, random_state=0).fit(X, y).has_signal_


def test_classifier_without_a_held_out_row_has_no_score(rng):
    model = ISRHTClassifier(2, selection="boosted", random_state=0).fit(rng.standard_normal((2, 3)), [0, 1])
    assert np.isnan(model.mean_scores_).all()
    assert model.C_ == model.projection_.C_


def test_the_reported_score_is_honest():
    X, y = make_classification(1500, 300, n_informative=10, flip_y=0.1, random_state=5)
    differences = []
    for seed in range(4):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=seed)
        model = ISRHTClassifier(16, selection="boosted", random_state=0).fit(X_train, y_train)
        differences.append(model.projection_.held_out_score_ - model.score(X_test, y_test))
    assert abs(np.mean(differences)) < 0.03


def test_more_components_do_no_harm():
    X, y = load_wine(return_X_y=True)
    scores = {r: [] for r in (4, 16)}
    for seed in range(3):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
        for r, accuracy in scores.items():
            model = ISRHTClassifier(r, selection="boosted", random_state=0).fit(X_train, y_train)
            accuracy.append(model.score(X_test, y_test))
    assert np.mean(scores[16]) >= np.mean(scores[4]) - 0.02
    assert np.mean(scores[16]) > 0.95


# --- the transformer ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("diagonal", DIAGONALS)
def test_fold_is_the_transpose_of_transform(data, rng, diagonal):
    X, y = data
    model = BoostedISRHT(12, rounds=3, diagonal=diagonal, random_state=0).fit(X, y)
    weights = rng.standard_normal((2, 12))
    assert_allclose(model.transform(X) @ weights.T, (X - model.mean_) @ model.to_features(weights).T, atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
def test_classifier_folds_projection_and_svm_into_one_weight_per_feature(data, sparse):
    X, y = data
    X = sp.csr_array(X) if sparse else X
    model = ISRHTClassifier(5, selection="boosted", scale="maxabs", random_state=0).fit(X, y)
    assert_allclose(model.decision_function(X), model.svm_.decision_function(model.transform(X)), atol=1e-8)
    assert model.coef_.shape == (1, 19)
    assert model.C_ == model.Cs_[0] == model.svm_.C == model.projection_.C_
    assert model.mean_scores_[0] == pytest.approx(model.projection_.fold_scores_.mean())
    given = ISRHTClassifier(5, selection="boosted", C=0.01, scale="maxabs", random_state=0).fit(X, y)
    assert given.C_ == 0.01 * model.C_
    assert np.linalg.norm(given.coef_) < np.linalg.norm(model.coef_)


def test_classifier_takes_class_weights(data):
    X, y = data
    rare = np.flatnonzero((y == 0) | (np.arange(len(y)) % 4 == 0))
    plain = ISRHTClassifier(3, selection="boosted", random_state=0).fit(X[rare], y[rare])
    balanced = clone(plain).set_params(class_weight="balanced").fit(X[rare], y[rare])
    assert (balanced.predict(X) == 1).sum() > (plain.predict(X) == 1).sum()


def test_classifier_refuses_a_scoring_it_does_not_use(data):
    with pytest.raises(ValueError, match=r"scoring.*'f1'"):
        ISRHTClassifier(3, selection="boosted", scoring="f1").fit(*data)


def test_cv_decides_what_is_held_out(data):
    X, y = data
    for cv in (3, StratifiedKFold(3)):
        assert BoostedISRHT(3, cv=cv).fit(X, y).fold_scores_.shape == (3,)
    assert len(fifths(np.repeat([0, 1], 10_000), 0)) == 1
    assert len(fifths(np.repeat([0, 1], 2000), 0)) == 4
    train, test = fifths(np.repeat([0, 1], [50, 10]), 0)[0]
    assert (len(train), (test < 50).sum(), (test >= 50).sum()) == (48, 10, 2)
    with pytest.raises(ValueError, match=r"cv holds nothing out: \[\] gives no split"):
        BoostedISRHT(3, cv=[]).fit(X, y)


def test_parameters_that_are_given_are_not_chosen(data):
    X, y = data
    model = BoostedISRHT(10, rounds=5, threshold=1.0, diagonal="z", random_state=0).fit(X, y)
    assert (model.rounds_, model.threshold_, model.diagonal_) == (5, 1.0, "z")
    assert model.n_learned_ == 5
    assert model.n_components_ == 10


def test_a_component_more_than_there_are_columns(data):
    X, y = data
    model = BoostedISRHT(300, rounds=1, random_state=0).fit(X, y)
    assert model.n_components_ == 32
    assert model.transform(X).shape == (120, 32)


def test_features_that_never_vary(rng):
    model = BoostedISRHT(3).fit(np.ones((30, 4)), np.arange(30) % 2)
    assert_array_equal(model.transform(np.ones((2, 4))), np.zeros((2, 3)))
    assert not model.has_signal_


def test_too_few_rows_to_hold_any_out():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])
    model = BoostedISRHT(2).fit(X, y)
    assert np.isnan(model.held_out_score_)
    assert np.isfinite(model.transform(X)).all()


def test_memory_of_signs_is_bits(rng):
    X, y = sp.random_array((60, 100_000), density=1e-3, format="csr", random_state=0), np.arange(60) % 2
    bits = BoostedISRHT(4, rounds=4, diagonal="signs").fit(X, y)
    numbers = BoostedISRHT(4, rounds=4, diagonal="z", threshold=0).fit(X, y)
    assert bits.nbytes < 100_000 / 8 * 5 + 500
    assert 4 * 4 * 100_000 <= numbers.nbytes < 4 * 4 * 100_000 + 500


def test_float32_stays_float32(data):
    X, y = data
    model = BoostedISRHT(5, random_state=0).fit(X.astype(np.float32), y)
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.transform(sp.csr_array(X.astype(np.float32))).dtype == np.float32
    assert model.transform(X).dtype == np.float64
    expected = BoostedISRHT(5, random_state=0).fit(X, y).transform(X)
    assert_allclose(model.transform(X.astype(np.float32)), expected, atol=1e-3)


def test_names_and_frames(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(19)])
    model = BoostedISRHT(3, random_state=0).fit(frame, y)
    assert_array_equal(model.get_feature_names_out(), ["boostedisrht0", "boostedisrht1", "boostedisrht2"])
    assert isinstance(model.set_output(transform="pandas").transform(frame), pd.DataFrame)
    assert isinstance(model.set_output(transform="polars").transform(frame), pl.DataFrame)


def test_pickle_clone_and_pipeline(data):
    X, y = data
    model = BoostedISRHT(3, random_state=0).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))
    assert not hasattr(clone(model), "mixing_")
    assert make_pipeline(BoostedISRHT(3), LinearSVC(dual=False)).fit(X, y).score(X, y) > 0.8


def test_input_is_never_written_to(data):
    X, y = data
    X.flags.writeable = False
    sparse = sp.csr_array(X)
    for array in (sparse.data, sparse.indices, sparse.indptr):
        array.flags.writeable = False
    for given in (X, sparse):
        BoostedISRHT(3, rounds=2).fit(given, y).transform(given)


# --- bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be at least 1, got 0"),
        ({"n_components": 0.5}, TypeError, "n_components must be an integer, got 0.5"),
        ({"rounds": 0}, ValueError, "rounds must be at least 1, got 0"),
        ({"rounds": "many"}, TypeError, "rounds must be an integer, got 'many'"),
        ({"threshold": -1}, ValueError, "threshold must be finite and not negative, got -1"),
        ({"threshold": "high"}, TypeError, "threshold must be 'auto' or a number, got 'high'"),
        ({"scaled": "no"}, TypeError, "scaled must be True or False, got 'no'"),
        ({"diagonal": "random"}, ValueError, "diagonal must be one of.*'random'"),
        ({"diagonal": "signs", "threshold": 1.0}, ValueError, "diagonal='signs' has no threshold"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(data, options, error, message):
    with pytest.raises(error, match=message):
        BoostedISRHT(**options).fit(*data)


def test_bad_data_is_named(data):
    X, y = data
    with pytest.raises(ValueError, match=r"two classes.*one class"):
        BoostedISRHT(2).fit(X, np.zeros(120))
    with pytest.raises(ValueError, match="too large"):
        BoostedISRHT(2).fit(X * 1e200, y)
    with pytest.raises(NotFittedError):
        BoostedISRHT(2).transform(X)
