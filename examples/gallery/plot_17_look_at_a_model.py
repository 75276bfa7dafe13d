"""
Look at a fitted model
======================

Four drawings that every fitted model can make of itself: by which scores it was chosen, whether its probabilities are
right, which features tell most, and how the columns of a rotation scored.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from isrht import ISRHTClassifier
from isrht.plot import ColumnScoresDisplay, HeldOutScoresDisplay, ReliabilityDisplay, TellingFeaturesDisplay

data = load_breast_cancer(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, test_size=0.5, random_state=0)
model = ISRHTClassifier(scale="maxabs", random_state=0).fit(X_train, y_train)
print(f"{100 * model.score(X_test, y_test):.1f} % of {len(y_test)} test rows are right")

# %%
# How many rounds of learning? Each curve is one kind of diagonal, judged by rows that it has not seen.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2))
HeldOutScoresDisplay.from_estimator(model, ax=axes[0])
ReliabilityDisplay.from_estimator(model, X_test, y_test, ax=axes[1])

# %%
# Which features tell most? Weights are per unit of a feature, so features of different units should be scaled before
# they are compared: here the model is fitted again, to features that are all between -1 and 1.
scaled = X_train / X_train.abs().max()
TellingFeaturesDisplay.from_estimator(ISRHTClassifier(random_state=0).fit(scaled, y_train), n_features=12)

# %%
# The paper's way chooses among columns that are there: few of them score well, and those are kept.
selected = ISRHTClassifier(8, selection="supervised", scale="maxabs", random_state=0).fit(X_train, y_train)
ColumnScoresDisplay.from_estimator(selected)
