"""The rows to train on stay where the user wants them: in memory, in their files, or on workers of a Dask cluster."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass

from isrht.cli._reading import check_read_again, named

TABLES = ("csv", "tsv", "parquet", "npy")
NO_LABELS = "there are no labels to learn from; --label names the column of a table"


@dataclass(frozen=True)
class Place:
    """The place where rows stay while a model is fitted: in memory, unless one of these options is given."""

    out_of_core: bool = False
    scheduler: str | None = None
    local_cluster: int | None = None

    @property
    def is_cluster(self):
        return self.scheduler is not None or self.local_cluster is not None

    def check(self, folds):
        """Refuse several places at once, and others than memory if folds are to be drawn."""
        options = {
            "--out-of-core": self.out_of_core,
            "--scheduler": self.scheduler,
            "--local-cluster": self.local_cluster,
        }
        given = [name for name, value in options.items() if value]
        if len(given) > 1:
            raise ValueError(f"rows are read in one place: choose one of {' and '.join(given)}")
        if given and folds is not None:
            raise ValueError(f"-v takes rows at random, so it needs them in memory: leave out {given[0]}")


def check_inputs(data, format, label, test):
    """Refuse what can be known to be wrong before anything is read."""
    from isrht.files.opening import find, format_of

    if test is not None:
        find(test)
    if (format or format_of(find(data))) in TABLES and label is None:
        raise ValueError(f"{' '.join(data)}: {NO_LABELS}")


@contextmanager
def training_rows(data, options, place, watch, quiet):
    """Give ``(X, y, facts)`` of the rows in their place, which is left at the end."""
    if not place.is_cluster:
        with watch.stage("scan" if place.out_of_core else "read"):
            rows = scan(data, options, quiet) if place.out_of_core else read(data, options)
        yield rows
        return
    from isrht.cli._cluster import cluster, rows_on_workers

    with cluster(place.scheduler, place.local_cluster):
        with watch.stage("scan"):
            X, y, facts = rows_on_workers(data, options)
        check_facts(data, facts)
        yield X, y, facts


def read(data, options):
    """Return ``(X, y, facts)`` of rows that are read into memory."""
    from isrht.files.density import smaller_form
    from isrht.files.opening import open_rows

    rows = open_rows(data, **options)
    X, y, facts = rows.read()
    check_facts(data, facts)
    return named(smaller_form(X), rows.feature_names), y, facts


def scan(data, options, quiet):
    """Return ``(X, None, facts)`` of rows that stay in their files; a source of rows brings their labels itself."""
    from isrht import RowSource
    from isrht.files.opening import find, open_rows

    check_read_again(find(data), "--out-of-core reads the rows in every pass")
    rows = open_rows(data, **options)
    facts = rows.scan()
    check_facts(data, facts)
    return RowSource(rows, progress=None if quiet else show_pass), None, facts


def show_pass(number, rows_read, n_samples):
    """Show on a terminal how far a pass over the rows is, in one line that changes."""
    if sys.stderr.isatty():
        share = "" if not n_samples else f" of {n_samples:,}"
        end = "\n" if rows_read == n_samples else "\r"
        print(f"pass {number}: {rows_read:,}{share} rows", end=end, file=sys.stderr, flush=True)


def check_facts(data, facts):
    """Refuse files without rows or without labels."""
    if not facts.n_samples:
        raise ValueError(f"{' '.join(data)}: there are no rows in it")
    if facts.label_type is None:
        raise ValueError(f"{' '.join(data)}: {NO_LABELS}")
