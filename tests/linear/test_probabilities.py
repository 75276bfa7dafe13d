"""``predict_proba``: there when rows were held out, with its reason when not, and what it promises."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from svm_data import noisy

from isrht import ISRHTClassifier, LinearSVMCV

MODELS = {
    "svm cv": LinearSVMCV([0.1, 1.0]),
    "supervised": ISRHTClassifier(4, selection="supervised", random_state=0),
    "top": ISRHTClassifier(4, selection="top", random_state=0),
    "once": ISRHTClassifier(4, selection="supervised", project_once=True, random_state=0),
    "boosted": ISRHTClassifier(4, selection="boosted", random_state=0),
    "boosted with a C": ISRHTClassifier(4, selection="boosted", C=3.0, random_state=0),
    "given C": ISRHTClassifier(4, selection="supervised", C=1.0, probability=True, random_state=0),
    "given C, top": ISRHTClassifier(4, selection="top", C=1.0, probability=True, random_state=0),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_probabilities_go_with_scores_and_add_up_to_one(name, n_classes):
    X, y = noisy(600, 12, noise=0.7)
    y = y if n_classes == 2 else y + (X[:, 1] > 0)
    model = MODELS[name].fit(X[:300], y[:300])
    found = model.predict_proba(X[300:])
    assert found.shape == (300, n_classes)
    assert_allclose(found.sum(axis=1), 1)
    assert_allclose(np.exp(model.predict_log_proba(X[300:])), found)
    assert np.all(found[np.arange(300), y[300:]].mean() > 1 / n_classes)
    scores = model.decision_function(X[300:])
    if n_classes == 2:
        assert_array_equal(np.argsort(scores), np.argsort(found[:, 1]))
    else:
        assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(X[300:]))


@pytest.mark.parametrize("name", MODELS)
def test_they_are_there_before_fit_and_ask_for_it(name):
    model = MODELS[name].__class__(**MODELS[name].get_params())
    assert hasattr(model, "predict_proba")
    with pytest.raises(NotFittedError):
        model.predict_proba([[0.0]])


def test_a_given_C_has_none_and_says_how_to_have_them():
    X, y = noisy(60)
    model = ISRHTClassifier(4, selection="supervised", C=1.0)
    for _ in range(2):
        assert not hasattr(model, "predict_proba")
        assert not hasattr(model, "predict_log_proba")
        with pytest.raises(AttributeError) as caught:
            model.predict_proba(X)
        assert "probability=True" in str(caught.value.__cause__)
        model.fit(X, y)
    model.set_params(C="cv")
    assert not hasattr(model, "predict_proba"), "what was fitted decides"


def test_the_folds_of_a_given_C_are_those_of_a_choice_of_one():
    X, y = noisy(200)
    weights = np.linspace(0.5, 3, 200)
    for selection in ("supervised", "top"):
        options = {"selection": selection, "random_state": 0}
        given = ISRHTClassifier(4, C=0.5, probability=True, **options).fit(X, y)
        chosen = ISRHTClassifier(4, Cs=[0.5], **options).fit(X, y)
        assert_allclose(given.predict_proba(X), chosen.predict_proba(X), rtol=1e-9)
        weighted = ISRHTClassifier(4, C=0.5, probability=True, **options).fit(X, y, sample_weight=weights)
        unit = ISRHTClassifier(4, **options).fit(X, y, sample_weight=weights).weight_unit_
        same = ISRHTClassifier(4, Cs=[0.5 * unit], **options).fit(X, y, sample_weight=weights)
        assert_allclose(weighted.predict_proba(X), same.predict_proba(X), rtol=1e-6)


def test_probability_is_a_truth_value():
    with pytest.raises(TypeError, match="probability must be True or False, got 'yes'"):
        ISRHTClassifier(4, selection="supervised", probability="yes").fit(*noisy(60))


def test_rows_that_nothing_was_held_out_of_have_none():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1]
    model = ISRHTClassifier(2, selection="boosted").fit(X, y)
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(X)
    assert "no rows were held out" in str(caught.value.__cause__)
