"""Sets that need no download: generated from a fixed seed, or part of scikit-learn.

Each function returns ``(X, y, is_test)``; ``is_test`` is None if the split is drawn at random.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

PATCH, BLOCK, STRIDE = 32, 64, 16
WORDS = 100_000


def digits():
    """Return handwritten digits, odd against even."""
    from sklearn.datasets import load_digits

    X, digit = load_digits(return_X_y=True)
    return X, digit % 2, None


def photographs():
    """Return patches of two photographs; the class of a patch is the photograph that it comes from.

    Patches overlap one another, but each lies within one block of 64x64 pixels, and all patches of a block train or all
    of them test. No pixel of a test patch is therefore seen in training.
    """
    from sklearn.datasets import load_sample_images

    rng = np.random.default_rng(1)
    patches, labels, is_test = [], [], []
    for label, image in enumerate(load_sample_images().images):
        blocks = [(top, left) for top in _starts(image.shape[0], BLOCK) for left in _starts(image.shape[1], BLOCK)]
        held_out = set(rng.permutation(len(blocks))[: round(0.3 * len(blocks))].tolist())
        for number, (top, left) in enumerate(blocks):
            of_block = _patches(image[top : top + BLOCK, left : left + BLOCK])
            patches.append(of_block)
            labels.append(np.full(len(of_block), label))
            is_test.append(np.full(len(of_block), number in held_out))
    X = np.concatenate(patches).astype(np.float64) / 255
    return X, np.concatenate(labels), np.concatenate(is_test)


def zipf(n_documents=3000, seed=2):
    """Return documents of two kinds, each a mixture of topics over one vocabulary with Zipf's frequencies.

    A topic makes some words likelier than the language as a whole does. Documents are counts of words, damped by a
    logarithm and scaled to unit length, as is usual for text.
    """
    rng = np.random.default_rng(seed)
    language = 1 / (np.arange(WORDS) + 2.7)
    topics = np.stack([language * _topic_factors(rng) for _ in range(8)])
    cumulative = np.cumsum(topics / topics.sum(axis=1, keepdims=True), axis=1)
    y = rng.permutation(np.arange(n_documents) % 2)
    one_half, other_half = (
        rng.dirichlet(weights, n_documents) for weights in ([2] * 4 + [0.2] * 4, [0.2] * 4 + [2] * 4)
    )
    shares = np.where(y[:, None], one_half, other_half)
    rows, words = [], []
    for document in range(n_documents):
        for topic, count in enumerate(rng.multinomial(rng.poisson(120), shares[document])):
            words.append(np.searchsorted(cumulative[topic], rng.random(count)))
            rows.append(np.full(count, document))
    rows, words = np.concatenate(rows), np.minimum(np.concatenate(words), WORDS - 1)
    counts = sp.csr_matrix((np.ones(len(rows)), (rows, words)), (n_documents, WORDS))
    counts.data = 1 + np.log(counts.data)
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)))
    return sp.csr_matrix(counts.multiply(1 / np.maximum(lengths, 1e-300))), y, None


def blobs(n_points=400, seed=3):
    """Return the two classes of the paper's Figure 1, with a covariance that exists (``paper/errata.md``, 10)."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_points) % 2)
    centers = np.where(y[:, None] == 1, 3.0, -3.0)
    return centers + rng.multivariate_normal([0, 0], [[1.75, 1], [1, 1.75]], n_points), y, None


MAKERS = {"digits": digits, "photographs": photographs, "zipf": zipf, "blobs": blobs}


def _starts(length, step):
    return range(0, length - step + 1, step)


def _patches(block):
    """Return all patches of a block, ``STRIDE`` pixels apart, as an array of shape (n_patches, 3072)."""
    places = range(0, BLOCK - PATCH + 1, STRIDE)
    return np.stack([block[top : top + PATCH, left : left + PATCH].ravel() for top in places for left in places])


def _topic_factors(rng):
    """Return how much likelier each word is in one topic.

    Three words in a hundred are much likelier, and fewer of the fifty most frequent words.
    """
    factors = np.ones(WORDS)
    chosen = rng.random(WORDS) < 0.03 * np.minimum(1, np.arange(WORDS) / 50)
    factors[chosen] = rng.lognormal(2.5, 0.7, chosen.sum())
    return factors
