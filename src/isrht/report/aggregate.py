"""Means and standard deviations of records, by set, method, r and protocol; each knows the records it came from."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Mean:
    """The mean of n values and their standard deviation as a sample, which is None for one value."""

    mean: float
    std: float | None
    n: int

    def text(self, digits=2):
        return f"{self.mean:.{digits}f}" + (f" ± {self.std:.{digits}f}" if self.std is not None else "")


@dataclass
class Group:
    """The finished runs of one method on one set with one r and protocol."""

    set: str
    method: str
    r: int
    protocol: str
    records: list = field(default_factory=list)

    @property
    def id(self):
        return f"{self.set}|{self.method}|{self.r}|{self.protocol}"

    def mean_of(self, name, factor=1.0):
        """Return the mean of one field of the records, or None if no record has it."""
        values = [record[name] * factor for record in self.records if record.get(name) is not None]
        return mean_of(values)

    @property
    def accuracy(self):
        """The accuracy in percent, with C chosen by cross-validation."""
        return self.mean_of("accuracy", 100)

    @property
    def best_accuracy(self):
        """The accuracy in percent by the paper's protocol: the best over C on the test rows."""
        return self.mean_of("best_accuracy", 100)

    @property
    def seconds(self):
        return self.mean_of("total_seconds")

    @property
    def model_bytes(self):
        return self.mean_of("model_bytes")


class Records:
    """All records of a journal, sorted by what they are."""

    def __init__(self, records, damaged=()):
        self.all = records
        self.damaged = list(damaged)
        self.environments = [record for record in records if record["kind"] == "environment"]
        self.skips = [record for record in records if record["kind"] == "skip"]
        runs = [record for record in records if record["kind"] in ("accuracy", "projection")]
        self.failed = [record for record in runs if record["status"] == "failed"]
        self.runs = [record for record in runs if record["kind"] == "accuracy" and record["status"] == "ok"]
        self.projections = [record for record in runs if record["kind"] == "projection" and record["status"] == "ok"]
        self.groups = self._grouped()

    def _grouped(self):
        groups = {}
        for record in self.runs:
            where = tuple(record[name] for name in ("set", "method", "r", "protocol"))
            groups.setdefault(where, Group(*where)).records.append(record)
        for group in groups.values():
            group.records.sort(key=lambda record: record["seed"])
        return groups

    @property
    def sets(self):
        """The names of the sets with results, in the order of the registry."""
        from isrht.datasets.registry import DATASETS

        present = {record["set"] for record in self.runs}
        return [name for name in DATASETS if name in present]

    def group(self, set_name, method, r):
        """Return the group with the most runs, or None; of two with equally many, that of the protocol "paper"."""
        found = [
            self.groups[key] for protocol in ("paper", "cv") if (key := (set_name, method, r, protocol)) in self.groups
        ]
        return max(found, key=lambda group: len(group.records), default=None)

    def of_set(self, set_name):
        """Return the groups of a set by method, in the order of ``METHODS``, and then by r."""
        from isrht.experiments.methods import METHODS

        by_method = defaultdict(dict)
        for where in self.groups:
            if where[0] == set_name:
                by_method[where[1]][where[2]] = self.group(*where[:3])
        return {name: dict(sorted(by_method[name].items())) for name in METHODS if name in by_method}


def mean_of(values):
    """Return the :class:`Mean` of some values, or None if there are none."""
    if not values:
        return None
    std = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Mean(float(np.mean(values)), std, len(values))
