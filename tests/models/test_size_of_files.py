"""A projection takes a bit for each feature, and a classifier little more unless it keeps its weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from forged_files import content_of, model_of
from kept_models import assert_same_bits

from isrht import ISRHTClassifier

N_FEATURES, R = 1_355_191, 256


@pytest.fixture(scope="module")
def model():
    X = sp.random_array((20, N_FEATURES), density=1e-4, format="csr", random_state=0)
    return ISRHTClassifier(R, selection="uniform", C=1.0, random_state=0).fit(X, np.arange(20) % 2)


def test_a_projection_takes_a_bit_for_each_feature(model):
    assert len(content_of(model.projection_)) <= N_FEATURES / 8 + 32 * R


def test_a_classifier_without_its_weights_takes_little_more(model):
    content = content_of(model, folded=False)
    assert len(content) <= N_FEATURES / 8 + 64 * R
    assert_same_bits(model_of(content).coef_, model.coef_)


def test_a_classifier_with_its_weights_takes_them(model):
    assert len(content_of(model)) <= N_FEATURES / 8 + 8 * N_FEATURES + 64 * R
