"""
Sparse rows, exactly projected
==============================

A rotated sparse row is dense, so the paper puts a count sketch in front of sparse data. It is not needed: each kept
column is a signed sum over the nonzeros of a row. What the sketch costs in accuracy, and what the exact way costs in
time.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from isrht import ISRHT, LinearSVM, SparseEmbedding, fwht
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
# Then a set of generated documents. Columns are chosen by the labels, of the data themselves and of a count sketch as
# wide as the paper's text says (2r) and wider ones.
text = load("zipf")
X, y = text.X, text.y
train, test = text.train, text.test
print(f"{X.shape[0]:,} documents, {X.shape[1]:,} words, {X.nnz / X.shape[0]:.0f} different ones each")
RS = (16, 64, 256)
ways = {"exact": None, "sketch of 2r": lambda r: 2 * r, "sketch of 8,192": lambda _: 8192}

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
for name, size in ways.items():
    accuracies, times = [], []
    for r in RS:
        scores, started = [], time.perf_counter()
        for seed in range(3):
            projection = ISRHT(r, selection="supervised", sketch_size=size and size(r), random_state=seed)
            Z = projection.fit(X[train], y[train]).transform(X)
            scores.append(LinearSVM().fit(Z[train], y[train]).score(Z[test], y[test]))
        accuracies.append(100 * np.mean(scores))
        times.append((time.perf_counter() - started) / 3)
    axes[0].plot(RS, accuracies, "o-", label=name)
    axes[1].plot(RS, times, "o-", label=name)
for axis in axes:
    axis.set_xscale("log", base=2)
    axis.set(xlabel="number of columns r", xticks=RS, xticklabels=RS)
axes[0].set(ylabel="test accuracy, %", title="what is lost")
axes[1].set(ylabel="seconds: fit, project, train", title="what it costs", ylim=(0, None))
axes[0].legend()

# %%
# The sketch itself, when it learns its signs or weights from the labels, is no bad projection at all.
for diagonal in ("random", "signs", "z"):
    sketch = SparseEmbedding(256, diagonal=diagonal, random_state=0).fit(X[train], y[train])
    svm = LinearSVM().fit(sketch.transform(X[train]), y[train])
    print(f"count sketch of 256, {diagonal:>6}: {100 * svm.score(sketch.transform(X[test]), y[test]):.1f} %")
