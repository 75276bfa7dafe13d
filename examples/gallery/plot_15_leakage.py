"""
Leakage: how to fool oneself with columns that know the labels
==============================================================

Labels that are pure chance: no model can be right more often than every other time. Choose columns with the labels,
then cross-validate on these columns, and it seems to be. The more columns are looked at, the better it seems.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from isrht import ISRHT, LinearSVM

# %%
# For each width, 150 rows of noise. Wrong: choose, then cross-validate. Right: cross-validate the choice, too, by a
# pipeline.
rng = np.random.default_rng(0)
WIDTHS = (64, 256, 1024, 4096)
wrong, right = [], []
for width in WIDTHS:
    for _repetition in range(4):
        X, y = rng.normal(size=(150, width)), rng.integers(0, 2, size=150)
        projection = ISRHT(40, selection="supervised", random_state=0)
        wrong.append(cross_val_score(LinearSVM(), projection.fit_transform(X, y), y).mean())
        right.append(cross_val_score(make_pipeline(projection, LinearSVM()), X, y).mean())

# %%
figure, axis = plt.subplots()
for scores, name in ((wrong, "columns chosen before cross-validation"), (right, "chosen anew in each fold")):
    by_width = 100 * np.reshape(scores, (len(WIDTHS), -1))
    axis.errorbar(WIDTHS, by_width.mean(axis=1), by_width.std(axis=1), fmt="o-", capsize=3, label=name)
axis.axhline(50, color="black", linestyle="--", linewidth=1, label="the truth")
axis.set_xscale("log", base=2)
axis.set(xlabel="number of features, all of them noise", ylabel="cross-validated accuracy, %")
axis.legend(loc="upper left")
axis.set_ylim(35, 105)

# %%
# ``ISRHTClassifier`` chooses columns anew in each fold by itself; ``project_once=True`` is the wrong way, for
# reproducing the paper's protocol.
