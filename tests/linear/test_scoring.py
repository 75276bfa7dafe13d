"""Scores on held-out rows, against those of scikit-learn on copies of these rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import accuracy_score, roc_auc_score
from svm_data import noisy

from isrht.linear.classifier import FixedModel
from isrht.linear.path import Solution
from isrht.linear.scoring import FoldAccuracies, held_out_scorer
from isrht.linear.svm import LinearSVM


def some_solution(n_folds, n_problems, n_features):
    rng = np.random.default_rng(0)
    coef, intercept = rng.standard_normal((n_folds, n_problems, n_features)), rng.standard_normal((n_folds, n_problems))
    return Solution(1.0, coef, intercept, np.ones((n_folds, n_problems)), np.ones((n_folds, n_problems), dtype=bool))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_accuracies_of_all_folds_are_those_of_each_on_its_rows(container, n_classes, weighted, rng, monkeypatch):
    monkeypatch.setattr("isrht.rows.blocks.BLOCK_ELEMENTS", 200)
    X, y = rng.standard_normal((90, 5)), np.arange(90) % n_classes
    held_out = rng.integers(0, 3, (90, 2)).astype(np.uint8)
    weights = rng.uniform(0.5, 2, 90) if weighted else None
    solution = some_solution(2, 1 if n_classes == 2 else 3, 5)
    found = FoldAccuracies(container(X), y, weights, held_out, n_jobs=2)(solution)
    for k in range(2):
        model = FixedModel.of(np.arange(n_classes), solution.coef[k], solution.intercept[k])
        rows = np.repeat(np.arange(90), held_out[:, k])
        expected = accuracy_score(
            y[rows], model.predict(X[rows]), sample_weight=None if weights is None else weights[rows]
        )
        assert found[k] == pytest.approx(expected)


def test_a_fold_whose_rows_weigh_nothing_is_named():
    X, y = noisy(20, 3)
    held_out = np.ones((20, 3))
    held_out[:, 1] = np.arange(20) < 5
    weights = (np.arange(20) >= 5).astype(float)
    with pytest.raises(ValueError, match="zero on all rows held out by fold 1 of cv"):
        FoldAccuracies(X, y, weights, held_out)


@pytest.fixture
def fitted():
    X, y = noisy(100, 4, noise=2.0)
    return LinearSVM().fit(X, y), X, y, np.random.default_rng(0).uniform(0.5, 2, 100)


def test_no_scoring_is_accuracy(fitted):
    model, X, y, weights = fitted
    score = held_out_scorer(model, None)
    assert score(model, X, y) == pytest.approx(model.score(X, y))
    assert score(model, X, y, weights) == pytest.approx(model.score(X, y, weights)) != pytest.approx(model.score(X, y))


def test_a_named_score_counts_weights(fitted):
    model, X, y, weights = fitted
    expected = roc_auc_score(y, model.decision_function(X), sample_weight=weights)
    assert held_out_scorer(model, "roc_auc")(model, X, y, weights) == pytest.approx(expected)


def test_a_callable_without_a_parameter_for_weights_gets_none(fitted):
    model, X, y, weights = fitted

    def first_score(model, X, y):
        return float(model.decision_function(X)[0])

    assert held_out_scorer(model, first_score)(model, X, y, weights) == model.decision_function(X)[0]
