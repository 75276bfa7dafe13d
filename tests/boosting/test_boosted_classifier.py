"""ISRHTClassifier with boosted columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from isrht import ISRHTClassifier


@parametrize_with_checks([ISRHTClassifier(2, selection="boosted")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("sparse", [False, True])
def test_projection_and_svm_become_one_weight_per_feature(data, sparse):
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


def test_classifier_hands_its_scoring_to_the_search(data):
    model = ISRHTClassifier(3, selection="boosted", scoring="f1", random_state=0).fit(*data)
    by_accuracy = clone(model.projection_).set_params(scoring=None).fit(*data)
    assert model.projection_.scoring == "f1"
    assert model.projection_.held_out_score_ != by_accuracy.held_out_score_


def test_classifier_without_a_held_out_row_has_no_score(rng):
    model = ISRHTClassifier(2, selection="boosted", random_state=0).fit(rng.standard_normal((2, 3)), [0, 1])
    assert np.isnan(model.mean_scores_).all()
    assert model.C_ == model.projection_.C_
