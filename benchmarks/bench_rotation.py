"""HadamardRotation against a dense random orthogonal matrix, the best there is, and against faiss's rotation.

Three questions: how near to normal coordinates become, how many true neighbours are found when rotated vectors are kept
in four bits per coordinate, and how long a rotation takes. Vectors are synthetic embeddings (clusters, a few heavy
directions), and mnist and news20 (the columns that boosting makes of it) where ``ISRHT_DATA`` names a folder that has
them.

The quantiser is one for all coordinates: 16 even steps, the best for a normal distribution, of the length of the vector
over sqrt(d). "Own ranges" gives every coordinate its own range instead, which is what is done without a rotation.
"""

import argparse
import math
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.bench_core import conditions
from benchmarks.timing import best_of
from isrht import BoostedISRHT, HadamardRotation
from isrht.transform.orthogonal import OrthogonalRotation

RESULTS = Path(__file__).parent / "results" / "rotation.md"
SIZES = (384, 768, 1000, 1536)
N_BASE, N_QUERIES, NEIGHBOURS = 10_000, 300, 10
STEP = 0.3352  # of 16 even steps for a normal distribution (Max 1960)
SEEDS = range(3)


@dataclass(frozen=True)
class Method:
    """A rotation by name: ``make(d, seed)`` gives a function of rows."""

    name: str
    make: object


def hadamard(n_rounds, length=None):
    def make(d, seed):
        if length is None:
            return HadamardRotation(n_rounds, random_state=seed).fit(np.zeros((1, d), np.float32)).transform
        rotation = OrthogonalRotation.drawn(d, n_rounds, seed, length(d))

        def rotate(X):
            out = np.empty_like(X)
            rotation.apply(X, out)
            return out

        return rotate

    return make


def power_within(d):
    return 1 << (d.bit_length() - 1)


def dense(d, seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0].astype(np.float32)
    return lambda X: X @ Q


def faiss_rotation(d, seed):
    import faiss

    faiss.omp_set_num_threads(1)
    rotation = faiss.HadamardRotation(d, seed + 1)
    return rotation.apply


METHODS = [
    Method("none", lambda d, seed: lambda X: X),
    Method("HadamardRotation(1)", hadamard(1)),
    Method("HadamardRotation(2)", hadamard(2)),
    Method("HadamardRotation(3)", hadamard(3)),
    Method("2 rounds, two powers of two that overlap", hadamard(2, power_within)),
    Method("3 rounds, two powers of two that overlap", hadamard(3, power_within)),
    Method("dense orthogonal", dense),
    Method("faiss.HadamardRotation (pads)", faiss_rotation),
]


def one_hot(d, rng):
    return np.eye(d, dtype=np.float32)[rng.choice(d, min(d, 300), replace=False)]


def clustered(d, rng):
    """Vectors about a few sparse centres, of which few coordinates carry nearly all."""
    centres = rng.standard_normal((10, d)) * (rng.random((10, d)) < 0.01) * 10
    return (centres[rng.integers(0, 10, 300)] + 0.1 * rng.standard_normal((300, d))).astype(np.float32)


def normality(method, d, vectors):
    """How far coordinates are from a normal distribution: the largest gap to it, and the kurtosis, on average."""
    gaps, kurtoses, largest = [], [], 0.0
    for seed in SEEDS:
        X = vectors(d, np.random.default_rng(seed))
        Z = np.asarray(method.make(d, seed)(np.ascontiguousarray(X)))
        Z = Z * (math.sqrt(Z.shape[1]) / np.linalg.norm(Z, axis=1, keepdims=True))
        gaps += [stats.kstest(row, "norm").statistic for row in Z[:100]]
        kurtoses.append(float((Z**4).mean()))
        largest = max(largest, float(np.abs(Z).max()))
    return float(np.mean(gaps)), float(np.mean(kurtoses)), largest


def embeddings(d, seed=0, n=N_BASE + N_QUERIES):
    """Synthetic embeddings: clusters in a space whose directions weigh less and less, and a few heavy coordinates."""
    rng = np.random.default_rng(seed)
    spectrum = np.arange(1, d + 1) ** -0.5
    centres = rng.standard_normal((100, d)) * spectrum
    X = centres[rng.integers(0, 100, n)] + 0.7 * rng.standard_normal((n, d)) * spectrum
    X[:, rng.choice(d, 4, replace=False)] *= 8
    return X.astype(np.float32)


def sets():
    for d in SIZES:
        yield f"synthetic, d={d}", embeddings(d)
    folder = Path(os.environ.get("ISRHT_DATA", ""))
    if (folder / "mnist.t.bz2").is_file():
        from isrht.files import read_rows

        X, _, _ = read_rows(folder / "mnist.bz2", n_features=784)
        rows = np.random.default_rng(0).permutation(X.shape[0])[: N_BASE + N_QUERIES]
        X = X.toarray() if hasattr(X, "toarray") else X
        yield "mnist, d=784", X[rows].astype(np.float32)
    if (folder / "news20.binary.rebuilt.xz").is_file():
        from isrht.files import read_rows

        X, y, _ = read_rows(folder / "news20.binary.rebuilt.xz")
        rows = np.random.default_rng(0).permutation(X.shape[0])[: N_BASE + N_QUERIES]
        X, y = X[rows], np.asarray(y)[rows]
        Z = BoostedISRHT(200, rounds=8, threshold=0.0, diagonal="z", random_state=0).fit(X, y).transform(X)
        yield f"news20, {Z.shape[1]} boosted columns", np.asarray(Z, dtype=np.float32)


def one_range(Z):
    """Quantise to 16 even steps of each vector's length."""
    unit = np.linalg.norm(Z, axis=1, keepdims=True) / math.sqrt(Z.shape[1]) * STEP
    unit[unit == 0] = 1
    return (np.clip(np.floor(Z / unit), -8, 7) + 0.5) * unit


def own_ranges(Z):
    """Quantise every coordinate to 16 even steps from its least value to its largest."""
    low, high = Z.min(axis=0), Z.max(axis=0)
    unit = np.where(high > low, (high - low) / 16, 1)
    return (np.clip(np.floor((Z - low) / unit), 0, 15) + 0.5) * unit + low


def nearest(base, queries):
    """The numbers of the nearest of base to each query."""
    distances = (base**2).sum(axis=1) - 2 * queries @ base.T
    return np.argsort(distances, axis=1, kind="stable")[:, :NEIGHBOURS]


def recall(Z, true, quantise):
    found = nearest(quantise(Z[N_QUERIES:]), Z[:N_QUERIES])
    return float(np.mean([len(set(a) & set(b)) / NEIGHBOURS for a, b in zip(found, true, strict=True)]))


def applies(method, d):
    """Whether a method is another one for this size: two powers of two are one where d is a power of two."""
    return not ("overlap" in method.name and d == power_within(d))


def normality_table():
    yield "| vectors | d | rotation | gap to normal | kurtosis (normal: 3) | largest (in deviations) |"
    yield "|---|---|---|---|---|---|"
    for label, vectors in {"one-hot": one_hot, "clustered": clustered}.items():
        for d in SIZES:
            for method in METHODS[1:]:
                if applies(method, d):
                    gap, kurtosis, largest = measured(lambda m=method, d=d, v=vectors: normality(m, d, v))
                    yield f"| {label} | {d} | {method.name} | {gap:.3f} | {kurtosis:.2f} | {largest:.1f} |"


def recall_table():
    yield "| vectors | rotation | recall of 10 in four bits |\n|---|---|---|"
    for name, X in sets():
        X = X - X[N_QUERIES:].mean(axis=0)
        true = nearest(X[N_QUERIES:].astype(np.float64), X[:N_QUERIES].astype(np.float64))
        yield f"| {name} | none, own ranges | {recall(X, true, own_ranges):.3f} |"
        for method in METHODS:
            if applies(method, X.shape[1]):
                found = [
                    recall(np.asarray(method.make(X.shape[1], s)(np.ascontiguousarray(X))), true, one_range)
                    for s in SEEDS
                ]
                yield f"| {name} | {method.name} | {np.mean(found):.3f} ± {np.std(found):.3f} |"


def measured(compute):
    try:
        return compute()
    except ImportError:
        return math.nan, math.nan, math.nan


def speed_table(n=4096):
    yield "| d | rotation | ms for 4096 vectors | times as fast as the dense product |\n|---|---|---|---|"
    for d in SIZES:
        X = embeddings(d, n=n)
        work = {method.name: partial(method.make(d, 0), X) for method in METHODS[1:4] + METHODS[6:]}
        best = best_of(work, 7)
        for name, seconds in best.items():
            yield f"| {d} | {name} | {1e3 * seconds:.1f} | {best['dense orthogonal'] / seconds:.1f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"also write results/{RESULTS.name}")
    parser.add_argument("--only", choices=["normality", "recall", "speed"], help="one of the three tables")
    arguments = parser.parse_args()
    tables = {"normality": normality_table, "recall": recall_table, "speed": speed_table}
    chosen = {arguments.only: tables[arguments.only]} if arguments.only else tables
    lines = []
    for table in chosen.values():
        for line in table():
            print(line, flush=True)
            lines.append(line)
        lines.append("")
    print(conditions())
    if arguments.write:
        RESULTS.write_text("\n".join([*lines, conditions(), ""]))


if __name__ == "__main__":
    main()
