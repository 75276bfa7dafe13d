"""Data of the shapes that boosted columns must be quick on: narrow and sparse, dense and tall, tiny, of many classes.

They stand in for sets that cannot be had here: sizes, values per row and shares of the classes are those of real sets,
and how hard they are is about right. ``python -m benchmarks.boosting_speed`` boosts them.
"""

import numpy as np
import scipy.sparse as sp


def narrow_sparse(n_samples=34_824, n_features=300, per_row=12, positive=0.03, seed=0):
    """Return binary rows in which some features are far more frequent than others, and few rows of one class."""
    rng = np.random.default_rng(seed)
    frequency = 1 / (5 + np.arange(n_features))
    X = rows_of_words(rng, n_samples, frequency, per_row)
    X.data[:] = 1
    return X, _labels_of_share(rng, X @ _few_weights(rng, n_features, 0.6), positive, 0.3)


def narrow_binary(n_samples=22_792, n_features=123, per_row=14, positive=0.24, seed=1):
    """Return rows of indicators: each feature of ``per_row`` texts is one of a few, as in a census."""
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.choice(np.arange(1, n_features), per_row - 1, replace=False))
    parts = np.split(np.arange(n_features), cuts)
    chosen = [rng.choice(part, n_samples, p=rng.dirichlet(np.ones(len(part)))) for part in parts]
    indices = np.stack(chosen, axis=1).astype(np.int32)
    indptr = np.arange(n_samples + 1, dtype=np.int32) * per_row
    X = sp.csr_array((np.ones(indices.size), indices.ravel(), indptr), (n_samples, n_features))
    return X, _labels_of_share(rng, X @ rng.standard_normal(n_features), positive, 0.5)


def tall_dense(n_samples=200_000, n_features=1000, seed=2):
    """Return rows in float32 of which the features are correlated, and a tenth of them tells."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((20, n_features)).astype(np.float32)
    weights = _few_weights(rng, n_features, 0.1).astype(np.float32)
    X = np.empty((n_samples, n_features), dtype=np.float32)
    for start in range(0, n_samples, 10_000):
        part = X[start : start + 10_000]
        rng.standard_normal(part.shape, dtype=np.float32, out=part)
        part += 0.3 * rng.standard_normal((len(part), 20)).astype(np.float32) @ factors
    return X, _labels_of_share(rng, X @ weights, 0.5, 1.0)


def tiny(n_samples=200, n_features=20, seed=3):
    """Return a set as small as a textbook's."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features))
    return X, _labels_of_share(rng, X @ rng.standard_normal(n_features), 0.5, 1.0)


def counts_of_classes(n_samples=11_154, n_features=62_061, n_classes=20, per_row=160, seed=4):
    """Return counts of words, drawn by Zipf's law, of which each class prefers some.

    As in letters to newsgroups, some rows are very long, and a word that occurs once is likely to occur again.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    frequency = 1 / (10 + np.arange(n_features))
    parts, order = [], np.argsort(y, kind="stable")
    for one in range(n_classes):
        preferred = np.exp(rng.standard_normal(n_features) * (rng.random(n_features) < 0.15))
        parts.append(rows_of_words(rng, np.count_nonzero(y == one), frequency * preferred, per_row, 1.0))
    X = sp.vstack(parts, format="csr")
    X.data *= np.ceil(rng.pareto(2.0, X.nnz))
    back = np.empty(n_samples, dtype=np.int64)
    back[order] = np.arange(n_samples)
    return sp.csr_array(X[back]), y


SHAPES = {
    "narrow sparse": narrow_sparse,
    "narrow binary": narrow_binary,
    "tall dense": tall_dense,
    "tiny": tiny,
    "2 classes": lambda: counts_of_classes(n_classes=2),
    "5 classes": lambda: counts_of_classes(n_classes=5),
    "20 classes": counts_of_classes,
    "100 classes": lambda: counts_of_classes(n_classes=100),
    "20 classes, few rows": lambda: counts_of_classes(1800),
    "20 classes, short rows": lambda: counts_of_classes(5000, 62_000, per_row=80, seed=5),
}


def rows_of_words(rng, n_samples, frequency, per_row, spread=0.5):
    """Return rows of about so many words each, drawn with these frequencies, as counts."""
    lengths = np.maximum(1, rng.poisson(per_row * rng.lognormal(-(spread**2) / 2, spread, n_samples)))
    words = np.searchsorted(np.cumsum(frequency) / frequency.sum(), rng.random(lengths.sum()))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    words = np.minimum(words, len(frequency) - 1).astype(np.int32)
    X = sp.csr_array((np.ones(len(words)), words, indptr), (n_samples, len(frequency)))
    X.sum_duplicates()
    return X


def _few_weights(rng, n_features, share):
    """Return weights of which most are zero."""
    return rng.standard_normal(n_features) * (rng.random(n_features) < share)


def _labels_of_share(rng, signal, positive, noise):
    """Return labels 0 and 1, of which the second is for the rows of largest signal, which is noisy."""
    signal = signal + noise * signal.std() * rng.standard_normal(len(signal))
    return (signal > np.quantile(signal, 1 - positive)).astype(np.int64)
