import numpy as np
import pytest
import scipy.sparse as sp

from isrht.experiments import solvers


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((150, 20))
    return X, (X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(150) > 0).astype(int)


def test_both_solvers_agree(rows, monkeypatch):
    X, y = rows
    narrow = solvers.cross_validated(sp.csr_matrix(X), y)
    monkeypatch.setattr(solvers, "WIDE", 5)
    wide = solvers.cross_validated(sp.csr_matrix(X), y)
    assert narrow.shape == wide.shape == (11,)
    np.testing.assert_allclose(narrow, wide, atol=0.03)


def test_accuracies_on_test_are_those_of_the_trained_model(rows):
    X, y = rows
    accuracies = solvers.accuracies_on_test(X[:100], y[:100], X[100:], y[100:])
    for C, accuracy in zip(solvers.DEFAULT_CS, accuracies, strict=True):
        assert accuracy == pytest.approx(np.mean(solvers.trained(X[:100], y[:100], C).predict(X[100:]) == y[100:]))


def test_rotating_into_the_span_changes_no_score(rng, monkeypatch):
    X, X_test = rng.standard_normal((12, 40)), rng.standard_normal((9, 40))
    y = np.arange(12) % 2
    monkeypatch.setattr(solvers, "WIDE", 20)
    Z, Z_test = solvers.into_their_span(X, X_test)
    assert Z.shape == (12, 12)
    monkeypatch.setattr(solvers, "WIDE", 2500)
    before, after = solvers.trained(X, y, 1.0), solvers.trained(Z, y, 1.0)
    np.testing.assert_allclose(before.decision_function(X_test), after.decision_function(Z_test), atol=1e-5)


def test_many_or_sparse_rows_stay_as_they_are(rows, monkeypatch):
    X, _ = rows
    monkeypatch.setattr(solvers, "WIDE", 5)
    assert solvers.into_their_span(X, X)[0] is X
    sparse = sp.csr_matrix(X[:10])
    assert solvers.into_their_span(sparse, sparse)[0] is sparse
