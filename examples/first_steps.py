"""First steps: choose columns, keep a few, classify; on scikit-learn's bundled digits, odd against even.

Prints the accuracy of a linear SVM on r columns for several ways to choose them, and what each costs.
"""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from isrht import ISRHTClassifier, LinearSVMCV, kernels, make_projection

REPETITIONS = 15


def main():
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y % 2, test_size=0.3, random_state=0)
    everything = LinearSVMCV().fit(X_train, y_train).score(X_test, y_test)
    print(
        f"isrht, kernels: {kernels.active()}. Digits, odd against even: {X_train.shape[0]} training rows, 64 features."
    )
    print(f"A linear SVM on all 64 features: {100 * everything:.1f} % of {len(X_test)} test rows right.\n")
    print(f"{'columns kept':<28}" + "".join(f"{f'r = {r}':>16}" for r in (4, 8, 16)))
    for name in ("Gaussian", "SRHT", "ISRHT-nps", "ISRHT-top-r", "ISRHT-supervised"):
        cells = [accuracy(name, r, X_train, X_test, y_train, y_test) for r in (4, 8, 16)]
        print(f"{name:<28}" + "".join(f"{100 * np.mean(c):>9.1f} ± {100 * np.std(c):<4.1f}" for c in cells))
    print(f"\nMean and standard deviation over {REPETITIONS} seeds. C by 5-fold cross-validation on the training rows.")


def accuracy(name, r, X_train, X_test, y_train, y_test):
    """Test accuracies over the seeds, C chosen without looking at the rows held out."""
    scores = []
    for seed in range(REPETITIONS):
        if name == "ISRHT-supervised":
            model = ISRHTClassifier(r, selection="supervised", random_state=seed).fit(X_train, y_train)
            scores.append(model.score(X_test, y_test))
        else:
            projection = make_projection(name, r, random_state=seed).fit(X_train, y_train)
            svm = LinearSVMCV().fit(projection.transform(X_train), y_train)
            scores.append(svm.score(projection.transform(X_test), y_test))
    return scores


if __name__ == "__main__":
    started = time.perf_counter()
    main()
    print(f"Took {time.perf_counter() - started:.0f} s.")
