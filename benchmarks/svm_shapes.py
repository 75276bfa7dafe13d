"""One linear SVM on data of many shapes: LinearSVM to its tolerance against LinearSVC at its own, as Markdown.

``python -m benchmarks.svm_shapes "sparse 20,000 x 1,000"`` takes shapes whose names begin so; without names all are
taken. Times are seconds of the processor, in one thread, the less of two; LinearSVC solves the dual or the primal,
whichever it takes for the shape by default. A ratio below 1 says that ours is the faster one. The last column says by
what part the objective of LinearSVC is above ours.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from isrht import LinearSVM

CS = (2.0**-10, 1.0, 2.0**10)
# What takes longer than so many seconds is not repeated.
LONG = 1.0


def sparse(n_samples, n_features, per_row, counts=False):
    """Return sparse rows of independent features, values around 1/2 or counts of which some are very large."""
    rng = np.random.default_rng(0)
    X = sp.random_array((n_samples, n_features), density=per_row / n_features, format="csr", rng=rng)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    X.data = np.ceil(rng.pareto(1.5, X.nnz)) if counts else 0.1 + rng.random(X.nnz)
    return X


def dense(n_samples, n_features):
    """Return dense rows whose features are correlated."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features))
    X += rng.standard_normal((n_samples, 5)) @ rng.standard_normal((5, n_features))
    return X / np.sqrt(n_features)


def labels(X, n_classes=2, noise=0.7):
    """Return noisy labels that depend on all features."""
    rng = np.random.default_rng(1)
    scores = X @ rng.standard_normal((X.shape[1], 1 if n_classes == 2 else n_classes))
    scores += noise * scores.std() * rng.standard_normal(scores.shape)
    return (scores[:, 0] > np.median(scores)).astype(int) if n_classes == 2 else scores.argmax(axis=1)


TALL = [(100, 2), (100, 10), (300, 1.5), (300, 6), (300, 30), (1000, 5), (1000, 20), (1000, 100), (5000, 25)]
SHAPES = {
    **{f"sparse 20,000 x {tall[0]:,}, {tall[1]:g} a row": lambda tall=tall: sparse(20_000, *tall) for tall in TALL},
    "counts 20,000 x 1,000, 20 a row": lambda: sparse(20_000, 1000, 20, counts=True),
    "sparse 8,000 x 8,000, 20 a row": lambda: sparse(8000, 8000, 20),
    "sparse 2,000 x 5,000, 100 a row": lambda: sparse(2000, 5000, 100),
    "sparse 5,000 x 50,000, 100 a row": lambda: sparse(5000, 50_000, 100),
    "counts 5,000 x 20,000, 100 a row": lambda: sparse(5000, 20_000, 100, counts=True),
    "dense 20,000 x 500": lambda: dense(20_000, 500),
    "dense 500 x 5,000": lambda: dense(500, 5000),
    "dense 6,000 x 5,000": lambda: dense(6000, 5000),
    "20 classes, sparse 20,000 x 1,000, 20 a row": lambda: sparse(20_000, 1000, 20),
    "20 classes, sparse 5,000 x 20,000, 100 a row": lambda: sparse(5000, 20_000, 100),
    "20 classes, dense 5,000 x 300": lambda: dense(5000, 300),
}


def objective(model, X, y, C):
    """Return what both minimise, summed over the classes."""
    scores = model.decision_function(X).reshape(len(y), -1)
    positive = model.classes_ if scores.shape[1] > 1 else model.classes_[1:]
    hinge = np.maximum(0, 1 - np.where(y[:, None] == positive, 1, -1) * scores)
    return 0.5 * ((model.coef_**2).sum() + (model.intercept_**2).sum()) + C * (hinge**2).sum()


def seconds(model, X, y):
    taken = []
    while not taken or (len(taken) < 2 and taken[0] < LONG):
        start = time.process_time()
        model.fit(X, y)
        taken.append(time.process_time() - start)
    return min(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shapes", nargs="*", default=[""])
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("| rows | C | LinearSVM, s | LinearSVC, s | ratio | LinearSVC's objective above |\n|---|---|---|---|---|---|")
    for name, make in SHAPES.items():
        if not name.startswith(tuple(args.shapes)):
            continue
        X = make()
        y = labels(X, 20 if name.startswith("20 classes") else 2)
        for C in CS:
            ours, theirs = LinearSVM(C), LinearSVC(C=C, random_state=0)
            times = [seconds(model, X, y) for model in (ours, theirs)]
            above = objective(theirs, X, y, C) / objective(ours, X, y, C) - 1
            cells = [f"2^{np.log2(C):.0f}", *(f"{taken:.3f}" for taken in times), f"{times[0] / times[1]:.2f}"]
            print(f"| {name} | {' | '.join(cells)} | {above:.0e} |", flush=True)


if __name__ == "__main__":
    main()
