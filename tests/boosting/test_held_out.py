"""What held-out rows say, against loops over copies of them."""

import numpy as np
import pytest
from boosting_data import some_rows
from numpy.testing import assert_allclose

from isrht.boosting._held_out import HeldOut, evidence
from isrht.boosting._rows import Head, LearnedRows


@pytest.mark.parametrize("n_classes", [2, 3])
def test_hits_hinges_and_sums_are_those_of_the_rows_held_out(n_classes, rng):
    rows = some_rows(rng, LearnedRows, n_classes=n_classes)
    n_problems, n_Cs = rows.Y.shape[1], 2
    heads = [Head(path, 3, rng.standard_normal((n_Cs * n_problems, 4)), np.zeros(n_problems)) for path in (0, 2)]
    for head, (hits, hinge, sums) in zip(heads, HeldOut(heads)(rows), strict=True):
        test = np.flatnonzero(rows.roles.held_out[:, rows.folds[head.path]])
        weights, Y = rows.roles.weights[test], rows.Y[test]
        for c in range(n_Cs):
            solutions = head.solutions[c * n_problems : (c + 1) * n_problems]
            scores = rows.columns_of(head.path, 3)[test] @ solutions[:, :-1].T + solutions[:, -1]
            guess = (scores[:, 0] > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
            assert hits[c] == pytest.approx(weights[guess == rows.roles.codes[test]].sum())
            assert hinge[c] == pytest.approx(weights @ (np.maximum(0, 1 - Y * scores) ** 2).mean(axis=1))
            expected = [weights @ each for each in (scores, scores**2, scores * Y, Y)]
            assert_allclose(sums[:, c], expected, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_evidence_is_in_standard_errors(n_classes, rng):
    """Scores that know nothing of the labels: normal with two classes, not more than that with several."""
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


def test_scores_that_are_the_labels_are_all_the_evidence_there_is():
    labels = np.where(np.arange(100) % 2, 1.0, -1.0)
    sums = np.array([[[[values.sum()]] for values in (labels, labels**2, labels**2, labels)]])
    assert evidence(sums, np.array([100.0]), 100) == pytest.approx(10)


def test_constant_scores_are_no_evidence():
    labels, scores = np.where(np.arange(100) % 2, 1.0, -1.0), np.full(100, 0.1)
    sums = np.array([[[[values.sum()]] for values in (scores, scores**2, scores * labels, labels)]])
    assert evidence(sums, np.array([100.0]), 100) == 0
