"""The objective against its definition and against finite differences."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from svm_data import noisy
from svm_data import objective as written_out

from isrht.linear._objective import hinge_of, is_active, loss_and_pull, objective, slopes_along


def pieces(n_problems=3, seed=0):
    """Return weights of rows, labels +1/-1, and scores of some problems on 50 rows."""
    rng = np.random.default_rng(seed)
    shape = n_problems, 50
    return rng.uniform(0, 2, shape), rng.choice([-1.0, 1.0], shape), rng.standard_normal(shape)


def loss_at(row_weights, signs, scores):
    return loss_and_pull(row_weights, signs, hinge_of(signs, scores))[0]


def test_the_objective_is_penalty_plus_C_times_loss():
    X, y = noisy(60, 4)
    weights = np.random.default_rng(0).standard_normal((1, 5))
    loss = loss_at(np.ones((1, 60)), 2.0 * y[None] - 1, weights[:, :4] @ X.T + weights[:, 4:])
    expected = written_out(X, y, weights[0, :4], weights[0, 4], 3.0)
    assert_allclose(objective(weights, loss, 3.0), [expected])


def test_the_pull_is_the_slope_of_the_loss_in_every_score():
    row_weights, signs, scores = pieces()
    pull = loss_and_pull(row_weights, signs, hinge_of(signs, scores))[1]
    for row in range(5):
        step = np.zeros(scores.shape)
        step[:, row] = 1e-6
        rise = loss_at(row_weights, signs, scores + step) - loss_at(row_weights, signs, scores - step)
        assert_allclose(-2 * pull[:, row], rise / 2e-6, atol=1e-6)


def test_active_rows_are_those_of_positive_hinge():
    _, signs, scores = pieces()
    scores[0, :3] = signs[0, :3]  # exactly on the margin
    assert_array_equal(is_active(signs, scores), hinge_of(signs, scores) > 0)
    assert not is_active(signs, scores)[0, :3].any()


def test_slopes_along_a_line_are_finite_differences():
    row_weights, signs, scores = pieces()
    direction = np.random.default_rng(1).standard_normal(scores.shape)
    lengths = np.array([[0.0, 0.1, 0.2], [0.5, 1.0, 2.0]])
    slopes = slopes_along(lengths, row_weights, 1 - signs * scores, signs * direction)
    for length, slope in zip(lengths, slopes, strict=True):
        ahead, behind = (scores + (length[:, None] + small) * direction for small in (1e-6, -1e-6))
        rise = loss_at(row_weights, signs, ahead) - loss_at(row_weights, signs, behind)
        assert_allclose(slope, rise / 2e-6, rtol=1e-5, atol=1e-5)
