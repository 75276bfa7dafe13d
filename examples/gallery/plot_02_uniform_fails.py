"""
Why drawing columns blindly fails
=================================

The paper's Figure 1. Two classes in the plane; after the rotation one of the two columns separates them and the other
does not. Keep one column: whoever draws it blindly is wrong every other time, and whoever looks at the labels never is.
"""

import matplotlib.pyplot as plt
import numpy as np

from isrht import ISRHTClassifier, fwht
from isrht.datasets import load

# %%
# The set "blobs" is the paper's, but for its covariance matrix: the printed one has a negative eigenvalue, so no such
# Gaussian exists (erratum 10).
blobs = load("blobs")
X, y = blobs.X, blobs.y
rotated = fwht(X * [1, -1], norm="ortho")

# %%
# Fifteen times: draw signs, keep one of two columns, train a linear SVM on it.
train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
accuracies = {
    selection: [
        ISRHTClassifier(1, selection=selection, random_state=seed).fit(X[train], y[train]).score(X[test], y[test])
        for seed in range(15)
    ]
    for selection in ("uniform", "supervised")
}

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4))
for label, marker in ((0, "o"), (1, "+")):
    axes[0].plot(*X[y == label].T, marker, markersize=4)
    axes[1].plot(*rotated[y == label].T, marker, markersize=4)
axes[0].set(title="the data", xlabel="feature 1", ylabel="feature 2")
axes[1].set(title="rotated", xlabel="column 1", ylabel="column 2")
for selection, values in accuracies.items():
    axes[2].plot(range(1, 16), 100 * np.array(values), "o-" if selection == "supervised" else "s--", label=selection)
axes[2].set(title="accuracy of one column", xlabel="run", ylabel="%", ylim=(40, 122))
axes[2].legend(loc="upper center", ncols=2, fontsize=8)

# %%
# Averages hide it: a blind draw is not a little worse each time, it is right or useless.
for selection, values in accuracies.items():
    print(f"{selection:>12}: mean {100 * np.mean(values):.1f} %, worst {100 * min(values):.1f} %")
