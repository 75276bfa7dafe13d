"""How time and memory of a fit grow with rows, features, components and workers, out of core.

Rows are generated block by block, so that no size needs the memory of its data. Every size runs in a process of its
own, whose largest memory beyond what it had before the fit is recorded, without pages of files that are mapped. Time is
that of one processor, which other work on the machine disturbs least; only where workers are compared it is that of the
clock. Exponents are fitted to the larger half of the sizes, where what does not grow no longer counts: time ~ n^a; for
dense rows of d features time / log2(d) ~ d^a.

``python -m benchmarks.scaling`` runs small sizes, ``--long`` up to 10^7 rows, 2^22 features and 2048 components;
``--write`` puts the tables into ``benchmarks/results/scaling.md`` and the figure into ``docs/scaling.svg``. The last
table is the plan of docs/scaling.md: 10^9 rows on a hundred workers, computed from constants that are measured here.
``--simulate`` checks it by a share of 10^8 generated rows (``benchmarks/results/simulation.md``).
"""

import argparse
import json
import math
import subprocess
import sys
import threading
import time
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.bench_core import conditions
from isrht import ISRHT, ISRHTClassifier, RowSource
from isrht.linear.path import fit_path, training_blocks
from isrht.report.chart import Axis, Chart
from isrht.report.styles import Style
from isrht.support.threads import one_blas_thread

RESULTS = Path(__file__).parent / "results" / "scaling.md"
SIMULATION = RESULTS.with_name("simulation.md")
FIGURE = Path(__file__).parent.parent / "docs" / "scaling.svg"
NONZEROS = 100  # of a sparse row
BLOCK_ROWS = 5000  # of sparse rows that come in blocks

# What grows, what is fitted, the sizes (the last ones only with --long) and the rest of the shape.
SWEEPS = {
    "rows n": ("classifier", "n", [10**4, 3 * 10**4, 10**5, 3 * 10**5, 10**6, 10**7], {"d": 256, "r": 32}),
    "features d, dense": ("projection", "d", [2**k for k in range(10, 23, 2)], {"n": 512, "r": 16}),
    "features d, sparse": ("sparse", "d", [2**k for k in range(10, 23, 2)], {"n": 20_000, "r": 16}),
    "components r": ("classifier", "r", [16, 32, 64, 128, 256, 512, 1024, 2048], {"n": 20_000, "d": 2048}),
    "threads": ("threads", "jobs", [1, 2], {"n": 100_000, "d": 4096, "r": 256}),
    "Dask workers": ("dask", "jobs", [1, 2], {"n": 100_000, "d": 4096, "r": 256}),
}
ONLY_LONG = {"rows n": 1, "features d, dense": 2, "features d, sparse": 1, "components r": 2}


class Dense:
    """Blocks of float32 rows, 16 MB each, from 64 MB that are repeated, and noisy labels that can be learned."""

    def __init__(self, n, d):
        self.n, self.size = n, max(2, 2**22 // d)
        rng = np.random.default_rng(0)
        self.rows = rng.standard_normal((max(2, min(n, 2**24 // d)), d), dtype=np.float32)
        self.labels = (self.rows[:, : d // 8].sum(axis=1) > 0) ^ (rng.random(len(self.rows)) < 0.1)
        self.labels[:2] = 0, 1

    def __iter__(self):
        left = self.n
        while left > 0:
            for start in range(0, min(left, len(self.rows)), self.size):
                rows = slice(start, min(start + self.size, left, len(self.rows)))
                yield self.rows[rows], self.labels[rows]
            left -= len(self.rows)


class Sparse:
    """Blocks of CSR rows with 100 nonzeros at random places."""

    def __init__(self, n, d):
        self.n, rng = n, np.random.default_rng(0)
        size = min(n, BLOCK_ROWS)
        self.rows = random_rows(rng, size, d)
        self.labels = rng.integers(0, 2, size)

    def __iter__(self):
        for start in range(0, self.n, self.rows.shape[0]):
            count = min(self.rows.shape[0], self.n - start)
            yield self.rows[:count], self.labels[:count]


def random_rows(rng, n, d):
    columns = np.sort((rng.random((n, NONZEROS)) * (d // NONZEROS)).astype(np.int32), axis=1)
    columns += np.arange(NONZEROS, dtype=np.int32) * (d // NONZEROS)
    values = rng.standard_normal(n * NONZEROS)
    return sp.csr_array((values, columns.ravel(), np.arange(0, n * NONZEROS + 1, NONZEROS, dtype=np.int32)), (n, d))


def run_one(kind, n, d, r, jobs):
    """Seconds and largest memory in MB of one fit, in this process."""
    if kind == "dask":
        return run_dask(n, d, r, jobs)
    blocks = Sparse(n, d) if kind == "sparse" else Dense(n, d)
    model = {
        "classifier": ISRHTClassifier(r, selection="supervised", C=1.0, random_state=0),
        "threads": ISRHTClassifier(r, selection="supervised", C=1.0, random_state=0, n_jobs=jobs),
        "projection": ISRHT(r, random_state=0),
        "sparse": ISRHT(r, random_state=0),
    }[kind]
    warm = np.random.default_rng(0).standard_normal((64, max(32, r)))
    model.fit(warm, np.arange(64) % 2)
    clock = time.perf_counter if kind == "threads" else time.process_time
    with LargestMemory() as memory:
        start = clock()
        model.fit(RowSource(blocks))
        seconds = clock() - start
    return {"seconds": seconds, "MB": memory.beyond_start}


def run_dask(n, d, r, jobs):
    import dask
    from distributed import Client, LocalCluster

    size = 2**25 // d  # 128 MB: what docs/scaling.md asks for
    options = {"n_workers": jobs, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster):
        blocks = [dask.delayed(dense_block)(min(size, n - start), d) for start in range(0, n, size)]
        labels = np.concatenate([dense_labels(min(size, n - start), d) for start in range(0, n, size)])
        model = ISRHTClassifier(r, selection="supervised", C=1.0, random_state=0)
        model.fit(blocks[:2], labels[: 2 * size])
        start = time.perf_counter()
        model.fit(blocks, labels)
        return {"seconds": time.perf_counter() - start, "MB": math.nan}


@lru_cache(2)
def one_block(count, d):
    """Made once per worker, so that passes are timed and not the generator; the last block may be shorter."""
    rows, labels = zip(*Dense(count, d), strict=True)
    return np.concatenate(rows), np.concatenate(labels)


def dense_block(count, d):
    return one_block(count, d)[0]


def dense_labels(count, d):
    return one_block(count, d)[1]


class LargestMemory:
    """The most memory of its own that this process has within the context, in MB, by looking a hundred times a second.

    Pages of temporary files that are mapped do not count: the system takes them back when it needs them.
    """

    def __enter__(self):
        self.start = self.largest = self._now()
        self._ended = threading.Event()
        self._watching = threading.Thread(target=self._watch)
        self._watching.start()
        return self

    def __exit__(self, *error):
        self._ended.set()
        self._watching.join()

    @property
    def beyond_start(self):
        return self.largest - self.start

    def _watch(self):
        while not self._ended.wait(0.01):
            self.largest = max(self.largest, self._now())

    def _now(self):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1024


def measure(kind, **shape):
    shape = {"jobs": 1, **shape}
    one = json.dumps({"kind": kind, **shape})
    run = [sys.executable, "-m", "benchmarks.scaling", "--one", one]
    result = subprocess.run(run, capture_output=True, text=True, check=True)
    return json.loads(result.stdout.splitlines()[-1])


def sweep(name, long):
    kind, what, sizes, rest = SWEEPS[name]
    sizes = sizes if long else sizes[: len(sizes) - ONLY_LONG.get(name, 0)]
    found = []
    for size in sizes:
        found.append((size, measure(kind, **{**rest, what: size})))
        print(name, size, found[-1][1], file=sys.stderr, flush=True)
    return found


def exponent(points):
    """The slope of log(value) over log(size), in the larger half of the sizes."""
    upper = points[len(points) // 2 - (len(points) % 2 == 0) :] if len(points) > 2 else points
    sizes, values = np.log([size for size, _ in upper]), np.log([value for _, value in upper])
    return float(np.polyfit(sizes, values, 1)[0])


def row(name, found):
    kind, what, _, rest = SWEEPS[name]
    divide = math.log2 if name == "features d, dense" else (lambda size: 1)
    slope = exponent([(size, run["seconds"] / divide(size)) for size, run in found])
    law = "" if what == "jobs" else f"{what}^{slope:.2f}" + (" log d" if divide is math.log2 else "")
    times = ", ".join(f"{size:,}: {run['seconds']:.2f} s" for size, run in found)
    peaks = "-" if math.isnan(found[0][1]["MB"]) else f"{found[0][1]['MB']:.0f} to {found[-1][1]['MB']:.0f}"
    fixed = ", ".join(f"{key}={value:,}" for key, value in rest.items())
    return f"| {name} | {kind}, {fixed} | {times} | {law} | {peaks} |"


def constants():
    """Seconds of one core for sparse rows, by nonzero and by row: what more rows cost, beyond what any number costs."""
    d, r, few, many = 1_000_000, 256, 10_000, 160_000
    X = random_rows(np.random.default_rng(0), many, d)
    some, y = X[:few], np.arange(many) % 2
    projection = ISRHT(r, random_state=0).fit(some, y[:few])

    def per_nonzero(work):
        more = seconds(lambda: work(unread(X), y)) - seconds(lambda: work(unread(some), y[:few]))
        return more / ((many - few) * NONZEROS)

    steps, path = newton_path(20_000, r)
    cut = {n: in_blocks(X[:n], y[:n]) for n in (few, many)}
    surveyed = per_nonzero(lambda X, y: source(cut[len(y)]).shape)
    return {
        "survey, per nonzero": surveyed,
        "measure with squares, per nonzero": per_nonzero(lambda X, y: ISRHT(r, random_state=0).fit(source(cut[len(y)])))
        - surveyed,
        "measure class sums alone, per nonzero": per_nonzero(
            lambda X, y: ISRHT(r, class_weight="balanced", random_state=0).fit(X, y)
        ),
        "project to 256 columns, per nonzero": per_nonzero(lambda X, y: projection.transform(X)),
        "Newton step at r=256, per row": path / steps / 20_000,
        "Newton steps for 11 Cs": steps,
    }


class Generated:
    """Some of the blocks of many CSR rows, drawn at random; each block is made anew in every pass, from its number.

    ``seconds`` is the processor's time that making them took so far, which is not the time of those who read them.
    """

    def __init__(self, n, d, share, size=BLOCK_ROWS):
        self.d, self.size, self.seconds = d, size, 0.0
        count = n // size
        self.numbers = np.sort(np.random.default_rng(0).choice(count, int(share * count), replace=False))

    def __iter__(self):
        for number in self.numbers:
            start = time.process_time()
            rng = np.random.default_rng(int(number))
            block = random_rows(rng, self.size, self.d), rng.integers(0, 2, self.size)
            self.seconds += time.process_time() - start
            yield block


def simulate(found, share, goal=10**8, d=10**6, r=256, batches=10):
    """Seconds of one core to survey and measure ``goal`` generated rows, from a share of them.

    The share is timed in batches, of which each pass has ten. Their mean, times their number among all rows, is what
    all rows take, and its error is twice the standard error of the mean. It is compared with what the constants of
    :func:`constants` say.
    """
    blocks = Generated(goal, d, share)
    n = blocks.size * len(blocks.numbers)
    marks = {}

    def mark(pass_number, rows_read, n_samples):
        done = rows_read * batches / n
        if round(done, 6) == int(round(done, 6)):
            marks.setdefault(pass_number, []).append(time.process_time() - blocks.seconds)
            print(
                f"pass {pass_number}, {rows_read:,} rows: {marks[pass_number][-1]:.1f} s", file=sys.stderr, flush=True
            )

    start = time.process_time()
    ISRHT(r, random_state=0).fit(RowSource(blocks, progress=mark))
    end = time.process_time() - blocks.seconds
    starts = {1: start, 2: marks[1][-1]}
    said = {1: found["survey, per nonzero"], 2: found["measure with squares, per nonzero"]}
    lines = [
        f"| {n:,} of {goal:,} rows, {d:,} features | s of one core | all rows, s | from the constants, s |",
        "|---|---|---|---|",
    ]
    for number, name in ((1, "survey"), (2, "measure")):
        times = np.diff([starts[number], *marks[number]])
        scale = goal / n * len(times)
        error = 2 * scale * times.std(ddof=1) / math.sqrt(len(times))
        whole = f"{scale * times.mean():.0f} ± {error:.0f}"
        lines.append(f"| {name} | {times.sum():.1f} | {whole} | {goal * NONZEROS * said[number]:.0f} |")
    lines.append(f"| after the last row | {end - marks[2][-1]:.1f} | the same | |")
    return "\n".join(lines)


def in_blocks(X, y, size=BLOCK_ROWS):
    """Rows and labels, cut into blocks."""
    starts = range(0, X.shape[0], size)
    return [(X[start : start + size], y[start : start + size]) for start in starts]


def source(blocks):
    """Blocks of rows as they come from a generator, of which SciPy knows nothing in any pass."""
    return RowSource(lambda: ((unread(X), y) for X, y in blocks))


def unread(X):
    """The same rows, of which SciPy has not found out anything yet."""
    return sp.csr_array((X.data, X.indices, X.indptr), X.shape)


def newton_path(n, r):
    """Steps and seconds of the path over 11 Cs, on noisy rows."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, r))
    labels = (Z @ rng.standard_normal(r) + 10 * rng.standard_normal(n) > 0).astype(int)
    steps = []

    def train():
        with one_blas_thread():
            steps[:] = [s.n_iter.max() for s in fit_path(training_blocks(Z, labels), 2.0 ** np.arange(-5, 6))]

    needed = seconds(train)
    return float(sum(steps)), needed


def seconds(function):
    """The least of several, on the processor: other work on the machine does not count."""
    times = []
    for _ in range(4):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def plan(found, n=10**9, d=10**6, r=256, classes=2, folds=5, workers=100, cores=8):
    """Passes and seconds of each stage, for sparse rows of which every worker reads 2 GB and sends 1.25 GB a second."""
    mine, padded, pieces = n / workers, 2 ** math.ceil(math.log2(d)), cores  # one piece, and one sum, for each thread
    totals, steps = 8 * classes * (d + padded), (folds + 1) * found["Newton steps for 11 Cs"]
    measuring = found["measure with squares, per nonzero"]
    stages = {  # passes, seconds per nonzero, and bytes over the wire of one worker
        "survey": (1, found["survey, per nonzero"], 9 * mine),
        "measure": (1, measuring, totals * pieces),
        "measure the folds": (1, measuring, folds * totals * pieces),
        "project, 1 + folds": (
            1 + folds,
            (1 + folds) * found["project to 256 columns, per nonzero"],
            8 * d * (1 + folds),
        ),
        "train, 5 folds x 11 Cs, and once": (
            0,
            steps * found["Newton step at r=256, per row"] / NONZEROS,
            steps * 8 * r * r * pieces,
        ),
    }
    rows = [
        (name, passes, passes * mine * NONZEROS * 12 / 2e9, mine / cores * NONZEROS * work, wire / 1e9, wire / 1.25e9)
        for name, (passes, work, wire) in stages.items()
    ]
    rows.append(("all", *map(sum, zip(*(row[1:] for row in rows), strict=True))))
    lines = [
        "| stage | passes over the rows | reading, s | computing, s | over the wire per worker, GB | that takes, s |",
        "|---|---|---|---|---|---|",
        *(f"| {row[0]} | {row[1]} | {row[2]:.0f} | {row[3]:.0f} | {row[4]:.1f} | {row[5]:.1f} |" for row in rows),
    ]
    return "\n".join(lines)


def figure(results):
    """Time above, memory below, against n, d (dense and sparse) and r."""
    panels = []
    names = [name for name in results if SWEEPS[name][1] != "jobs"]
    for line, unit in enumerate(("seconds", "MB")):
        for column, name in enumerate(names):
            points = [(size, max(run[unit], 0.01)) for size, run in results[name]]
            xs, ys = [x for x, _ in points], [y for _, y in points]
            chart = Chart(Axis.around(name, xs, log=True), Axis.around(unit, ys, log=True), f"{unit} by {name}")
            style = Style("#0b6e4f" if unit == "seconds" else "#c1521f", "circle")
            chart.line(points, style, name)
            for x, y in points:
                chart.point(x, y, style, f"{x:,}: {y:.2f} {unit}", name)
            place = f'<svg x="{460 * column}" y="{300 * line}" width="460" height="300" '
            panels.append(chart.svg().replace("<svg ", place, 1))
    css = (
        ".line{fill:none;stroke:var(--c);stroke-width:2}.pt{fill:var(--c)}.grid{stroke:#ddd;fill:none}"
        ".tick,.axis{font:12px sans-serif;fill:#333}"
    )
    size = f'viewBox="0 0 {460 * len(names)} 600"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{css}</style>'
    return f'{head}<rect width="100%" height="100%" fill="#fff"/>{"".join(panels)}</svg>\n'


def report(results, found):
    head = "| grows | fitted, and the rest | time | law | memory beyond the start, MB |\n|---|---|---|---|---|"
    table = "\n".join([head, *(row(name, runs) for name, runs in results.items())])
    how = "They are of the clock where workers are compared, on a machine that did other work too."
    return f"{table}\n\n{table_of(found)}\n\n{plan(found)}\n\n{of_processor()} {how}\n"


def table_of(found):
    units = "\n".join(
        f"| {name} | {value:.0f} |" if name.endswith("Cs") else f"| {name} | {1e9 * value:.1f} ns |"
        for name, value in found.items()
    )
    return f"| constant, one core, CSR of {NONZEROS} nonzeros a row, d = 10^6 | measured |\n|---|---|\n{units}"


def of_processor():
    return f"{conditions().partition(' One thread')[0]} Seconds are those of one processor."


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--long", action="store_true", help="up to 10^7 rows, 2^22 features, 2048 components")
    parser.add_argument("--write", action="store_true", help=f"write results/{RESULTS.name} and docs/{FIGURE.name}")
    parser.add_argument("--simulate", action="store_true", help="only measure generated rows, for the plan of 10^9")
    parser.add_argument("--share", type=float, default=0.1, help="which share of 10^8 generated rows --simulate takes")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.simulate:
        found = constants()
        text = f"{table_of(found)}\n\n{plan(found)}\n\n{simulate(found, args.share)}\n\n{of_processor()}\n"
        print(text)
        if args.write:
            SIMULATION.write_text(text)
        return
    if args.one:
        print(json.dumps(run_one(**json.loads(args.one))))
        return
    results = {name: sweep(name, args.long) for name in SWEEPS}
    text = report(results, constants())
    print(text)
    if args.write:
        RESULTS.write_text(text)
        FIGURE.write_text(figure(results))


if __name__ == "__main__":
    main()
