"""Reading LIBSVM text against scikit-learn's reader, all formats side by side with peers, and the memory of a stream.

Times are the least of several turns in one run. The files are written to a temporary folder and removed.
"""

import gc
import os
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks.bench_projection import beyond, in_fresh_process
from benchmarks.timing import best_of
from isrht.files.opening import open_rows, read_rows
from isrht.files.writing import write_rows

MEGABYTES = 200
SHAPES = [
    (100_000, 64, "float32"),
    (100_000, 64, "float64"),
    (200_000, 64, "int32"),
    (1_000_000, 10, "float32"),
    (400_000, 64, "float32"),
    (400_000, 64, "float64"),
    (20_000, 500, "float32"),
    (5_000, 2_000, "float32"),
]
VALUES = {"6 digits": "{:.6g}", "17 digits": "{!r}"}


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: write(Path(folder) / name.replace(" ", "-"), form) for name, form in VALUES.items()}
        print("| work | seconds | MB/s | scikit-learn | ratio | must reach |\n|---|---|---|---|---|---|")
        for name, path in paths.items():
            for row in compared(name, str(path)):
                print("| " + " | ".join(row) + " |", flush=True)
        head = (
            "the same rows as | seconds for all blocks | seconds of the peer | ratio | CPU seconds | of the peer | MB/s"
        )
        print(f"\n| {head} |\n|---|---|---|---|---|---|---|")
        for ending, (ours, peer), (our_cpu, peer_cpu), speed in formats(Path(folder)):
            cells = f"{ours:.4f} | {peer:.4f} | {ours / peer:.2f} | {our_cpu:.4f} | {peer_cpu:.4f} | {speed:.0f}"
            print(f"| .{ending} | {cells} |", flush=True)
        print("\n| Parquet | ours, s | pyarrow's read_table, s | ratio | must reach |\n|---|---|---|---|---|")
        for name, ours, peer in tables(Path(folder)):
            print(f"| {name} | {ours:.4f} | {peer:.4f} | {ours / peer:.2f} | <= 1.5 |", flush=True)
        print("\n| memory beyond what was held before | MB | must reach |\n|---|---|---|")
        extra = in_fresh_process(streamed, str(path))
        print(f"| streaming the {MEGABYTES} MB in blocks | {extra:.0f} | O(block) |")


def formats(folder, n_rows=100_000, width=64):
    """Yield, for the same float32 rows in every format, the seconds for all blocks and those of another library.

    Both are given by the clock and by the processor. The last is how many megabytes of float32 a second are read.
    """
    import pandas as pd
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n_rows, width)).astype(np.float32), np.arange(n_rows) % 2
    for ending in ("svm", "csv", "parquet", "npy"):
        write_rows(folder / f"rows.{ending}", X, None if ending == "npy" else y)
    np.savez(folder / "rows.npz", X=X, y=y)
    peers = {
        "csv": lambda path: pd.read_csv(path, float_precision="round_trip"),
        "parquet": pq.read_table,
        "svm": lambda path: load_svmlight_file(str(path), zero_based=False),
        "npy": np.load,
        "npz": lambda path: np.load(path)["X"],
    }
    for ending, peer in peers.items():
        path, label = folder / f"rows.{ending}", {"label": "label"} if ending in ("csv", "parquet") else {}
        turns = 2 if ending in ("csv", "svm") else 15
        functions = {"ours": partial(all_blocks, path, label), "peer": partial(peer, path)}
        seconds, cpu = best_of(functions, turns), best_of(functions, turns, time.process_time)
        yield ending, tuple(seconds.values()), tuple(cpu.values()), X.nbytes / 1e6 / seconds["ours"]


def tables(folder, turns=15):
    """Yield, for Parquet of several shapes, the seconds for all blocks and those of pyarrow, which has as many threads.

    pyarrow reads the same columns, and leaves them columns.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    for n_rows, width, kind in SHAPES:
        X, path = (1000 * rng.standard_normal((n_rows, width))).astype(kind), folder / "shape.parquet"
        named = {f"c{number}": column for number, column in enumerate(X.T)}
        pq.write_table(pa.table({**named, "label": np.arange(n_rows) % 2}), path)
        functions = {"ours": partial(all_blocks, path, {"label": "label"}), "peer": partial(pq.read_table, path)}
        yield f"{n_rows:,} x {width:,} {kind}", *best_of(functions, turns).values()


def all_blocks(path, options):
    for _ in open_rows(path, **options):
        pass


def write(path, form, per_row=75, n_features=47_000):
    """Rows like those of rcv1, over and over."""
    rng = np.random.default_rng(0)
    lines = []
    for row in range(2000):
        indices = np.sort(rng.choice(n_features, per_row, replace=False)) + 1
        entries = zip(indices.tolist(), rng.random(per_row).tolist(), strict=True)
        fields = ["+1" if row % 2 else "-1", *(f"{index}:{form.format(value)}" for index, value in entries)]
        lines.append(" ".join(fields))
    text = ("\n".join(lines) + "\n").encode()
    with open(path, "wb") as file:
        for _ in range(MEGABYTES * 10**6 // len(text) + 1):
            file.write(text)
    return path


def compared(name, path):
    check_equal(path)
    best = best_of(
        {
            "read_rows": lambda: read_rows(path) and None,
            "open_rows: scan": lambda: open_rows(path).scan() and None,
            "open_rows: scan and one pass": partial(one_pass, path),
            "scikit-learn": lambda: load_svmlight_file(path, zero_based=False) and None,
        },
        3,
    )
    size, theirs = os.path.getsize(path) / 1e6, best.pop("scikit-learn")
    for work, seconds in best.items():
        limit = ">= 4" if work == "read_rows" else "-"
        ratio = f"{theirs / seconds:.1f} x faster"
        yield f"{work}, values of {name}", f"{seconds:.2f}", f"{size / seconds:.0f}", f"{theirs:.2f} s", ratio, limit


def check_equal(path):
    ours, y, _ = read_rows(path)
    theirs, their_y = load_svmlight_file(path, zero_based=False)
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(ours, part), getattr(theirs, part))
    assert np.array_equal(y, their_y)


def one_pass(path):
    for _ in open_rows(path):
        pass


def streamed(path):
    gc.collect()
    return beyond(lambda: one_pass(path))


if __name__ == "__main__":
    main()
