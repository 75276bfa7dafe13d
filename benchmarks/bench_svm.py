"""Choosing C for 48,000 rows of 256 features: LinearSVMCV against scikit-learn and against LIBLINEAR.

All in one run on one thread, 11 Cs x 5 folds, with noisy classes. What is too slow to run whole is scaled up
from the part that was timed, and the output says so. Run with ``OPENBLAS_NUM_THREADS=1``.

The peers solve by conjugate gradients, so how much slower they are depends on how correlated the features
are; ours hardly does. There are two sets: correlated features, as data and their projections have, and
independent ones of equal variance, the best case for the peers.
"""

import argparse
import os
import tempfile
import time
from contextlib import contextmanager

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import LinearSVC

from isrht.linear.costs import DEFAULT_CS
from isrht.linear.search import LinearSVMCV
from isrht.linear.svm import LinearSVM

FOLDS = 5


def correlated(n_samples, n_features):
    return make_classification(
        n_samples,
        n_features,
        n_informative=n_features // 8,
        n_redundant=3 * n_features // 8,
        flip_y=0.1,
        random_state=0,
    )


def independent(n_samples, n_features):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features)) / np.sqrt(n_features)
    score = X @ rng.standard_normal(n_features)
    return X, (score + 0.5 * rng.standard_normal(n_samples) > 0).astype(int)


def seconds(function, repeats=1):
    """The least time of several calls, on the processor: other work on the machine does not count."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


@contextmanager
def captured_output():
    """What compiled code writes to standard output, as the lines of a list that fills at the end."""
    lines, saved = [], os.dup(1)
    with tempfile.TemporaryFile("w+") as file:
        os.dup2(file.fileno(), 1)
        try:
            yield lines
        finally:
            os.dup2(saved, 1)
            os.close(saved)
            file.seek(0)
            lines += file.read().splitlines()


def grid_search(X, y):
    """GridSearchCV(LinearSVC(dual=False, tol=1e-2)), from the fits of one fold for three Cs."""
    train = np.arange(len(y)) % FOLDS != 0
    times = [
        seconds(lambda C=C: LinearSVC(C=C, dual=False, tol=1e-2).fit(X[train], y[train]))
        for C in (DEFAULT_CS[0], DEFAULT_CS[len(DEFAULT_CS) // 2], DEFAULT_CS[-1])
    ]
    whole = np.mean(times) * len(DEFAULT_CS) * FOLDS
    return whole, f"3 fits of {', '.join(f'{t:.2f}' for t in times)} s, scaled to {len(DEFAULT_CS) * FOLDS}"


def liblinear_path(X, y):
    """``train -C -s 2 -v 5 -B 1`` from the smallest C. It stops by itself, so its time is taken per C."""
    try:
        from liblinear.liblinearutil import problem, train
    except ImportError:
        return None, "liblinear-official is not installed"
    prob = problem(y, X, 1)
    with captured_output() as lines:
        whole = seconds(lambda: train(prob, f"-C -s 2 -v {FOLDS} -B 1 -c {DEFAULT_CS[0]}"))
    tried = sum(line.startswith("log2c") for line in lines)
    n_Cs = len(DEFAULT_CS)
    return whole / tried * n_Cs, f"{whole:.1f} s for {tried} Cs, scaled to {n_Cs}; default tolerance"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=48_000)
    parser.add_argument("--features", type=int, default=256)
    args = parser.parse_args()
    for make in (correlated, independent):
        X, y = make(args.samples, args.features)
        shape = f"{X.shape[0]} x {X.shape[1]}, {len(DEFAULT_CS)} Cs x {FOLDS} folds"
        print(f"{make.__name__} features, {shape}, CPU seconds")
        compare(X, y)


def compare(X, y):
    model = LinearSVMCV(DEFAULT_CS, cv=FOLDS)
    ours = seconds(lambda: model.fit(X, y), repeats=3)
    best = model.mean_scores_.max()
    print(f"{'LinearSVMCV':26} {ours:9.2f} s   (with refit; best mean accuracy {best:.4f})", flush=True)
    X_single = X.astype(np.float32)
    print(f"{'LinearSVMCV, float32':26} {seconds(lambda: model.fit(X_single, y)):9.2f} s")
    print(f"{'LinearSVM, C=1':26} {seconds(lambda: LinearSVM().fit(X, y), repeats=3):9.2f} s", flush=True)
    for name, peer in {"GridSearchCV(LinearSVC)": grid_search, "LIBLINEAR train -C": liblinear_path}.items():
        theirs, how = peer(X, y)
        if theirs is None:
            print(f"{name:26} {how}")
        else:
            print(f"{name:26} {theirs:9.2f} s   {theirs / ours:7.1f} x ours   ({how})", flush=True)


if __name__ == "__main__":
    main()
