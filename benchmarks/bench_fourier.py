"""Nonlinear features at equal size: HadamardFourierFeatures against scikit-learn's RBFSampler and Nystroem.

Accuracy of the same linear SVM on the features, and seconds to make the features of all rows, mean over seeds. Needs
usps and mnist in the folder that ``ISRHT_DATA`` names; without it, scikit-learn's digits serve.
"""

import os
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_svmlight_file
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import train_test_split

from isrht import HadamardFourierFeatures, LinearSVM

SIZES = (256, 1024)
SEEDS = range(3)
C = 10.0
MNIST_ROWS = 10_000


def main():
    print("| data | size | features | accuracy in % | seconds for the features |\n|---|---|---|---|---|")
    for name, split in sets():
        gamma = 1 / (split[0].shape[1] * split[0].var())
        for size in SIZES:
            for label, make in methods(size, gamma).items():
                runs = np.array([measure(make(seed), *split) for seed in SEEDS])
                (accuracy, seconds), spread = runs.mean(axis=0), runs[:, 0].std()
                print(
                    f"| {name} | {size} | {label} | {100 * accuracy:.2f} ± {100 * spread:.2f} | {seconds:.2f} |",
                    flush=True,
                )


def methods(size, gamma):
    return {
        "HadamardFourierFeatures": lambda seed: HadamardFourierFeatures(size, gamma=gamma, random_state=seed),
        "the same, best of 4 times as many": lambda seed: HadamardFourierFeatures(
            size, gamma=gamma, candidates=4, random_state=seed
        ),
        "RBFSampler": lambda seed: RBFSampler(n_components=size, gamma=gamma, random_state=seed),
        "Nystroem": lambda seed: Nystroem(n_components=size, gamma=gamma, random_state=seed),
    }


def measure(features, X, X_test, y, y_test):
    start = time.perf_counter()
    Z = features.fit(X, y).transform(X)
    Z_test = features.transform(X_test)
    seconds = time.perf_counter() - start
    return LinearSVM(C, tol=1e-3).fit(Z, y).score(Z_test, y_test), seconds


def sets():
    folder = Path(os.environ.get("ISRHT_DATA", ""))
    if not (folder / "usps.xz").is_file():
        X, y = load_digits(return_X_y=True)
        yield "digits", train_test_split((X / 16).astype(np.float32), y, random_state=0)
        return
    X, y = read(folder / "usps.xz", 256)
    X_test, y_test = read(folder / "usps.t.xz", 256)
    yield "usps, 10 classes", (X, X_test, y, y_test)
    X, y = read(folder / "mnist.bz2", 784)
    X_test, y_test = read(folder / "mnist.t.bz2", 784)
    chosen = np.random.default_rng(0).permutation(len(X))[:MNIST_ROWS]
    yield f"mnist, 10 classes, {MNIST_ROWS:,} rows", (X[chosen] / 255, X_test / 255, y[chosen], y_test)


def read(path, n_features):
    import bz2
    import lzma

    with (lzma if path.suffix == ".xz" else bz2).open(path) as file:
        X, y = load_svmlight_file(file, n_features=n_features, dtype=np.float32)
    return X.toarray(), y


if __name__ == "__main__":
    main()
