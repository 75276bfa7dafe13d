"""
Accuracy against r, for all methods
===================================

How many columns does a linear SVM need? The paper's methods, boosted columns and all features on handwritten digits,
odd against even: 64 pixels, C by cross-validation, means over three seeds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from isrht import ISRHTClassifier, LinearSVMCV, make_projection

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y % 2, test_size=0.4, random_state=0)
RS = (2, 4, 8, 16, 32)
SEEDS = range(3)


# %%
# Projections that do not look at labels can be made once, and C chosen on their columns. Where labels choose the
# columns, each fold must choose its own: that is what ``ISRHTClassifier`` does.
def unsupervised(name):
    def accuracy(r, seed):
        projection = make_projection(name, r, random_state=seed).fit(X_train)
        svm = LinearSVMCV().fit(projection.transform(X_train), y_train)
        return svm.score(projection.transform(X_test), y_test)

    return accuracy


def supervised(selection):
    def accuracy(r, seed):
        return ISRHTClassifier(r, selection=selection, random_state=seed).fit(X_train, y_train).score(X_test, y_test)

    return accuracy


methods = {
    "Gaussian": unsupervised("Gaussian"),
    "SRHT: blind draw": unsupervised("SRHT"),
    "ISRHT-top-r": unsupervised("ISRHT-top-r"),
    "PCA": unsupervised("PCA"),
    "ISRHT-supervised": supervised("supervised"),
    "boosted columns": supervised("boosted"),
}
everything = LinearSVMCV().fit(X_train, y_train).score(X_test, y_test)

# %%
figure, axis = plt.subplots()
for name, accuracy in methods.items():
    means = [100 * np.mean([accuracy(r, seed) for seed in SEEDS]) for r in RS]
    axis.plot(RS, means, "o-", label=name, linewidth=3 if name == "boosted columns" else 1.3)
axis.axhline(100 * everything, color="black", linestyle="--", label="all 64 features")
axis.set_xscale("log", base=2)
axis.set(xlabel="number of columns r", ylabel="test accuracy, %", xticks=RS, xticklabels=RS)
axis.set_title("Columns that learn need fewer")
axis.legend(loc="lower right")

# %%
# Boosted columns are learned from the labels, and reach all features with a few of them. Choosing among random columns
# by their labels helps, too; it cannot make a column that is not there.
