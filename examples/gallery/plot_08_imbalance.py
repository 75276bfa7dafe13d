"""
A rare class
============

One row in twenty belongs to the class that matters. Three ways to treat it: not at all, with balanced class weights,
and with another threshold for the same scores.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, precision_recall_curve, precision_score, recall_score
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split

from isrht import ISRHTClassifier

X, y = make_classification(8000, 200, n_informative=15, weights=[0.95], class_sep=0.9, random_state=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
print(f"{y_train.sum()} of {len(y_train)} training rows are of the rare class")

plain = ISRHTClassifier(random_state=0)
models = {
    "no weights": plain,
    "balanced classes": ISRHTClassifier(class_weight="balanced", random_state=0),
    "another threshold": TunedThresholdClassifierCV(plain, scoring="balanced_accuracy", cv=3),
}

# %%
# The curve shows all thresholds of one model; the point is where the model cuts by itself.
figure, axis = plt.subplots()
for name, model in models.items():
    model.fit(X_train, y_train)
    predicted = model.predict(X_test)
    point = recall_score(y_test, predicted), precision_score(y_test, predicted)
    print(f"{name:>18}: finds {100 * point[0]:.0f} % of the rare class, {100 * point[1]:.0f} % of its alarms are right")
    if name == "another threshold":
        axis.plot(*point, "C0s", markersize=10, label=name, fillstyle="none", markeredgewidth=2)
        continue
    scores = model.decision_function(X_test)
    precision, recall, _ = precision_recall_curve(y_test, scores)
    (line,) = axis.plot(
        recall, precision, label=f"{name}: average precision {average_precision_score(y_test, scores):.2f}"
    )
    axis.plot(*point, "o", color=line.get_color(), markersize=10)
axis.axhline(np.mean(y_test), color="black", linestyle="--", linewidth=1, label="guessing")
axis.set(xlabel="share of the rare class that is found", ylabel="share of alarms that are right", ylim=(0, 1.05))
axis.legend(loc="upper right", fontsize=8)

# %%
# Both ways find more of the rare class, at the price of false alarms. A threshold keeps the model and its order of the
# rows; weights change what is learned, here for the worse: the few rows of the rare class speak louder, and so does
# their noise. Which point of the curve is right depends on what the two mistakes cost.
