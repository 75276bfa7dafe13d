import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC

from isrht.experiments import solvers


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((150, 20))
    return X, (X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(150) > 0).astype(int)


def test_all_features_of_wide_rows_have_the_accuracies_of_liblinear(rng):
    X = sp.random_array((400, 3000), density=0.02, format="csr", random_state=rng)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # LIBLINEAR takes no others
    y = (X @ rng.standard_normal(3000) > 0).astype(int)
    assert solvers.is_wide(X)
    ours = solvers.cross_validated(X, y)
    theirs = [cross_val_score(LinearSVC(C=C, max_iter=100_000), X, y, cv=5).mean() for C in solvers.DEFAULT_CS]
    np.testing.assert_allclose(ours, theirs, atol=0.006)
    model, peer = solvers.trained(X, y, 1.0), LinearSVC(C=1.0, tol=1e-8, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4 * np.abs(peer.coef_).max())


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
