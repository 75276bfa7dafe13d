"""
Rotate and look
===============

What flipping signs and a Walsh-Hadamard transform do to a row of data: energy that sits in a few features is spread
over all columns, and no distance changes.
"""

import matplotlib.pyplot as plt
import numpy as np

from isrht import fwht

# %%
# A row of 256 features of which three are large. To rotate it, flip signs at random (D), then transform (H).
rng = np.random.default_rng(0)
row = 0.05 * rng.normal(size=256)
row[[20, 21, 150]] = [3.0, 2.0, -2.5]
signs = rng.choice([-1.0, 1.0], size=256)
rotated = fwht(row * signs, norm="ortho")

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
axes[0].stem(row, markerfmt=" ", basefmt=" ")
axes[0].set(title="a row: three features are large", xlabel="feature", ylabel="value")
axes[1].stem(rotated, markerfmt=" ", basefmt=" ", linefmt="C1-")
axes[1].set(title="the same row, rotated: all columns matter", xlabel="column")

# %%
# Nothing is lost: the rotation keeps all lengths and distances, so a linear classifier on all columns would be the same
# as on all features. What is gained is that no column is useless, so some of them may be dropped.
other = rng.normal(size=256)
before = np.linalg.norm(row - other)
after = np.linalg.norm(rotated - fwht(other * signs, norm="ortho"))
print(f"distance to another row: {before:.12f} before, {after:.12f} after")

# %%
# How well do r columns, drawn blindly, keep the distances between many rows? Each point is a pair of rows.
rows = rng.normal(size=(60, 256)) * (rng.uniform(size=256) < 0.2)
columns = fwht(rows * signs, norm="ortho")
pairs = np.triu_indices(60, 1)
true = np.linalg.norm(rows[pairs[0]] - rows[pairs[1]], axis=1)

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True)
for axis, r in zip(axes, (8, 32, 128), strict=True):
    kept = rng.choice(256, r, replace=False)
    some = np.sqrt(256 / r) * columns[:, kept]
    estimated = np.linalg.norm(some[pairs[0]] - some[pairs[1]], axis=1)
    axis.plot(true, estimated, ".", markersize=2, alpha=0.5)
    axis.axline((true.mean(), true.mean()), slope=1, color="black", linewidth=1)
    error = np.sqrt(np.mean((estimated / true - 1) ** 2))
    axis.set(title=f"r = {r}: {100 * error:.0f} % error", xlabel="true distance")
axes[0].set_ylabel("distance in r columns")
