"""
Probabilities that mean what they say
=====================================

The score of an SVM is a distance, not a probability. Calibration turns it into one: of rows to which the model gives
0.8, about 80 in 100 should belong to the class. The rows that were held out while the model was chosen tell how.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split

from isrht import ISRHTClassifier

# %%
# A tenth of the labels are wrong on purpose, so nothing is certain.
X, y = make_classification(12_000, 300, n_informative=25, flip_y=0.2, class_sep=0.7, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# Whoever squeezes scores between 0 and 1 by a curve at hand gets numbers, not probabilities. ``predict_proba`` has
# learned its curve from scores of rows that were held out while C was chosen, so it costs nothing more.
model = ISRHTClassifier(random_state=0).fit(X_train, y_train)
squeezed = 1 / (1 + np.exp(-model.decision_function(X_test)))
probabilities = model.predict_proba(X_test)[:, 1]

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 4))
for name, p in (("scores, squeezed", squeezed), ("calibrated", probabilities)):
    true, predicted = calibration_curve(y_test, p, n_bins=12)
    axes[0].plot(predicted, true, "o-", label=f"{name}: Brier score {brier_score_loss(y_test, p):.3f}")
    axes[1].hist(p, bins=30, range=(0, 1), histtype="step", linewidth=2, label=name)
axes[0].plot([0, 1], [0, 1], color="black", linestyle="--", linewidth=1)
axes[0].set(xlabel="predicted probability", ylabel="share that belongs to the class", title="on the line is right")
axes[0].legend(loc="upper left", fontsize=8)
axes[1].set(xlabel="predicted probability", ylabel="test rows", title="how often each is said")
