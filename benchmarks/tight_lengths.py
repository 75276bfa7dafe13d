"""Do columns of a tight length, m * 2^k, serve a linear SVM better than those of the next power of two? As Markdown.

:class:`~isrht.ISRHT` pads rows to a power of two. Here rows are rotated in full, padded to either length, with
everything else alike: signs, scores, selection, r, and the SVM with the C that five folds choose. The difference of
accuracies on the test rows is in points, tight length less power of two, with its standard error over seeds.

``python -m benchmarks.tight_lengths --data DIR`` wants the folder with the files of the sets.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from isrht import LinearSVMCV, fwht, next_fast_len
from isrht.datasets import load
from isrht.files import read_rows
from isrht.projections import scores, selection

SETS = ("mushrooms", "gisette-like", "mnist")
ROWS = 4000
RULES = {
    "uniform": lambda Z, codes, r, rng: selection.select_uniform(Z.shape[1], r, rng).columns,
    "importance": lambda Z, codes, r, rng: selection.select_by_importance((Z**2).sum(axis=0), r, rng).columns,
    "top": lambda Z, codes, r, rng: selection.select_top((Z**2).sum(axis=0), r).columns,
    "supervised": lambda Z, codes, r, rng: selection.select_top(separation(Z, codes), r).columns,
}


def separation(Z, codes):
    members = [Z[codes == code] for code in np.unique(codes)]
    counts = np.array([len(rows) for rows in members])
    sums, squares = (np.stack([(rows**power).sum(axis=0) for rows in members]) for power in (1, 2))
    return scores.separation(counts, sums, squares, 1.0)


def rotated(X, length, seed):
    """Return rows with random signs, padded to a length and transformed. Both lengths have the same signs."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], X.shape[1])
    padded = np.zeros((X.shape[0], length))
    padded[:, : X.shape[1]] = X * signs
    return fwht(padded, norm="ortho", overwrite_x=True)


def accuracies(sets, lengths, r, seed):
    """Return the accuracy of every rule for every length."""
    X_train, y_train, X_test, y_test = sets
    for length in lengths:
        Z, Z_test = rotated(X_train, length, seed), rotated(X_test, length, seed)
        for rule, select in RULES.items():
            columns = select(Z, y_train, r, np.random.default_rng(seed))
            svm = LinearSVMCV(random_state=seed).fit(Z[:, columns], y_train)
            yield rule, length, svm.score(Z_test[:, columns], y_test)


def rows_of(name, folder):
    """Return the scaled rows of a set, of which at most ROWS train."""
    if name == "mnist":
        halves = [read_rows(Path(folder, file), n_features=784) for file in ("mnist.bz2", "mnist.t.bz2")]
        X_train, y_train, X_test, y_test = (part for X, y, _ in halves for part in (X / 255, y))
    else:
        X_train, y_train, X_test, y_test = load(name, folder).scaled
    kept = np.random.default_rng(0).permutation(len(y_train))[:ROWS]
    dense = [X.toarray() if sp.issparse(X) else X for X in (X_train[kept], X_test)]
    return dense[0], y_train[kept], dense[1], y_test


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("ISRHT_DATA"), help="the folder with the files of the sets")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--r", type=int, nargs="+", default=[16, 64])
    options = parser.parse_args()
    print("| set | lengths | r | " + " | ".join(RULES) + " |\n|---|---|---|" + "---|" * len(RULES))
    for name in SETS:
        sets = rows_of(name, options.data)
        width = sets[0].shape[1]
        lengths = next_fast_len(width), 1 << (width - 1).bit_length()
        for r in options.r:
            found = {}
            for seed in range(options.seeds):
                for rule, length, accuracy in accuracies(sets, lengths, r, seed):
                    found.setdefault((rule, length), []).append(100 * accuracy)
            cells = []
            for rule in RULES:
                tight, power = (np.array(found[rule, length]) for length in lengths)
                error = (tight - power).std(ddof=1) / np.sqrt(len(tight))
                cells.append(f"{(tight - power).mean():+.2f} ± {error:.2f} ({power.mean():.1f})")
            print(f"| {name} | {lengths[0]} and {lengths[1]} | {r} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
