"""The small SVMs of paths: the same in memory and elsewhere, for every class and C."""

import numpy as np
import pytest
from boosting_data import new_path, some_rows, two_classes
from numpy.testing import assert_allclose

from isrht import LinearSVM
from isrht.boosting._rounds import grow
from isrht.boosting._rows import FiledRows, LearnedRows
from isrht.boosting._training import INNER_C, solve, train


class FakePath:
    """What is asked of a path to solve its problems."""

    def __init__(self, number, size, n_problems):
        self.number, self.size, self.n_problems = number, size, n_problems


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [LearnedRows, FiledRows])
def test_every_path_has_the_svms_of_its_own_columns_and_fold(kind, n_classes):
    rows = some_rows(np.random.default_rng(0), kind, n_classes=n_classes)
    rows.columns[2:, 2] = 0  # the last path has learned fewer columns
    n_problems, Cs = rows.Y.shape[1], [np.array([0.1, 10.0]), np.array([1.0])]
    paths = [FakePath(0, 4, n_problems), FakePath(2, 2, n_problems)]
    starts = [np.zeros((len(some) * n_problems, 1)) for some in Cs]
    for path, own, (weights, loss) in zip(paths, Cs, solve(rows, paths, Cs, starts), strict=True):
        columns, row_weights = rows.columns_of(path.number, path.size), rows.training_weights(path.number)
        assert weights.shape[1] == path.size + 1
        for p, (C, label) in enumerate((C, label) for C in own for label in range(n_problems)):
            y = rows.Y[:, label]
            svm = LinearSVM(C, tol=1e-9).fit(columns, y, row_weights)
            assert_allclose(weights[p, : path.size], svm.coef_[0], atol=1e-6)
            assert_allclose(weights[p, -1], svm.intercept_[0], atol=1e-6)
            hinge = np.maximum(0, 1 - y * svm.decision_function(columns))
            assert loss[p] == pytest.approx(row_weights @ hinge**2)


def test_a_path_keeps_the_svm_that_its_next_residual_is_of():
    X, y = two_classes()
    path, rows, features = new_path(X, y)
    grow(X, rows, features, [path])
    svm = LinearSVM(INNER_C, tol=1e-9).fit(rows.columns_of(0, 1), y)
    expected = [[svm.coef_[0, 0], svm.intercept_[0]]]
    assert_allclose(path.solutions, expected, atol=1e-6)
    path.solutions = np.zeros((1, 2))
    train(rows, [path])
    assert_allclose(path.solutions, expected, atol=1e-6)
