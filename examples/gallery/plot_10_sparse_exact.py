"""
Sparse rows, exactly projected
==============================

A rotated sparse row is dense, so the paper puts a count sketch in front of sparse data. It is not needed: each kept
column is a signed sum over the nonzeros of a row, and nothing dense is ever made. What that changes, and what not.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from isrht import ISRHT, LinearSVM, fwht
from isrht.datasets import load

# %%
# First, that it is exact: rotate a few rows whole, as dense vectors, and compare.
rows = sp.random(20, 5000, density=0.01, format="csr", random_state=np.random.default_rng(0))
isrht = ISRHT(64, selection="uniform", random_state=0).fit(rows)
padded = np.zeros((20, isrht.n_features_padded_))
padded[:, :5000] = rows.toarray() * isrht.signs_
whole = fwht(padded, norm="ortho")
by_hand = whole[:, isrht.selected_columns_] * isrht.column_scales_
print(f"largest difference: {np.abs(isrht.transform(rows) - by_hand).max():.1e}")

# %%
# And quick: 20,000 rows of 75 nonzeros among a million features, to 256 columns.
wide = sp.random(20_000, 1_000_000, density=75e-6, format="csr", random_state=np.random.default_rng(1))
projection = ISRHT(256, selection="uniform", random_state=0).fit(wide)
started = time.perf_counter()
projection.transform(wide)
seconds = time.perf_counter() - started
print(f"projected in {seconds:.2f} s; dense, the rotated rows would take {20_000 * 2**20 * 8 / 1e9:.0f} GB")

# %%
# What would a sketch in front change? A set of generated documents, and sketches as wide as the paper's text says (2r)
# and as the authors' code has them (8,192). On the left, how well r columns drawn blindly keep the distances between
# documents; on the right, the accuracy of columns that were chosen by the labels.
text = load("zipf")
X, y, train, test = text.X, text.y, text.train, text.test
print(f"{X.shape[0]:,} documents, {X.shape[1]:,} words, {X.nnz / X.shape[0]:.0f} different ones each")
RS = (16, 64, 256, 1024)
ways = {"exact": None, "sketch of 2r": lambda r: 2 * r, "sketch of 8,192": lambda _: 8192}
some = X[test[:150]]
first, second = np.triu_indices(150, 1)
true = np.sqrt(np.asarray((some[first] - some[second]).power(2).sum(axis=1)).ravel())


def distance_error(r, size):
    Z = ISRHT(r, selection="uniform", sketch_size=size, random_state=0).fit(X).transform(some)
    return np.sqrt(np.mean((np.linalg.norm(Z[first] - Z[second], axis=1) / true - 1) ** 2))


def accuracy(r, size, seed):
    Z = ISRHT(r, selection="supervised", sketch_size=size, random_state=seed).fit(X[train], y[train]).transform(X)
    return max(LinearSVM(C).fit(Z[train], y[train]).score(Z[test], y[test]) for C in (1.0, 32.0))


figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
for name, size in ways.items():
    sizes = [size and size(r) for r in RS]
    axes[0].plot(RS, [100 * distance_error(r, one) for r, one in zip(RS, sizes, strict=True)], "o-", label=name)
    means = [
        100 * np.mean([accuracy(r, one, seed) for seed in range(2)]) for r, one in zip(RS[:3], sizes, strict=False)
    ]
    axes[1].plot(RS[:3], means, "o-", label=name)
for axis in axes:
    axis.set_xscale("log", base=2)
    axis.set(xlabel="number of columns r", xticks=RS, xticklabels=RS)
axes[0].set(ylabel="error of distances, %", title="distances: the same", ylim=(0, None))
axes[1].set(ylabel="accuracy, best of two C, %", title="columns chosen by labels")
axes[0].legend()

# %%
# Distances do not care. The choice does: taking 256 of 131,072 columns by the labels of two thousand documents is, to a
# good part, taking those that look good by chance, and a sketch leaves fewer to take from. That is a reason to use a
# sketch on few rows; that sparse rows cannot be rotated is none. On the paper's larger sets exact columns are better
# (rcv1) or as good (news20), and columns that learn need no such choice.
