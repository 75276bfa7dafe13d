"""The core against the memory it moves, and against what else can be installed.

A transform that is limited by memory is best judged by the simplest thing that moves the same memory: an
in-place scale for a transform in place, a read pass for a projection. Each row of the table is one comparison,
timed in turns in one run (see :mod:`benchmarks.timing`).

The read pass that judges the projection is ``X.sum()``; ``X.max()`` and ``np.dot`` of X with itself are read
passes too and stand next to it, so that the table shows the slowest and the fastest.
"""

import argparse
import math
import platform
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import scipy
import scipy.fft
import scipy.sparse as sp
from sklearn.random_projection import GaussianRandomProjection

import isrht
from benchmarks.timing import best_of
from isrht import fwht, kernels
from isrht.kernels.records import CsrRows
from isrht.transform.lengths import next_power_of_two

REPEAT = 40
PATIENT = 4 * REPEAT  # where milliseconds are compared: noise of another tenant lasts for half a second and more
N_COMPONENTS = 256
RESULTS = Path(__file__).parent / "results" / "core.md"


@dataclass(frozen=True)
class Comparison:
    """One row: the time of the work, of what it is compared with, and the ratio it must reach, if any."""

    work: str
    seconds: float
    other: str
    other_seconds: float
    at_most: float | None = None  # times the other's time
    at_least: float | None = None  # times faster than the other

    def cells(self):
        times = [f"{1e3 * seconds:.2f} ms" for seconds in (self.seconds, self.other_seconds)]
        return [self.work, times[0], self.other, times[1], self.ratio(), self.goal()]

    def ratio(self):
        slower = self.seconds / self.other_seconds
        return f"{slower:.2f} x its time" if self.at_most else f"{1 / slower:.2f} x faster"

    def goal(self):
        slower = self.seconds / self.other_seconds
        if self.at_most:
            return f"<= {self.at_most}: {'yes' if slower <= self.at_most else 'NO'}"
        if self.at_least:
            return f">= {self.at_least}: {'yes' if 1 / slower >= self.at_least else 'NO'}"
        return ""


@dataclass(frozen=True)
class Missing:
    """A peer that is not there to be timed."""

    work: str
    peer: str

    def cells(self):
        return [self.work, "", self.peer, "not installed", "", ""]


def transforms_in_place():
    """fwht against an in-place scale of the same array, by the factor that undoes what the transform adds in size."""
    shapes = [((4096, 4096), 1.8), ((1024, 16384), 1.8), ((64, 2**20), 3)]
    for shape, at_most in shapes:
        for dtype in (np.float32, np.float64):
            x, factor = normal(shape, dtype), dtype(1 / math.sqrt(shape[1]))
            best = best_of(
                {
                    "fwht": lambda x=x: fwht(x, overwrite_x=True),
                    "scale": lambda x=x, factor=factor: np.multiply(x, factor, out=x),
                },
                PATIENT,
            )
            yield Comparison(
                f"fwht in place, {named(shape, dtype)}", best["fwht"], "in-place scale", best["scale"], at_most
            )


def dense_projection():
    """The fused projection against reading its input once, and against a Gaussian projection."""
    x = normal((6000, 5000), np.float32)
    flat, work = x.ravel(), f"project to {N_COMPONENTS}, {named(x.shape, x.dtype)}"
    length = next_power_of_two(x.shape[1])
    signs, columns, scales = rotation(x.shape[1], length, x.dtype)
    out = np.empty((len(x), N_COMPONENTS), x.dtype)
    gaussian = GaussianRandomProjection(N_COMPONENTS, random_state=0).fit(x)
    reads = {"X.sum()": x.sum, "X.max()": x.max, "np.dot(x, x)": lambda: np.dot(flat, flat)}
    project = {"ours": lambda: kernels.engine.project_rows(x, signs, length, columns, scales, out)}
    best = best_of(project | reads, PATIENT)
    for name in reads:
        kind = {min(reads, key=best.get): "fastest ", max(reads, key=best.get): "slowest "}.get(name, "")
        yield Comparison(work, best["ours"], f"{kind}read pass, {name}", best[name], at_most=2.5)
    best = best_of(project | {"gaussian": lambda: gaussian.transform(x)}, 3)
    yield Comparison(work, best["ours"], "GaussianRandomProjection.transform", best["gaussian"], at_least=5)


def sparse_projection():
    """The exact projection of CSR rows against SciPy's product with a count sketch."""
    n_samples, n_features, per_row, n_buckets = 20_000, 47_000, 75, 512
    rng = np.random.default_rng(0)
    length = next_power_of_two(n_features)
    indices = np.sort(rng.integers(0, n_features, (n_samples, per_row)), axis=1).ravel().astype(np.int32)
    indptr = np.arange(0, n_samples * per_row + 1, per_row, dtype=np.int32)
    for dtype in (np.float32, np.float64):
        data = rng.standard_normal(len(indices)).astype(dtype)
        X = sp.csr_array((data, indices, indptr), (n_samples, n_features))
        sketch = count_sketch(rng, n_features, n_buckets, dtype)
        signs, columns, scales = rotation(n_features, length, dtype)
        out = np.empty((n_samples, N_COMPONENTS), dtype)
        arguments = CsrRows(data, indices, indptr), signs, length, columns, scales, out
        best = best_of(
            {
                "ours": lambda arguments=arguments: kernels.engine.project_csr(*arguments),
                "sketch": lambda X=X, sketch=sketch: X @ sketch,
            },
            REPEAT,
        )
        work = f"project to {N_COMPONENTS}, CSR {named(X.shape, dtype)}, {per_row} entries a row"
        yield Comparison(work, best["ours"], f"X @ countsketch_csr, {n_buckets} columns", best["sketch"], at_most=1.5)


def other_axes():
    """Along the first axis, against the rows of a transposed copy."""
    for shape in ((4096, 4096), (1024, 16384)):
        x = normal(shape, np.float32)
        best = best_of(
            {
                "fwht": lambda x=x: fwht(x, axis=0, norm="ortho", overwrite_x=True),
                "transposed": lambda x=x: np.copyto(
                    x, fwht(np.array(x.T, order="C"), norm="ortho", overwrite_x=True).T
                ),
            },
            REPEAT // 4,
        )
        work = f"fwht in place along axis 0, {named(shape, x.dtype)}"
        yield Comparison(work, best["fwht"], "transpose, fwht of rows, transpose back", best["transposed"])


def two_workers():
    """Two threads against one, on arrays past the cache."""
    for shape in ((4096, 4096), (1024, 16384), (64, 2**20)):
        x = normal(shape, np.float32)
        best = best_of(
            {
                workers: lambda x=x, workers=workers: fwht(x, norm="ortho", overwrite_x=True, workers=workers)
                for workers in (1, 2)
            },
            PATIENT,
        )
        work = f"fwht in place, {named(shape, x.dtype)}, two workers"
        yield Comparison(work, best[2], "one worker", best[1], at_least=1.7)


def peers():
    """fwht against other transforms, each in the way it likes best; one that is missing is named."""
    for module, peer in PEERS.items():
        for dtype in peer.dtypes:
            x = normal((4096, 4096), dtype)
            work = f"fwht in place, {named(x.shape, dtype)}"
            try:
                theirs = peer.prepare(import_module(module), x.copy())
            except ImportError:
                yield Missing(work, peer.label)
                continue
            best = best_of({"ours": lambda x=x: fwht(x, norm="ortho", overwrite_x=True), "theirs": theirs}, 5)
            yield Comparison(work, best["ours"], peer.label, best["theirs"])


@dataclass(frozen=True)
class Peer:
    """``prepare(module, x)`` gives what is timed."""

    label: str
    prepare: object
    dtypes: tuple = (np.float32, np.float64)


def prepare_pyfwht(pyfwht, x):
    backend = pyfwht.Backend.CPU
    return lambda: [pyfwht.transform(row, backend) for row in x]


def prepare_faiss(faiss, x):
    faiss.omp_set_num_threads(1)
    rotation = faiss.HadamardRotation(x.shape[1])
    return lambda: rotation.apply(x)


def prepare_torch(hadamard_transform, x):
    import torch

    torch.set_num_threads(1)
    tensor = torch.from_numpy(x)
    return lambda: hadamard_transform.hadamard_transform(tensor)


def prepare_fht(fht, x):
    return lambda: [fht.fht(row) for row in x]


def prepare_dct(fft, x):
    return lambda: fft.dct(x, norm="ortho", overwrite_x=True)


PEERS = {
    "scipy.fft": Peer("scipy.fft.dct in place (another transform)", prepare_dct),
    "pyfwht": Peer("pyfwht.transform in place, row by row", prepare_pyfwht, (np.float64,)),  # no float32 on a CPU
    "faiss": Peer("faiss.HadamardRotation (three transforms with signs)", prepare_faiss, (np.float32,)),
    "hadamard_transform": Peer("hadamard-transform on torch", prepare_torch),
    "fht": Peer("fht.fht, row by row", prepare_fht),
}


def normal(shape, dtype):
    return np.random.default_rng(0).standard_normal(shape, dtype=dtype)


def rotation(n_features, length, dtype):
    """Random signs, columns and their scales."""
    rng = np.random.default_rng(1)
    columns = rng.choice(length, N_COMPONENTS, replace=False)
    return rng.choice([-1, 1], n_features).astype(dtype), columns, np.full(N_COMPONENTS, 1 / math.sqrt(length), dtype)


def count_sketch(rng, n_features, n_buckets, dtype):
    """The CSR matrix that throws each feature, with a random sign, into one bucket."""
    signs = rng.choice([-1, 1], n_features).astype(dtype)
    buckets = rng.integers(0, n_buckets, n_features, dtype=np.int32)
    return sp.csr_array((signs, buckets, np.arange(n_features + 1, dtype=np.int32)), (n_features, n_buckets))


def named(shape, dtype):
    rows, columns = (f"2^{math.log2(n):.0f}" if n >= 2**17 and n & (n - 1) == 0 else f"{n}" for n in shape)
    return f"{rows} x {columns} {np.dtype(dtype).name}"


def conditions():
    """What a reader must know to believe the numbers."""
    return (
        f"isrht {isrht.__version__}, kernel {kernels.active()}, {processor()}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}. "
        f"One thread unless a row says otherwise; least of several, taken in turns."
    )


def processor():
    """The model, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def table(rows):
    """Markdown."""
    header = ["work", "time", "compared with", "its time", "ratio", "must reach"]
    lines = [header, ["---"] * len(header), *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"also write results/{RESULTS.name}")
    write = parser.parse_args().write
    sections = (transforms_in_place, other_axes, dense_projection, sparse_projection, two_workers, peers)
    text = f"{table([row for section in sections for row in section()])}\n\n{conditions()}\n"
    print(text)
    if write:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()
