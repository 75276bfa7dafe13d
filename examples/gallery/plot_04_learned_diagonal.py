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
# The diagonal of a round has, for every feature, how surely it tells the classes apart, as far as the rounds before
# have not told them apart already. Beside it what one might have looked at: the difference of the mean pictures.
boosted = BoostedISRHT(5, rounds=5, random_state=0).fit(X, odd)
difference = X[odd == 1].mean(axis=0) - X[odd == 0].mean(axis=0)
pictures = {"odd minus even": difference} | {f"round {k + 1}": d for k, d in enumerate(boosted.diagonals_)}

figure, axes = plt.subplots(1, 6, figsize=(10, 2.3))
for axis, (name, picture) in zip(axes, pictures.items(), strict=True):
    limit = np.abs(picture).max()
    axis.imshow(picture.reshape(8, 8), vmin=-limit, vmax=limit, interpolation="bicubic")
    axis.set(title=name, xticks=[], yticks=[])
    axis.grid(False)

# %%
# The first round is broad: pixels that are darker in odd digits are red, and in even ones blue. Later columns are
# about those digits that are still on the wrong side.
#
# Folded together, scaling, columns and SVM are one weight per pixel and class. Ten classes make ten pictures.
model = ISRHTClassifier(32, random_state=0).fit(X[:1200], y[:1200])
print(f"{100 * model.score(X[1200:], y[1200:]):.1f} % of the other digits are right")

figure, axes = plt.subplots(2, 5, figsize=(9, 4))
for digit, axis in enumerate(axes.flat):
    weights = model.coef_[digit].reshape(8, 8)
    limit = np.abs(weights).max()
    axis.imshow(weights, vmin=-limit, vmax=limit, interpolation="bicubic")
    axis.set(title=f"speaks for {digit}", xticks=[], yticks=[])
    axis.grid(False)
