"""What an answer costs: one row, many rows, several threads; against ``LinearSVC.predict`` with the same weights.

Latency is measured call by call and given as median and 99th percentile; throughput as the best of several turns. All
weights are random, as the time does not depend on them. A CSR row has 100 nonzeros. Run it on a machine that does
nothing else: the 99th percentile is the first to show other work.
"""

import argparse
import hashlib
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

import isrht
from benchmarks.timing import best_of
from isrht import ISRHTClassifier, Predictor

PER_ROW = 100
BATCH = {10**4: 2_000, 10**6: 40}
CSR_BATCH = 20_000
RESULTS = Path(__file__).parent / "results" / "serving.md"


def models(n_features, n_classes, rng):
    """A classifier of ours, folded, and scikit-learn's, with the same weights."""
    n_problems = 1 if n_classes == 2 else n_classes
    coef, intercept = rng.standard_normal((n_problems, n_features)), rng.standard_normal(n_problems)
    for model in (ISRHTClassifier(), LinearSVC()):
        model.coef_, model.intercept_, model.classes_ = coef, intercept, np.arange(n_classes)
        model.n_features_in_ = n_features
        yield model


def sparse_rows(count, n_features, rng):
    indices = np.sort(rng.integers(0, n_features, (count, PER_ROW)), axis=1)
    indptr = np.arange(count + 1) * PER_ROW
    return sp.csr_matrix((rng.standard_normal(count * PER_ROW), indices.ravel(), indptr), (count, n_features))


def latency(functions, calls):
    """Microseconds of single calls, (median, 99th percentile) by name; functions take turns."""
    times = {name: np.empty(calls) for name in functions}
    for call in range(-calls // 10, calls):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            if call >= 0:
                times[name][call] = time.perf_counter() - start
    return {name: 1e6 * np.percentile(taken, [50, 99]) for name, taken in times.items()}


def single_rows(n_features, n_classes, calls, rng):
    ours, theirs = models(n_features, n_classes, rng)
    predictor = Predictor(ours)
    for kind in ("CSR", "dense"):
        X = sparse_rows(1, n_features, rng) if kind == "CSR" else rng.standard_normal((1, n_features))
        row = (X.indices, X.data) if kind == "CSR" else X[0]
        times = latency(
            {
                "Predictor.predict_one": lambda row=row: predictor.predict_one(row),
                "Predictor.predict": lambda X=X: predictor.predict(X),
                "ISRHTClassifier.predict": lambda X=X: ours.predict(X),
                "LinearSVC.predict": lambda X=X: theirs.predict(X),
            },
            calls,
        )
        for name, (median, worst) in times.items():
            ratio = times["LinearSVC.predict"][0] / median
            yield f"| {n_features:,} | {n_classes} | {kind} | {name} | {median:.1f} | {worst:.1f} | {ratio:.1f} |"


def batches(n_features, n_classes, turns, rng):
    ours, theirs = models(n_features, n_classes, rng)
    dense = rng.standard_normal((BATCH[n_features], n_features))
    csr = sparse_rows(CSR_BATCH, n_features, rng)
    forms = {"CSR": csr, "dense": dense}
    forms |= {f"{kind} float32": X.astype(np.float32) for kind, X in forms.items()}
    for kind, X in forms.items():
        seconds = best_of({"ours": lambda X=X: ours.predict(X), "theirs": lambda X=X: theirs.predict(X)}, turns)
        rate = {name: X.shape[0] / taken for name, taken in seconds.items()}
        ratio = rate["ours"] / rate["theirs"]
        yield (
            f"| {n_features:,} | {n_classes} | {kind} | {X.shape[0]:,} | {rate['ours']:,.0f} | {rate['theirs']:,.0f} "
            f"| {ratio:.2f} |"
        )


def threads(turns, rng):
    """The same work twice, one after another and from two threads at once; and how many cores two threads kept at work.

    The controls are work that needs neither the GIL nor memory, which is what the machine could give to a second thread
    at that time, and work that holds the GIL and so never has more than one core.
    """
    yield one_and_two("control: SHA-256, no GIL", hashlib.sha256, bytes(10**7), turns)
    yield one_and_two("control: sum of a list, GIL", sum, list(range(10**6)), turns)
    for n_features in BATCH:
        (ours, _) = models(n_features, 2, rng)
        yield one_and_two(f"CSR, {n_features:,}", ours.predict, sparse_rows(4 * CSR_BATCH, n_features, rng), turns)
        dense = rng.standard_normal((4 * BATCH[n_features], n_features))
        yield one_and_two(f"dense, {n_features:,}", ours.predict, dense, turns)


def one_and_two(name, function, argument, turns):
    with ThreadPoolExecutor(2) as pool:
        seconds = best_of(
            {
                "one": lambda: [function(argument), function(argument)],
                "two": lambda: list(pool.map(function, [argument, argument])),
            },
            turns,
        )
        cores = max(cores_at_work(lambda: list(pool.map(function, [argument, argument]))) for _ in range(turns))
    ratio = seconds["one"] / seconds["two"]
    return f"| {name} | {1e3 * seconds['one']:.1f} | {1e3 * seconds['two']:.1f} | {ratio:.2f} | {cores:.2f} |"


def cores_at_work(function):
    """Processor seconds of this process per second, which other work on the machine can lower but not raise."""
    start, worked = time.perf_counter(), time.process_time()
    function()
    return (time.process_time() - worked) / (time.perf_counter() - start)


def table(calls, turns):
    rng = np.random.default_rng(0)
    yield "One row, microseconds:"
    yield ""
    yield "| features | classes | row | call | median | 99% | times faster than LinearSVC |"
    yield "|---|---|---|---|---|---|---|"
    for n_features, n_classes in ((10**4, 2), (10**6, 2), (10**4, 10)):
        yield from single_rows(n_features, n_classes, calls if n_features < 10**6 else calls // 10, rng)
    yield ""
    yield "Batches, rows a second in one thread (`ISRHTClassifier.predict` and `LinearSVC.predict`):"
    yield ""
    yield "| features | classes | rows | in a batch | ours | LinearSVC | ratio |"
    yield "|---|---|---|---|---|---|---|"
    for n_features, n_classes in ((10**4, 2), (10**6, 2), (10**4, 10)):
        yield from batches(n_features, n_classes, turns, rng)
    yield ""
    yield "Two batches, milliseconds, from one thread and from two at once:"
    yield ""
    yield "| rows | one thread | two threads | ratio | cores at work, at most |"
    yield "|---|---|---|---|---|"
    yield from threads(4 * turns, rng)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=2_000, help="single rows to time")
    parser.add_argument("--turns", type=int, default=5, help="batches to time")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {RESULTS.name} too")
    args = parser.parse_args()
    lines = [f"isrht {isrht.__version__}, kernels {isrht.kernels.active()}, Python {platform.python_version()}", ""]
    print(lines[0], end="\n\n")
    for line in table(args.calls, args.turns):
        print(line, flush=True)
        lines.append(line)
    if args.write:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
