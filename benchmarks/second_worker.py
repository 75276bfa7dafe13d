"""What a second thread gains out of core, and a second worker on Dask: both numbers of them in turns, in one run.

Rows are 100,000 x 4,096 of float32 (1.6 GB), projected to 256 columns with a given C. They come from a memory map, a
generator that is not asked for a block before all threads are done with the last one, because it may fill one buffer
again and again, or from a cluster of processes on this machine, where they are 524,288 (8.6 GB) in 64 partitions of
128 MB. Files are Parquet, of 100,000 x 1,024 such rows, and packed LIBSVM text of 20,000 sparse rows, from which
boosted columns are learned; all are read once, and kept. Arrow decodes Parquet with all cores whatever the number of
our threads, so that is also done by two processes, of which one has one core and the other two. Seconds are by the
clock, the least of several turns, so the machine has to do nothing else: ``python -m benchmarks.second_worker``. Of
Dask it also tells the seconds of the processor that the busiest worker took, which other work on the machine disturbs
less.
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.scaling import Dense, dense_block, dense_labels, random_rows
from benchmarks.timing import best_of
from isrht import ISRHTClassifier, RowSource
from isrht.files import write_rows

D, R = 4096, 256
PARTITION_ROWS = 2**25 // D
# The seconds of the processor that the busiest of so many workers took, in every turn.
BUSIEST = {1: [], 2: []}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--partitions", type=int, default=64)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", choices=["blocks", "files", "workers"], help="some of the rows of the table")
    args = parser.parse_args()
    print("| rows from | one, s | two, s | gain |\n|---|---|---|---|")
    for name, functions in cases(args.rows, args.partitions, args.only):
        one, two = best_of(functions, args.turns).values()
        print(f"| {name} | {one:.2f} | {two:.2f} | {one / two:.2f} |", flush=True)
    if BUSIEST[1]:
        one, two = (min(BUSIEST[count]) for count in (1, 2))
        print(f"| the same, the busiest worker by the processor | {one:.2f} | {two:.2f} | {one / two:.2f} |")


def cases(n, partitions, only=None):
    """Yield a name and functions to be timed: with one thread or worker, and with two."""
    if only in (None, "blocks"):
        yield from blocks_and_maps(n)
    if only in (None, "files"):
        yield from files(n)
    if only in (None, "workers"):
        yield from workers(partitions * PARTITION_ROWS)


def blocks_and_maps(n):
    blocks = Dense(n, D)
    yield "a generator", {jobs: partial(fit, partial(RowSource, blocks), None, jobs) for jobs in (1, 2)}
    with tempfile.TemporaryDirectory() as folder:
        X = np.lib.format.open_memmap(Path(folder, "X.npy"), "w+", np.float32, (n, D))
        y, start = np.empty(n), 0
        for rows, labels in blocks:
            X[start : start + len(rows)], y[start : start + len(rows)] = rows, labels
            start += len(rows)
        yield "a memory map", {jobs: partial(fit, partial(RowSource, X), y, jobs) for jobs in (1, 2)}


def files(n):
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "rows.parquet")
        write_rows(table, Dense(n, D // 4))
        yield "Parquet", {jobs: partial(fit_table, table, jobs) for jobs in (1, 2)}
        with process(table, 1) as one_core, process(table, 2) as two_cores:
            yield "Parquet, one core and two", {1: one_core, 2: two_cores}
        rng = np.random.default_rng(0)
        X = random_rows(rng, n // 5, 40_000)
        y = X[:, :4000].sum(axis=1) + 3 * rng.standard_normal(n // 5) > 0
        for extension in ("", ".bz2", ".gz", ".xz"):
            text = Path(folder, f"rows.svm{extension}")
            write_rows(text, X, y)
            yield f"text{extension}, boosted", {jobs: partial(boost, text, jobs) for jobs in (1, 2)}


@contextmanager
def process(table, cores):
    """Yield a function that lets another process, which has so many cores and as many threads, fit once."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    child = multiprocessing.get_context("spawn").Process(target=fit_whenever_asked, args=(theirs, table, cores))
    child.start()
    yield lambda: (ours.send(True), ours.recv())
    ours.send(False)
    child.join()


def fit_whenever_asked(asked, table, cores):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])  # what is started from now on has no others
    while asked.recv():
        fit_table(table, cores)
        asked.send(None)


def workers(n):
    import dask
    from distributed import Client, LocalCluster

    starts = range(0, n, PARTITION_ROWS)
    labels = np.concatenate([dense_labels(min(PARTITION_ROWS, n - start), D) for start in starts])
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    small, large = (LocalCluster(n_workers=count, **options) for count in (1, 2))
    with small, large, Client(small) as one, Client(large) as two:

        def partitions():
            return [dask.delayed(dense_block)(min(PARTITION_ROWS, n - start), D) for start in starts]

        def on(client, count):
            before = client.run(time.process_time)
            with client.as_current(), dask.config.set(scheduler=client.get):
                fit(partitions, labels, None)
            after = client.run(time.process_time)
            BUSIEST[count].append(max(after[worker] - before[worker] for worker in after))

        yield "partitions of 128 MB, on Dask", {1: partial(on, one, 1), 2: partial(on, two, 2)}


def fit(rows, y, jobs):
    ISRHTClassifier(R, selection="supervised", C=1.0, random_state=0, n_jobs=jobs).fit(rows(), y)


def fit_table(path, jobs):
    fit(partial(RowSource, path, label="label"), None, jobs)


def boost(path, jobs):
    ISRHTClassifier(16, random_state=0, n_jobs=jobs).fit(RowSource(path))


if __name__ == "__main__":
    main()
