"""Made-up records, such as runs leave behind, for tests of what comes after the runs."""

import numpy as np

from isrht.datasets.registry import describe
from isrht.experiments.journal import Journal, encode
from isrht.experiments.methods import METHODS
from isrht.experiments.plan import COMPLEXITY_METHODS, Grid, Skip, complexity_sizes, plan, projection_task
from isrht.experiments.reproduce import skip_record
from isrht.experiments.run import Task, record_of

ENVIRONMENT = {
    "kind": "environment", "machine": "x86_64", "processor": "made up", "cores": 2, "memory_bytes": 1,
    "system": "Linux", "python": "3.12", "versions": {"numpy": "2"}, "kernel": "numpy", "commit": None, "key": "e" * 16,
}  # fmt: skip


def made_up_result(task, rng):
    description = describe(task.set)
    accuracy = float(rng.uniform(0.7, 0.99))
    by_C = [round(float(value), 6) for value in rng.uniform(0.6, accuracy, 10)] + [round(accuracy, 6)]
    return {
        "status": "ok",
        "accuracy": accuracy,
        "cv_accuracy": accuracy,
        "C": 1.0,
        "seconds": {"fit": 0.01, "project": 0.02, "tune": 0.3, "train": 0.01, "predict": 0.01},
        "total_seconds": float(rng.uniform(0.1, 3)),
        "wall_seconds": 1.0,
        "bytes": {"projection": 100, "svm": 8 * task.r},
        "model_bytes": int(rng.integers(100, 10**6)),
        "shape": [700, 300, description.n_features],
        "environment": ENVIRONMENT["key"],
    } | ({"best_accuracy": max(by_C), "by_C": by_C} if task.protocol == "paper" else {})


def made_up_projection(sizes):
    return {
        "status": "ok",
        "seconds": {"fit": 0.0, "project": 1e-9 * sizes["n"] * sizes["d"]},
        "total_seconds": 1e-9 * sizes["n"] * sizes["d"],
        "bytes": {"projection": sizes["d"]},
        "shape": [sizes["n"], 0, sizes["d"]],
    }


def sample(sets=("digits", "blobs", "mushrooms", "gisette-like"), protocol="paper", repetitions=3):
    """Return the records of a whole plan, with a failed run and a skipped set."""
    rng = np.random.default_rng(0)
    grid = Grid(
        dict.fromkeys(sets, "d" * 16), tuple(METHODS), ("table", "radius", "stability"), repetitions, 2, protocol, "0"
    )
    tasks, _ = plan(grid)
    records = [ENVIRONMENT]
    records += [record_of(task, made_up_result(task, rng)) for task in tasks]
    for method in COMPLEXITY_METHODS:
        for sizes in complexity_sizes():
            task = projection_task(method, sizes, seed=0, version="0")
            records.append(record_of(task, made_up_projection(sizes)))
    records.append(skip_record(Skip("real-sim", None, "no file <here> & there")))
    broken = Task("accuracy", "digits", "SRHT", 16, 99, protocol, "0", "d" * 16)
    records.append(record_of(broken, {"status": "failed", "error": "MemoryError: too <large>"}))
    return records


def write_journal(path, **options):
    journal = Journal(path)
    journal.path.parent.mkdir(parents=True, exist_ok=True)
    journal.path.write_bytes(b"".join(encode(record) for record in sample(**options)))
    return journal
