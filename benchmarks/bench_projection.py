"""ISRHT against scikit-learn's projections, on dense and on sparse data, and the memory it takes beyond them.

Times are the least of several turns in one run. Memory is the peak of the process beyond what the data, and the output
where there is one, take: each figure comes from a process of its own, because a peak never falls.
"""

import gc
import multiprocessing
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.random_projection import GaussianRandomProjection

from benchmarks.timing import best_of
from isrht import ISRHT

MEGABYTE = 1e6


def main():
    print("| work | seconds | against | ratio | must reach |\n|---|---|---|---|---|")
    for row in (*dense_rows(), *sparse_rows()):
        print("| " + " | ".join(row) + " |", flush=True)
    print("\n| memory beyond data and output | MB | must reach |\n|---|---|---|")
    for name, (function, arguments, limit) in MEMORY.items():
        print(f"| {name} | {in_fresh_process(function, *arguments):.0f} | {limit} |", flush=True)


def dense_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((6000, 5000), dtype=np.float32), rng.integers(0, 2, 6000)
    best = best_of(
        {
            "ours": lambda: ISRHT(256, random_state=0).fit(X, y).transform(X),
            "Gaussian": lambda: GaussianRandomProjection(256, random_state=0).fit(X).transform(X),
        },
        5,
    )
    best |= best_of({"PCA": lambda: PCA(256, svd_solver="randomized", random_state=0).fit(X).transform(X)}, 1)
    work = "fit + transform of ISRHT(256), dense 6000 x 5000 float32"
    for other, limit in (("Gaussian", "> 1"), ("PCA", ">= 10")):
        ratio = best[other] / best["ours"]
        yield work, f"{best['ours']:.3f}", f"{other} {best[other]:.3f} s", f"{ratio:.1f} x faster", limit


def sparse_rows():
    X, y = text_like()
    for weight, limit in (("balanced", 2), (None, 15)):
        model = ISRHT(256, class_weight=weight, random_state=0, n_jobs=2)
        seconds = best_of({"ours": lambda model=model: model.fit(X, y).transform(X)}, 2)["ours"]
        shape = "CSR 20,000 x 1,350,000, 455 nonzeros a row"
        work = f"fit + transform of ISRHT(256, class_weight={weight!r}), {shape}, 2 jobs"
        yield work, f"{seconds:.2f}", "-", "-", f"< {limit} s"


def text_like(n_samples=20_000, n_features=1_350_000, per_row=455):
    rng = np.random.default_rng(0)
    indices = rng.integers(0, n_features, n_samples * per_row).astype(np.int32)
    indptr = np.arange(0, n_samples * per_row + 1, per_row, dtype=np.int32)
    data = rng.standard_normal(n_samples * per_row, dtype=np.float32)
    return sp.csr_array((data, indices, indptr), (n_samples, n_features)), rng.integers(0, 2, n_samples)


def beyond(function):
    """Bytes by which the peak of this process, while ``function`` runs, passes what it holds before (Linux)."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    before = status("VmRSS")
    output = function()
    return status("VmHWM") - before - getattr(output, "nbytes", 0)


def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


def dense_fit(n_samples):
    X = np.random.default_rng(0).random((n_samples, 1000), dtype=np.float32)
    y = np.arange(n_samples) % 2
    return beyond(lambda: ISRHT(64, random_state=0).fit(X, y) and None)


def dense_transform(n_samples):
    X = np.random.default_rng(0).random((n_samples, 1000), dtype=np.float32)
    model = ISRHT(64, selection="uniform", random_state=0).fit(X[:100])
    return beyond(lambda: model.transform(X))


def sparse_both():
    X, y = text_like()
    return beyond(lambda: ISRHT(256, random_state=0, n_jobs=2).fit(X, y).transform(X))


def in_fresh_process(function, *arguments):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments) / MEGABYTE


MEMORY = {
    "dense fit, 10,000 x 1,000 float32 (40 MB)": (dense_fit, (10_000,), "O(block)"),
    "dense fit, 100,000 x 1,000 float32 (400 MB)": (dense_fit, (100_000,), "O(block)"),
    "dense transform, 100,000 x 1,000 float32 (400 MB)": (dense_transform, (100_000,), "O(block)"),
    "sparse fit + transform, 20,000 x 1,350,000, 2 jobs": (sparse_both, (), "< 300"),
}


if __name__ == "__main__":
    main()
