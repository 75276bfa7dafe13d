"""Data for tests of linear SVMs, easy and hard, and the objective written out in the most obvious way."""

import numpy as np
import scipy.sparse as sp


def noisy(n_samples=400, n_features=10, seed=0, noise=1.0, positive=0.5):
    """Return rows and labels 0 and 1, of which a share is ``positive`` and the more wrong the larger the noise is."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    score = X @ rng.standard_normal(n_features) / np.sqrt(n_features) + noise * rng.standard_normal(n_samples)
    return X, (score > np.quantile(score, 1 - positive)).astype(int)


HARD = [
    "balanced",
    "imbalanced",
    "separable",
    "more features than rows",
    "duplicated columns",
    "constant columns",
    "badly scaled",
    "outliers",
]


def hard_data(kind):
    """Return rows and labels of one of the kinds ``HARD``, each of which has broken some solver."""
    if kind == "imbalanced":
        return noisy(1000, 10, 1, 0.7, positive=0.01)
    if kind == "separable":
        return noisy(300, 15, 2, noise=0.0)
    if kind == "more features than rows":
        return noisy(50, 120, 3)
    X, y = noisy(seed=4)
    if kind == "duplicated columns":
        X = np.hstack([X, X, X])
    if kind == "constant columns":
        X[:, 3], X[:, 4] = 7, 0
    if kind == "badly scaled":
        X = X * 10.0 ** np.linspace(-4, 4, 10)
    if kind == "outliers":
        X[::50] *= 1e4
    return X, y


def objective(X, y, coef, intercept, C, weights=1.0):
    """Return what a linear SVM minimises, for labels 0 and 1."""
    hinge = np.maximum(0, 1 - (2 * y - 1) * (X @ coef.ravel() + intercept))
    return 0.5 * (coef**2).sum() + 0.5 * np.sum(intercept**2) + C * np.sum(weights * hinge**2)


def gradient(X, y, coef, intercept, C):
    """Return the gradient of the objective, the intercept's part last."""
    signs = 2.0 * y - 1
    pull = 2 * C * signs * np.maximum(0, 1 - signs * (X @ coef.ravel() + intercept))
    return np.append(coef.ravel() - X.T @ pull, intercept - pull.sum())


def zipf_rows(n_samples=300, n_features=2000, seed=0):
    """Return sparse rows of unit norm with some frequent and many rare features, and noisy labels 0 and 1."""
    rng = np.random.default_rng(seed)
    indices = (n_features ** rng.random((n_samples, 30))).astype(int) - 1
    X = sp.csr_array(
        (np.ones(indices.size), indices.ravel(), np.arange(0, indices.size + 1, 30)), (n_samples, n_features)
    )
    X.sum_duplicates()
    X = sp.csr_array(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))[:, None]))
    score = X @ rng.standard_normal(n_features)
    return X, (score + 0.3 * rng.standard_normal(n_samples) > 0).astype(int)
