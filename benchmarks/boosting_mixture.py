"""Does a mixture of boosted columns and an SVM on all features beat both? Accuracy on splits, as Markdown.

Both are one weight per feature, so a mixture of them is again one linear model. The scores of each are divided by their
standard deviation on the training rows; the share of the SVM is chosen by its accuracy on rows that are held out of the
training part, of which each fold trains both models anew. ``python -m benchmarks.boosting_mixture --data DIR --sets
rcv1sub`` reads sets of two classes as ``bench_boosting`` does.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.bench_boosting import WIDE_CS, load
from isrht import ISRHTClassifier, LinearSVM, LinearSVMCV

SHARES = np.linspace(0, 1, 11)


def unit_scores(model, X, X_train):
    """Return the scores of X in units of their standard deviation on the training rows."""
    return model.decision_function(X) / model.decision_function(X_train).std()


def boosted(X, y, seed):
    return ISRHTClassifier(16, selection="boosted", random_state=seed).fit(X, y)


def chosen_share(X, y, C, seed, n_folds):
    """Return the share whose accuracy, smoothed over its neighbours, is best on rows that are held out."""
    scores = np.zeros((2, len(y)))
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, y):
        for own, model in zip(
            scores, (boosted(X[train], y[train], seed), LinearSVM(C).fit(X[train], y[train])), strict=True
        ):
            own[test] = unit_scores(model, X[test], X[train])
    hits = [np.mean(mixed(*scores, share) == (y == y.max())) for share in SHARES]
    smooth = np.convolve(np.pad(hits, 1, mode="edge"), [0.25, 0.5, 0.25], "valid")
    best = SHARES[smooth >= smooth.max() - 1e-12].mean()
    return SHARES[np.abs(SHARES - best).argmin()]


def mixed(boosted_scores, svm_scores, share):
    """Say which rows a mixture takes for the second class."""
    return (1 - share) * boosted_scores + share * svm_scores > 0


def accuracies(X, y, seed, n_folds):
    """Return the accuracies of boosted columns, all features, half of each, and the chosen mixture; and its share."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    svm = LinearSVMCV(WIDE_CS, cv=5).fit(X, y)
    share = chosen_share(X, y, svm.C_, seed, n_folds)
    scores = [unit_scores(model, X_test, X) for model in (boosted(X, y, seed), svm)]
    positive = y_test == y.max()
    return [100 * np.mean(mixed(*scores, some) == positive) for some in (0, 1, 0.5, share)], share


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--sets", nargs="+", default=["digits"])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=9000)
    args = parser.parse_args()
    print("| data | boosted r=16 | all features | half of each | chosen mixture | less all features | shares |")
    print("|---|---|---|---|---|---|---|")
    for name in args.sets:
        X, y = load(name, args.data)
        found = [accuracies(X, y, seed, args.folds) for seed in range(args.seed, args.seed + args.splits)]
        values, shares = np.array([each for each, _ in found]), [share for _, share in found]
        gains = values[:, 3] - values[:, 1]
        gain = f"{gains.mean():+.2f} ± {gains.std(ddof=1) / np.sqrt(len(gains)):.2f}"
        means = " | ".join(f"{mean:.2f}" for mean in values.mean(axis=0))
        print(f"| {name} | {means} | {gain} | {', '.join(f'{share:.1f}' for share in shares)} |", flush=True)


if __name__ == "__main__":
    main()
