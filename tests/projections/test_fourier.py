import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import hadamard
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from isrht import HadamardFourierFeatures, LinearSVM


@parametrize_with_checks([HadamardFourierFeatures(4), HadamardFourierFeatures(4, candidates=2)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_features_are_cosines_of_rotated_rows(rng):
    X = rng.standard_normal((9, 13))
    features = HadamardFourierFeatures(40, gamma=0.3, random_state=0).fit(X)
    H = hadamard(16) / 4
    frequencies = []
    for signs in features.signs_:
        W = np.eye(16)
        for diagonal in signs:
            W = W @ np.diag(diagonal) @ H
        frequencies.append(np.sqrt(2 * 0.3 * 16) * W[:13])
    columns = features.selected_columns_
    angles = X @ np.hstack(frequencies)[:, columns] + features.phases_[columns]
    assert_allclose(features.transform(X), np.sqrt(2 / 40) * np.cos(angles), atol=1e-12)


def test_approximates_the_gaussian_kernel_better_than_independent_frequencies(rng):
    X = rng.standard_normal((30, 64)) / 4
    kernel = rbf_kernel(X, gamma=0.5)

    def error(make):
        grams = [(lambda Z: Z @ Z.T)(make(seed).fit_transform(X)) for seed in range(30)]
        return np.mean([np.mean((gram - kernel) ** 2) for gram in grams]), np.abs(np.mean(grams, axis=0) - kernel).max()

    ours, bias = error(lambda seed: HadamardFourierFeatures(256, gamma=0.5, random_state=seed))
    theirs, _ = error(lambda seed: RBFSampler(gamma=0.5, n_components=256, random_state=seed))
    assert bias < 0.05
    assert ours < theirs


@pytest.mark.parametrize("candidates", [1, 3])
def test_storage_jobs_and_types_do_not_matter(rng, candidates):
    X, y = rng.standard_normal((200, 20)) * (rng.random((200, 20)) < 0.5), rng.integers(0, 3, 200)
    expected = HadamardFourierFeatures(50, candidates=candidates, random_state=0).fit(X, y)
    for kind in (sp.csr_array, sp.csc_matrix, np.asfortranarray):
        got = HadamardFourierFeatures(50, candidates=candidates, random_state=0, n_jobs=2).fit(kind(X), y)
        assert_array_equal(got.selected_columns_, expected.selected_columns_)
        assert_allclose(got.transform(kind(X)), expected.transform(X), atol=1e-9)
    assert expected.transform(X.astype(np.float32)).dtype == np.float32


def test_candidates_are_chosen_by_the_supervised_score(rng):
    """Few features: choosing among eight times as many helps."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)

    def accuracy(candidates):
        scores = []
        for seed in range(5):
            features = HadamardFourierFeatures(24, gamma=0.02, candidates=candidates, random_state=seed)
            Z = features.fit(X_train, y_train).transform(X_train)
            scores.append(LinearSVM(10.0).fit(Z, y_train).score(features.transform(X_test), y_test))
        return np.mean(scores)

    assert accuracy(8) > accuracy(1) + 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": -1.0}, "gamma must be positive.*-1.0"),
        ({"gamma": "auto"}, "gamma must be a positive number or 'scale', got 'auto'"),
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"candidates": 0}, "candidates must be at least 1"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        HadamardFourierFeatures(**options).fit(np.ones((3, 2)))


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="one class"):
        HadamardFourierFeatures(2, candidates=2).fit(np.eye(3), [1, 1, 1])


def test_constant_data_have_a_scale():
    assert HadamardFourierFeatures(2).fit(np.ones((3, 2))).gamma_ == 1.0


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_angles_that_overflow_are_an_error(container):
    features = HadamardFourierFeatures(4, random_state=0).fit(np.eye(5))
    with pytest.raises(ValueError, match="overflows float64: .*scale X"):
        features.transform(container(np.diag([1.0, 1.7e308, 0.0])[:, :1] + np.full((1, 5), 1.7e308)))


def test_angles_that_overflow_are_an_error_without_a_warning():
    model = HadamardFourierFeatures(4, gamma=4.0, random_state=0).fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match="overflow|too large|finite|infinity"):
        model.transform(np.array([[8e307, 0.0]]))
