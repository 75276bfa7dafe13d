"""The runs that make up each table and figure.

A run belongs to no figure: it has a set, a method, an r and a seed, and every figure takes the runs that it needs. A
run that two figures need is made once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    """A plan says what to run.

    Attributes
    ----------
    checksums : dict
        The sets, and the checksums of their data.
    methods : tuple of str
        The names of the methods to compare.
    parts : tuple of str
        Which of ``PARTS`` to run.
    repetitions, figure_repetitions : int
        How often methods with randomness run, in the tables and in Figure 2.
    protocol : str
        One of :data:`isrht.experiments.run.PROTOCOLS`.
    version : str
        The version of the package: another version makes all runs again.
    """

    checksums: dict
    methods: tuple = tuple(METHODS)
    parts: tuple = PARTS
    repetitions: int = 15
    figure_repetitions: int = 2
    protocol: str = "cv"
    version: str = ""


def plan(grid):
    """Return ``(tasks, skips)``: every task once, in the order in which they are to be run."""
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
    """Yield what the tables of results need: every method on every set, at the r of the table."""
    for name in grid.checksums:
        yield from _on_set(grid, name, describe(name).r, grid.repetitions)


def accuracy_against_r(grid):
    """Yield what Figure 2 needs: every method that projects, on every set, at several r.

    What is skipped here has been reported for the table of the same set.
    """
    projecting = replace(grid, methods=tuple(method for method in grid.methods if method_named(method).projects))
    for name in grid.checksums:
        for r in describe(name).r_grid:
            runs = _on_set(projecting, name, r, grid.figure_repetitions)
            yield from (task for task in runs if isinstance(task, Task))


def stability(grid):
    """Yield what Figure 3 needs: every r from d/64 to d/2, and by the protocol "paper" the accuracies for all C."""
    name = next((name for name in STABILITY_SETS if name in grid.checksums), None)
    if name is None:
        return
    methods = tuple(method for method in STABILITY_METHODS if method in grid.methods)
    for r in stability_rs(name):
        yield from _on_set(replace(grid, methods=methods, protocol="paper"), name, r, grid.repetitions)


def stability_rs(name):
    """Return the r of Figure 3 for a set: its number of features, padded to a power of two, divided by 2 to 64."""
    width = 1 << (describe(name).n_features - 1).bit_length()
    return sorted({max(1, width >> power) for power in range(1, 7)})


def complexity(grid):
    """Yield what Table 1 needs: every method on generated rows of several sizes."""
    for method in COMPLEXITY_METHODS:
        if method not in grid.methods:
            continue
        for sizes in complexity_sizes():
            for seed in range(COMPLEXITY_SEEDS):
                yield projection_task(method, sizes, seed, grid.version)


def projection_task(method, sizes, seed, version):
    """Return the task of measuring a projection of n rows of d features to r columns."""
    return Task(
        kind="projection",
        set=f"n={sizes['n']} d={sizes['d']}",
        method=method,
        r=sizes["r"],
        seed=seed,
        protocol="projection",
        version=version,
        data="generated",
    )


def complexity_sizes():
    """Yield sizes n, d and r, of which one at a time differs from the first."""
    yield dict(COMPLEXITY_BASE)
    for axis, size in COMPLEXITY_BASE.items():
        for factor in COMPLEXITY_FACTORS:
            yield COMPLEXITY_BASE | {axis: int(size * factor)}


def _on_set(grid, name, r, repetitions):
    """Yield a task for every method of the grid, and then again with the next seed, and skips of those that cannot run.

    In this order all methods have been run equally often if the experiment is stopped early.
    """
    description = describe(name)
    running = []
    for method in (method for method in map(method_named, grid.methods) if method.applies_to(description)):
        reason = method.why_not(description.n_features, r)
        if reason is None:
            running.append(method)
        else:
            yield Skip(name, method.name, reason)
    for seed in range(repetitions):
        for method in running:
            if seed == 0 or not method.deterministic:
                yield Task(
                    kind="accuracy",
                    set=name,
                    method=method.name,
                    r=r,
                    seed=seed,
                    protocol=grid.protocol,
                    version=grid.version,
                    data=grid.checksums[name],
                )
