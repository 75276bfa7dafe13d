"""Boosted columns against all features, ISRHT and other small models: held-out accuracy, seconds, bytes, as Markdown.

Every method sees only the training part (70 %, stratified) of each split and chooses everything on it: all features
choose C from 2**-10 ... 2**5 by 5-fold cross-validation, ISRHT("supervised") and count sketches from 2**-5 ... 2**5 on
their columns, boosted columns as they do by default, its peers as ``boosting_peers`` says. Seconds are of one processor
(CPU time, one thread), so other work on the machine does not count.

``python -m benchmarks.bench_boosting --data DIR --sets usps rcv1`` reads ``DIR/usps.npz`` (a SciPy sparse matrix) and
``DIR/usps_y.npy``; without ``--data`` there are the digits (odd or even) and two sets of noise.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks import boosting_peers as peers
from isrht import ISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV, SparseEmbedding
from isrht.experiments.solvers import cross_validated, trained
from isrht.linear.costs import DEFAULT_CS

# Gisette wants less than the least C of the paper.
WIDE_CS = (*(2.0**exponent for exponent in range(-10, -5)), *DEFAULT_CS)


def all_features(X, y, seed):
    """Train on all features, by the solver that ``isrht reproduce`` uses."""
    C = WIDE_CS[np.argmax(cross_validated(X, y, Cs=WIDE_CS))]
    model = trained(X, y, C)
    return model.predict, model.coef_.nbytes, f"C={C:g}"


def boosted(r, **options):
    def fit(X, y, seed):
        model = ISRHTClassifier(r, selection="boosted", random_state=seed, **options).fit(X, y)
        projection = model.projection_
        chosen = f"{projection.diagonal_} {projection.threshold_:g} T={projection.rounds_} C={projection.C_:g}"
        chosen += f" share={model.blend_share_:g}" if model.blend else ""
        return model.predict, projection.nbytes, f"{chosen} held out {100 * projection.held_out_score_:.2f}"

    return fit


def supervised(r):
    """On at most 2000 rows, and with C cross-validated on columns that have seen all labels, as in the paper."""

    def fit(X, y, seed):
        width = 1 << (X.shape[1] - 1).bit_length()
        projection = ISRHT(min(r, width), n_score_samples=2000, random_state=seed).fit(X, y)
        Z = projection.transform(X)
        C = LinearSVMCV(DEFAULT_CS, cv=5, refit=False, tol=1e-3).fit(Z, y).C_
        svm = LinearSVM(C).fit(Z, y)
        return (lambda X: svm.predict(projection.transform(X))), projection.nbytes, f"C={C:g}"

    return fit


def sketched(size, diagonal):
    """An SVM on a count sketch. A learned one is refitted within each fold that chooses C."""

    def fit(X, y, seed):
        def sketch_of(rows):
            return SparseEmbedding(size, diagonal=diagonal, dense_output=True, random_state=seed).fit(X[rows], y[rows])

        scores = []
        for train, test in StratifiedKFold(5).split(y, y):
            sketch = sketch_of(train)
            search = LinearSVMCV(DEFAULT_CS, cv=[(train, test)], refit=False, tol=1e-3)
            scores.append(search.fit(sketch.transform(X), y).mean_scores_)
        C, sketch = DEFAULT_CS[np.argmax(np.mean(scores, axis=0))], sketch_of(slice(None))
        svm = LinearSVM(C).fit(sketch.transform(X), y)
        arrays = [sketch.components_, sketch.signs_, sketch.magnitudes_]
        size_in_bytes = sum(array.nbytes for array in arrays if array is not None)
        return (lambda X: svm.predict(sketch.transform(X))), size_in_bytes, f"C={C:g}"

    return fit


METHODS = {
    "all features": all_features,
    "boosted r=16": boosted(16),
    "boosted r=256": boosted(256),
    "boosted r=16, blended": boosted(16, blend=True),
    "ISRHT r=16": supervised(16),
    "ISRHT r=256": supervised(256),
    "SGD, one epoch": peers.averaged_sgd,
    "PLS r=16": peers.pls(16, tuned=False),
    "PLS r<=16": peers.pls(16, tuned=True),
    "PLS r<=256": peers.pls(256, tuned=True),
    "greedy raw r=16": peers.greedy(16),
    "greedy raw r=256": peers.greedy(256),
    "random-sign rounds r=16": peers.random_sign_rounds(16),
    "random-sign rounds r=256": peers.random_sign_rounds(256),
    "sketch of 512, random": sketched(512, "random"),
    "sketch of 512, signs": sketched(512, "signs"),
    "sketch of 512, z": sketched(512, "z"),
}


def noise(n_samples=300, n_features=5000):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n_samples, n_features)), rng.choice([-1, 1], n_samples)


def sparse_noise(n_samples=1000, n_features=18_000):
    X = sp.random_array((n_samples, n_features), density=0.003, format="csr", random_state=1)
    return X, np.random.default_rng(2).choice([-1, 1], n_samples)


def load(name, data):
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16, 2 * (y % 2) - 1
    if name in ("noise", "sparse_noise"):
        return {"noise": noise, "sparse_noise": sparse_noise}[name]()
    X = sp.csr_array(sp.load_npz(Path(data) / f"{name}.npz"))
    return (X.toarray() if X.nnz > X.shape[0] * X.shape[1] / 5 else X), np.load(Path(data) / f"{name}_y.npy")


def measure(name, X, y, methods, seeds):
    """Print one row per method: accuracy over the splits, CPU seconds and bytes."""
    for method in methods:
        accuracy, seconds, size, said = [], [], 0, []
        for seed in seeds:
            X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
            start = time.process_time()
            predict, size, chosen = METHODS[method](X_train, y_train, seed)
            seconds.append(time.process_time() - start)
            accuracy.append(100 * np.mean(predict(X_test) == y_test))
            said.append(chosen)
        measured = f"{np.mean(accuracy):.2f} ± {np.std(accuracy):.2f} | {np.mean(seconds):.2f} | {size:,}"
        print(f"| {name} | {method} | {measured} | {'; '.join(said)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--sets", nargs="+", default=["digits", "noise", "sparse_noise"])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1000)
    args = parser.parse_args()
    print("| data | method | accuracy, % | CPU s | bytes of the projection | chosen in each split |")
    print("|---|---|---|---|---|---|")
    for name in args.sets:
        X, y = load(name, args.data)
        measure(name, X, y, args.methods, range(args.seed, args.seed + args.splits))


if __name__ == "__main__":
    main()
