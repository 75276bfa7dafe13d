"""What boosting is for: better than a selection, and aware of noise."""

import numpy as np
import pytest
from scipy.stats import ttest_rel
from sklearn.datasets import load_digits, load_wine, make_classification
from sklearn.model_selection import train_test_split

from isrht import BoostedISRHT, ISRHTClassifier, LinearSVM


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
