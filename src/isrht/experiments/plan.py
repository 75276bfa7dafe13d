"""Which runs make up which table and figure.

A run belongs to no figure: it is a set, a method, an r and a seed, and every figure takes the runs it needs. What two
figures share is run once.
"""

from __future__ import annotations

from dataclasses import dataclass

from isrht.datasets.registry import describe
from isrht.experiments.methods import METHODS, method_named
from isrht.experiments.run import Task

PARTS = ("table", "radius", "stability", "complexity")
STABILITY_METHODS = (
    "SRHT", "ISRHT-nps", "ISRHT-nps, authors' code", "ISRHT-top-r", "ISRHT-top-r, authors' code", "ISRHT-supervised",
)  # fmt: skip
STABILITY_SETS = ("mushrooms", "digits")
COMPLEXITY_METHODS = (
    "Gaussian", "Achlioptas", "Sparse Embedding", "SRHT", "ISRHT-nps", "ISRHT-top-r", "ISRHT-supervised",
)  # fmt: skip
COMPLEXITY_BASE = {"n": 2048, "d": 2048, "r": 64}
COMPLEXITY_FACTORS = (0.5, 2, 4)
COMPLEXITY_SEEDS = 1


@dataclass(frozen=True)
class Skip:
    """A set, or a method on a set, that does not run, and why."""

    set: str
    method: str | None
    reason: str

    @property
    def line(self):
        return f"skipped {self.set}{f', {self.method}' if self.method else ''}: {self.reason}"


@dataclass(frozen=True)
class Grid:
    """What to run: sets with the checksums of their data, methods, parts, and how often."""

    checksums: dict
    methods: tuple = tuple(METHODS)
    parts: tuple = PARTS
    repetitions: int = 15
    figure_repetitions: int = 2
    protocol: str = "cv"
    version: str = ""


def plan(grid):
    """``(tasks, skips)``: tasks in the order to run them, each once."""
    tasks, skips = {}, {}
    makers = {"table": table, "radius": accuracy_against_r, "stability": stability, "complexity": complexity}
    for part in PARTS:
        if part not in grid.parts:
            continue
        for item in makers[part](grid):
            if isinstance(item, Skip):
                skips[item] = None
            else:
                tasks.setdefault(item.key, item)
    return list(tasks.values()), list(skips)


def table(grid):
    """The results table: every method on every set at the r of the table."""
    for name in grid.checksums:
        yield from _on_set(grid, name, describe(name).r, grid.repetitions)


def accuracy_against_r(grid):
    """Figure 2."""
    for name in grid.checksums:
        for r in describe(name).r_grid:
            methods = [method for method in grid.methods if method_named(method).projects]
            yield from _on_set(grid, name, r, grid.figure_repetitions, methods, report_skips=False)


def stability(grid):
    """Figure 3: every r from d/64 to d/2; all C come with the protocol "paper"."""
    name = next((name for name in STABILITY_SETS if name in grid.checksums), None)
    if name is None:
        return
    for r in stability_rs(name):
        methods = [method for method in STABILITY_METHODS if method in grid.methods]
        yield from _on_set(grid, name, r, grid.repetitions, methods, protocol="paper")


def stability_rs(name):
    width = 1 << (describe(name).n_features - 1).bit_length()
    return sorted({max(1, width >> power) for power in range(1, 7)})


def complexity(grid):
    """Table 1: one of n, d, r changes at a time."""
    for method in COMPLEXITY_METHODS:
        if method not in grid.methods:
            continue
        for sizes in complexity_sizes():
            for seed in range(COMPLEXITY_SEEDS):
                data = f"n={sizes['n']} d={sizes['d']}"
                yield Task("projection", data, method, sizes["r"], seed, "projection", grid.version, "generated")


def complexity_sizes():
    yield dict(COMPLEXITY_BASE)
    for axis, size in COMPLEXITY_BASE.items():
        for factor in COMPLEXITY_FACTORS:
            yield COMPLEXITY_BASE | {axis: int(size * factor)}


def _on_set(grid, name, r, repetitions, methods=None, protocol=None, report_skips=True):
    """Every method, then every method again with the next seed: what is stopped early has all methods."""
    description = describe(name)
    running = []
    for method_name in grid.methods if methods is None else methods:
        method = method_named(method_name)
        reason = method.why_not(description, description.n_features, r)
        if not method.applies_to(description):
            continue
        if reason is None:
            running.append(method)
        elif report_skips:
            yield Skip(name, method_name, reason)
    for seed in range(repetitions):
        for method in running:
            if seed == 0 or not method.deterministic:
                yield Task(
                    "accuracy",
                    name,
                    method.name,
                    r,
                    seed,
                    protocol or grid.protocol,
                    grid.version,
                    grid.checksums[name],
                )
