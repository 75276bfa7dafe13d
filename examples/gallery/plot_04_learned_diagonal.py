"""
What the learned diagonal sees
==============================

A boosted column has one factor per feature. Where features are pixels, the factors are a picture: here of what tells
odd digits from even ones, and of what each further round adds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from isrht import BoostedISRHT, ISRHTClassifier

X, y = load_digits(return_X_y=True)
odd = y % 2

# %%
# With as many components as rounds there is one column per round: its weights of the pixels are the learned diagonal,
# up to a factor. Rows of the unit matrix show them.
boosted = BoostedISRHT(6, rounds=6, random_state=0).fit(X, odd)
pixels = boosted.transform(np.eye(64)) - boosted.transform(np.zeros((1, 64)))

figure, axes = plt.subplots(1, 6, figsize=(10, 2.3))
for number, axis in enumerate(axes):
    weights = pixels[:, number].reshape(8, 8)
    limit = np.abs(weights).max()
    axis.imshow(weights, vmin=-limit, vmax=limit)
    axis.set(title=f"column {number + 1}", xticks=[], yticks=[])
    axis.grid(False)

# %%
# The first column is broad: pixels that are darker in odd digits are red, and in even ones blue. Later columns are
# about those digits that are still on the wrong side.
#
# Folded together, scaling, columns and SVM are one weight per pixel and class. Ten classes make ten pictures.
model = ISRHTClassifier(32, selection="boosted", random_state=0).fit(X[:1200], y[:1200])
print(f"{100 * model.score(X[1200:], y[1200:]):.1f} % of the other digits are right")

figure, axes = plt.subplots(2, 5, figsize=(9, 4))
for digit, axis in enumerate(axes.flat):
    weights = model.coef_[digit].reshape(8, 8)
    limit = np.abs(weights).max()
    axis.imshow(weights, vmin=-limit, vmax=limit)
    axis.set(title=f"speaks for {digit}", xticks=[], yticks=[])
    axis.grid(False)

# sphinx_gallery_thumbnail_number = 2
