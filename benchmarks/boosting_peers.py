"""What else makes few columns of many features with the labels, or does without: the peers of boosted columns.

Each function takes training rows, labels -1 and +1 and a seed, dense or CSR (never densified), chooses what it has to
choose by 5-fold cross-validation in which every fold learns its own columns, and returns what predicts, the bytes of
what it projects with (of the weights, where nothing is projected), and what it chose.
"""

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from isrht import LinearSVM, fwht
from isrht.linear.costs import DEFAULT_CS

ROUNDS = 16
ALPHAS = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]


def folds_of(y):
    return StratifiedKFold(5).split(y, y)


def averaged_sgd(X, y, seed):
    """One epoch of averaged SGD with the hinge loss on all features, its ridge by cross-validation."""
    sgd = SGDClassifier(average=True, max_iter=1, tol=None, random_state=seed)
    search = GridSearchCV(sgd, {"alpha": ALPHAS}, cv=5).fit(X, y)
    weights = search.best_estimator_.coef_
    return search.predict, weights.nbytes, f"alpha={search.best_params_['alpha']:g}"


class PLS:
    """Partial least squares of one target, on rows that are centred (and scaled) only in thought.

    The scores are orthonormal, so deflating the target is all it takes: the next weights are ``X'(what is left of y)``.
    With the weights W, their raw scores are ``X W = T U``, U a triangle, and the rotation is ``W U^-1``.
    """

    def __init__(self, n_components, scaled):
        self.n_components, self.scaled = n_components, scaled

    def fit(self, X, y):
        n, d = X.shape
        self.mean, variance = moments(X)
        self.scale = 1 / np.sqrt(np.where(variance > 0, variance, 1)) if self.scaled else np.ones(d)
        self.offset = y.mean()
        size = min(self.n_components, n - 1, d)
        W, T, U = np.empty((size, d)), np.empty((size, n)), np.zeros((size, size))
        left, start = y - self.offset, None
        for a in range(size):
            w = self.scale * (X.T @ left - self.mean * left.sum())
            start = start or np.linalg.norm(w)
            if np.linalg.norm(w) < 1e-10 * start:
                size = a
                break
            W[a] = w / np.linalg.norm(w)
            t = self._raw_scores(X, W[a])
            for _ in range(2):  # Gram-Schmidt, twice for accuracy
                along = T[:a] @ t
                t -= along @ T[:a]
                U[:a, a] += along
            U[a, a] = np.linalg.norm(t)
            if U[a, a] < 1e-10 * U[0, 0]:
                size = a
                break
            T[a] = t / U[a, a]
            left = left - (T[a] @ left) * T[a]
        self.rotation = solve_triangular(U[:size, :size].T, W[:size], lower=True)
        self.loads = T[:size] @ (y - self.offset)
        return self

    def _raw_scores(self, X, W):
        w = (W * self.scale).T
        return X @ w - self.mean @ w

    def decisions(self, X):
        """(rows, components): with one component, with two, and so on."""
        return self.offset + np.cumsum(self._raw_scores(X, self.rotation) * self.loads, axis=1)

    def coefficients(self, size):
        weights = self.scale * (self.loads[:size] @ self.rotation[:size])
        return weights, self.offset - self.mean @ weights


def pls(r, tuned):
    """PLS regression on labels -1 and +1; scaled or not, and if ``tuned`` with how many components, by CV."""

    def fit(X, y, seed):
        accuracy = {scaled: np.zeros(r) for scaled in (False, True)}
        for train, test in folds_of(y):
            for scaled, sums in accuracy.items():
                decisions = PLS(r, scaled).fit(X[train], y[train]).decisions(X[test])
                correct = np.mean((decisions > 0) == (y[test, None] > 0), axis=0)
                sums += np.pad(correct, (0, r - len(correct)), mode="edge")
        if not tuned:
            accuracy = {scaled: np.where(np.arange(r) == r - 1, sums, -1) for scaled, sums in accuracy.items()}
        scaled = max(accuracy, key=lambda scaled: accuracy[scaled].max())
        size = 1 + int(np.argmax(accuracy[scaled]))
        model = PLS(size, scaled).fit(X, y)
        weights, intercept = model.coefficients(size)
        chosen = f"{'scaled' if scaled else 'plain'} {len(model.loads)}"
        return (lambda X: np.where(X @ weights + intercept > 0, 1, -1)), model.rotation.nbytes, chosen

    return fit


def moments(X):
    """Mean and variance of every feature."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = X.multiply(X) if sp.issparse(X) else X * X
    return mean, np.maximum(0, np.asarray(squares.mean(axis=0)).ravel() - mean**2)


def gradient_and_error(X, squares, g):
    """The gradient ``sum_i (x_ik - m_k) g_i`` of every feature, and its standard error."""
    mean, v, g2 = np.asarray(X.mean(axis=0)).ravel(), X.T @ g, g * g
    variance = squares.T @ g2 - 2 * mean * (X.T @ g2) + mean**2 * g2.sum()
    return v - mean * g.sum(), np.sqrt(np.maximum(variance, 0))


class Rounds:
    """Residual rounds as boosted columns have them, with columns of another kind.

    ``propose(gradient, error, count, taken)`` returns the directions of a round: features, or (signs, columns of H).
    """

    def __init__(self, r, propose, columns_of):
        self.r, self.propose, self.columns_of = r, propose, columns_of

    def fit(self, X, y):
        squares, g = X.multiply(X).tocsr() if sp.issparse(X) else X * X, y - y.mean()
        rounds = min(ROUNDS, self.r)
        self.directions, Z = [], np.empty((len(y), 0))
        for _ in range(rounds):
            error_of = gradient_and_error(X, squares, g)
            self.directions.append(self.propose(*error_of, self.r // rounds, self.directions))
            Z = np.hstack([Z, self.columns_of(X, self.directions[-1])])
            svm = LinearSVM(10 / len(y)).fit(self._standardised(Z, learn=True), y)
            g = y * np.maximum(0, 1 - y * svm.decision_function(self._standardised(Z)))
        return self

    def transform(self, X):
        return self._standardised(np.hstack([self.columns_of(X, direction) for direction in self.directions]))

    def _standardised(self, Z, learn=False):
        if learn:
            spread = Z.std(axis=0)
            self.mean, self.spread = Z.mean(axis=0), np.where(spread > 0, spread, 1)
        return (Z - self.mean) / self.spread


def on_columns_of(rounds_of, bytes_of):
    """An SVM on the columns of rounds, C by folds that make their own rounds."""

    def fit(X, y, seed):
        scores = np.zeros(len(DEFAULT_CS))
        for train, test in folds_of(y):
            rounds = rounds_of(seed).fit(X[train], y[train])
            Z, Z_test = rounds.transform(X[train]), rounds.transform(X[test])
            scores += [np.mean(LinearSVM(C).fit(Z, y[train]).predict(Z_test) == y[test]) for C in DEFAULT_CS]
        C, rounds = DEFAULT_CS[np.argmax(scores)], rounds_of(seed).fit(X, y)
        svm = LinearSVM(C).fit(rounds.transform(X), y)
        return (lambda X: svm.predict(rounds.transform(X))), bytes_of(rounds, X.shape[1]), f"C={C:g}"

    return fit


def greedy(r):
    """Raw features: those with the largest ``|z|`` of the residual, 16 rounds."""

    def propose(gradient, error, count, taken):
        z = np.abs(gradient) / np.where(error > 0, error, np.inf)
        if taken:
            z[np.concatenate(taken)] = -1
        best = np.argsort(-z, kind="stable")[:count]
        return np.sort(best[z[best] >= 0])

    def columns_of(X, features):
        Z = X[:, features]
        return Z.toarray() if sp.issparse(Z) else Z

    # Number, mean and spread of every feature.
    return on_columns_of(lambda seed: Rounds(r, propose, columns_of), lambda rounds, d: min(r, d) * (8 + 8 + 8))


def random_sign_rounds(r):
    """Columns of H under signs that every round draws, where the gradient of the residual is largest."""

    def rounds_of(seed):
        rng = np.random.default_rng(seed)

        def propose(gradient, error, count, taken):
            signs = rng.choice([-1.0, 1.0], len(gradient))
            rotated = np.abs(fwht(padded(signs * gradient)))
            return signs, np.sort(np.argpartition(rotated, -count)[-count:])

        return Rounds(r, propose, columns_of)

    def padded(values):
        whole = np.zeros(1 << (len(values) - 1).bit_length())
        whole[: len(values)] = values
        return whole

    def columns_of(X, direction):
        signs, columns = direction
        units = np.zeros((len(columns), len(padded(signs))))
        units[np.arange(len(columns)), columns] = 1
        return X @ (fwht(units)[:, : len(signs)] * signs).T

    def bytes_of(rounds, d):
        return min(ROUNDS, r) * -(-d // 8) + r * (8 + 8 + 8)

    return on_columns_of(rounds_of, bytes_of)
