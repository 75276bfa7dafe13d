"""A blend is one linear model: boosted columns and an SVM on all features, in the share that held-out rows choose."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss
from svm_data import noisy

import isrht
from isrht import ISRHTClassifier, RowSource
from isrht.boosting._blend import FoldScores, Judge, _mean_share, choose_blend, factors_of, spread
from isrht.boosting._roles import Roles
from isrht.linear.path import DEFAULT_OPTIONS


def blended(X, y, **parameters):
    fit = {name: parameters.pop(name) for name in ("sample_weight", "groups") if name in parameters}
    return ISRHTClassifier(6, blend=True, random_state=0, **parameters).fit(X, y, **fit)


def three_classes(n_samples=300):
    X, y = noisy(n_samples, 12, noise=1.0)
    return X, y + (X[:, 1] > 0)


@pytest.mark.parametrize("make", [lambda: noisy(300, 12, noise=1.0), three_classes])
@pytest.mark.parametrize("scale", [None, "maxabs", "minmax"])
def test_it_is_the_sum_of_its_parts(make, scale):
    X, y = make()
    model = blended(X, y, scale=scale)
    if not model.blend_share_:
        pytest.fail("the share of the SVM is 0, which tests nothing")
    scaled = X if model.scaler_ is None else model.scaler_.transform(X)
    parts = model.svm_.decision_function(model.transform(X)), model.all_features_svm_.decision_function(scaled)
    boosted, svm = model.blend_factors_
    assert_allclose(model.decision_function(X), boosted * parts[0] + svm * parts[1], atol=1e-9)
    share = svm * parts[1].std() / (boosted * parts[0].std() + svm * parts[1].std())
    assert_allclose(share, model.blend_share_, atol=1e-9)


def known_scores(goodness, n_samples=400):
    """Return folds whose boosted scores are the labels and noise; X are the labels and other noise."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, n_samples)
    Y = 2.0 * codes - 1
    held_out = (np.arange(n_samples)[:, None] % 3 == np.arange(3)).astype(np.uint8)
    X = goodness[1] * Y[:, None] + rng.standard_normal((n_samples, 3))
    scores = goodness[0] * Y[:, None] + rng.standard_normal((3, n_samples, 1))
    return FoldScores(X, Roles(codes, 2, 1 - held_out, held_out), scores)


def accuracy(scores, codes, weights):
    return weights @ ((scores[:, 0] > 0) == codes) / weights.sum()


@pytest.mark.parametrize(("goodness", "least", "most"), [((5, 0), 0, 0.3), ((0, 5), 0.7, 1), ((0.8, 0.5), 0.2, 0.8)])
def test_the_better_part_has_the_larger_share(goodness, least, most):
    judge = Judge(accuracy, DEFAULT_OPTIONS, np.ones(2))
    chosen = choose_blend(known_scores(goodness), judge)
    assert least <= chosen.share <= most
    assert chosen.cut.fold_scores.shape == (3,)
    assert chosen.cut.fold_scores.mean() > 0.7
    assert chosen.cut.at == 0
    assert chosen.calibration.slope > 0


def test_scores_that_no_fold_can_tell_leave_boosted_columns_alone():
    judge = Judge(lambda *_: np.nan, DEFAULT_OPTIONS, np.ones(2))
    assert choose_blend(known_scores((1, 1)), judge).share == 0


def test_the_fewer_rows_there_are_the_less_a_better_share_counts():
    means = np.linspace(0.92, 0.9, 11)
    shares = [_mean_share(means, n_rows) for n_rows in (1e9, 1e5, 3000, 3)]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 5


def test_shares_that_are_as_good_are_taken_in_the_middle():
    assert _mean_share(np.full(11, 0.9), 100) == 5
    assert _mean_share(np.array([0.5] * 5 + [1.0] * 6), 1e6) == 8


def test_factors():
    assert factors_of(0.0, 2.0, 5.0) == (1, 0)
    assert factors_of(1.0, 2.0, 5.0) == (0, 1)
    boosted, svm = factors_of(0.25, 2.0, 5.0)
    assert_allclose(boosted * 2.0 / (boosted * 2.0 + svm * 5.0), 0.75)


def test_spread_counts_rows_by_their_weights():
    scores, weights = np.array([[1.0, 2.0], [3.0, 5.0], [0.0, 7.0]]), np.array([2.0, 1.0, 0.0])
    assert_allclose(spread(scores, weights), scores[[0, 0, 1]].std())
    assert spread(np.ones((3, 1)), weights) == 1


def test_noise_is_left_to_boosted_columns():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((80, 20)), rng.integers(0, 2, 80)
    model = blended(X, y)
    assert not model.projection_.has_signal_
    assert model.blend_share_ == 0
    assert model.all_features_svm_ is None
    assert_array_equal(model.coef_, ISRHTClassifier(6, random_state=0).fit(X, y).coef_)


def test_few_rows_have_nothing_to_hold_out():
    assert blended([[0.0, 1.0], [1.0, 0.0]], [0, 1]).blend_share_ == 0


@pytest.mark.parametrize("C", ["cv", 0.5])
def test_probabilities_are_of_the_blend(C):
    X, y = noisy(1000, 12, noise=1.0, positive=0.3)
    model = blended(X[::2], y[::2], C=C, class_weight="balanced")
    found = model.predict_proba(X[1::2])
    assert log_loss(y[1::2], found) < 0.9 * log_loss(y[1::2], np.full(500, y.mean()))
    assert_allclose(found[:, 1].mean(), y.mean(), atol=0.06)


def test_a_row_of_weight_two_is_the_row_twice():
    X, y = three_classes()
    folds = [(np.arange(0, 200), np.arange(200, 300)), (np.arange(100, 300), np.arange(100))]
    times = np.where(np.arange(300) % 3 == 0, 2, 1)
    twice = np.repeat(np.arange(300), times)
    repeated_folds = [tuple(np.flatnonzero(np.isin(twice, side)) for side in sides) for sides in folds]
    weighted = blended(X, y, cv=folds, sample_weight=times)
    repeated = blended(X[twice], y[twice], cv=repeated_folds)
    assert weighted.blend_share_ == repeated.blend_share_ > 0
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-7)


def test_sparse_rows_float32_and_another_score():
    X, y = noisy(300, 12, noise=1.0)
    dense, sparse = blended(X, y, scoring="roc_auc"), blended(sp.csr_array(X), y, scoring="roc_auc")
    assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    assert dense.scores_.shape == sparse.scores_.shape
    assert blended(X.astype(np.float32), y).coef_.dtype == np.float64


def test_model_file(tmp_path):
    X, y = three_classes()
    model = blended(X, y)
    isrht.save(model, tmp_path / "blend.isrht")
    loaded = isrht.load(tmp_path / "blend.isrht")
    assert loaded.blend_share_ == model.blend_share_ > 0
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert_array_equal(loaded.all_features_svm_.coef_, model.all_features_svm_.coef_)


def test_what_is_wrong_is_said():
    X, y = noisy(60, 6)
    with pytest.raises(ValueError, match="blend=True needs rows in memory"):
        blended(RowSource(X), y)
    with pytest.raises(TypeError, match="blend must be True or False, got 1"):
        ISRHTClassifier(blend=1).fit(X, y)
    with pytest.warns(UserWarning, match="does not use blend=True"):
        ISRHTClassifier(4, selection="top", blend=True).fit(X, y)
