"""CPU seconds to boosted columns with everything chosen, against one ``LinearSVC`` and a grid of them, as Markdown.

``python -m benchmarks.boosting_speed "narrow sparse" tiny`` takes shapes of ``boosting_shapes``, or, with ``--data
DIR``, sets as ``bench_boosting`` reads them. The grid has 11 Cs, from 2**-5 to 2**5, and 5 folds, and stops at
``--patience`` seconds, after which its cell says how many of its fits there were time for. All rows are fitted, in one
thread, and the least of ``--repeat`` turns counts. Other work on the machine does not.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
import warnings

import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from benchmarks.bench_boosting import load
from benchmarks.boosting_shapes import SHAPES
from isrht import ISRHTClassifier
from isrht.linear.costs import DEFAULT_CS


def seconds(work, repeat):
    """Return the least seconds of several turns of some work."""
    taken = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def one_fit(X, y, C=1.0):
    """Fit LIBLINEAR with the formulation that suits the shape, as scikit-learn advises."""
    return LinearSVC(C=C, dual="auto").fit(X, y)


def grid(X, y, patience):
    """Return the seconds of the grid, and of how many fits they are."""
    start, done = time.process_time(), 0
    for C in DEFAULT_CS:
        for train, test in StratifiedKFold(5).split(y, y):
            one_fit(X[train], y[train], C).score(X[test], y[test])
            done += 1
            if time.process_time() - start > patience:
                return time.process_time() - start, done
    one_fit(X, y)
    return time.process_time() - start, done


def row(name, X, y, args):
    """Return one row of the table."""
    cells = [f"{X.shape[0]:,} x {X.shape[1]:,}"]
    for r in args.components:
        model = ISRHTClassifier(r, selection="boosted", random_state=0)
        cells.append(f"{seconds(lambda model=model: model.fit(X, y), args.repeat):.3f}")
    if not args.alone:
        cells.append(f"{seconds(lambda: one_fit(X, y), 1):.2f}")
        taken, done = grid(X, y, args.patience)
        cells.append(f"{taken:.1f}" if done == 5 * len(DEFAULT_CS) else f"{taken:.0f} for {done} of its 55 fits")
    return f"| {name} | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=[name for name in SHAPES if name != "tall dense"])
    parser.add_argument("--data", help="where bench_boosting's sets are")
    parser.add_argument("--components", type=int, nargs="+", default=[16])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--patience", type=float, default=60, help="seconds for the grid")
    parser.add_argument("--alone", action="store_true", help="leave out LIBLINEAR")
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    boosted = [f"boosted r={r}, s" for r in args.components]
    heads = ["set", "rows x features", *boosted, *([] if args.alone else ["one LinearSVC, s", "its grid, s"])]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name in args.sets:
        X, y = SHAPES[name]() if name in SHAPES else load(name, args.data)
        if sp.issparse(X):
            X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
        print(row(name, X, y, args), flush=True)


if __name__ == "__main__":
    main()
