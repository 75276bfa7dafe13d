"""
A rotation before quantisation
==============================

Vector search keeps millions of vectors in a few bits per number. A few large coordinates spoil it: the step between the
levels must be as large as they need. Rotate first, and all coordinates are of the same size.
"""

import matplotlib.pyplot as plt
import numpy as np

from isrht import HadamardRotation

# %%
# Vectors as embeddings often are: some coordinates are much larger than the others. The rotation is
# random signs and a transform, twice.
rng = np.random.default_rng(0)
d, n = 512, 4000
scales = np.where(rng.uniform(size=d) < 0.02, 20.0, 1.0)
base = rng.normal(size=(n, d)) * scales
queries = base[:200] + 0.7 * rng.normal(size=(200, d)) * scales
rotation = HadamardRotation(random_state=0).fit(base)


def rotated(vectors):
    return rotation.transform(vectors)


def quantised(vectors, bits):
    """Return vectors whose numbers have 2**bits - 1 levels, the same step for all numbers of a vector."""
    step = np.abs(vectors).max(axis=1, keepdims=True) / (2 ** (bits - 1) - 0.5)
    return np.round(vectors / step) * step


# %%
# How well do quantised vectors find the ten true neighbours of a query?
def neighbours(queries, vectors, k=10):
    distances = (vectors**2).sum(axis=1) - 2 * queries @ vectors.T
    return np.argpartition(distances, k, axis=1)[:, :k]


true = neighbours(queries, base)


def recall(found):
    return np.mean([len(np.intersect1d(one, other)) / 10 for one, other in zip(found, true, strict=True)])


BITS = (2, 3, 4, 5, 6, 8)
plain = [recall(neighbours(queries, quantised(base, bits))) for bits in BITS]
after = [recall(neighbours(rotated(queries), quantised(rotated(base), bits))) for bits in BITS]

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
axes[0].plot(np.abs(base[0]), ".", markersize=3, label="a vector")
axes[0].plot(np.abs(rotated(base)[0]), ".", markersize=3, label="rotated")
axes[0].set(xlabel="coordinate", ylabel="absolute value", title="the rotation evens out")
axes[0].legend()
axes[1].plot(BITS, plain, "o-", label="as they are")
axes[1].plot(BITS, after, "s-", label="rotated first")
axes[1].set(xlabel="bits per number", ylabel="recall of 10 neighbours", title="fewer bits do", ylim=(0, 1.03))
axes[1].legend()

# %%
# The rotation itself loses nothing, costs d log d additions a round, and takes one bit per coordinate and round to
# keep.
print("the true neighbours are the same after rotating:", recall(neighbours(rotated(queries), rotated(base))))
for bits, before, then in zip(BITS, plain, after, strict=True):
    print(f"{bits} bits: recall {before:.2f} as they are, {then:.2f} rotated")
