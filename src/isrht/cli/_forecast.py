"""A forecast of how long the rest of an experiment will take: a run costs what runs like it have cost before.

A run of PCA on 47,000 features takes a thousand times as long as a sketch of digits, so the share of runs that are done
says little. Runs of one set and method are alike; if a method has not been run yet, the other runs of its set must do.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict


class Forecast:
    """The seconds that are left for tasks, learned from the ``total_seconds`` of records."""

    def __init__(self, tasks, known_records, clock=time.monotonic):
        self.left = Counter((task.set, task.method, task.r) for task in tasks)
        self.costs, self.clock, self.start = defaultdict(list), clock, clock()
        self.spent = 0.0
        for record in known_records:
            self._learn(record)

    def finished(self, task, record):
        self.left[(task.set, task.method, task.r)] -= 1
        self.spent += self._learn(record)

    def seconds(self, name=None):
        """Return the seconds until the tasks of one set, or all tasks, are done, at the pace of the runs so far."""
        work = sum(count * self._cost(where) for where, count in self.left.items() if name in (None, where[0]))
        elapsed = self.clock() - self.start
        at_once = self.spent / elapsed if self.spent and elapsed > 0 else 1.0
        return work / at_once

    def _learn(self, record):
        cost = record.get("total_seconds", 0.0)
        where = record["set"], record["method"], record["r"]
        for key in (where, where[0], None):
            self.costs[key].append(cost)
        return cost

    def _cost(self, where):
        costs = next((self.costs[key] for key in (where, where[0], None) if key in self.costs), [1.0])
        return sum(costs) / len(costs)


def duration(seconds):
    """Return a time as a person says it: ``48 s``, ``12 min``, ``1 h 5 min``."""
    if seconds < 60:
        return f"{int(seconds)} s"
    minutes = int(seconds / 60 + 0.5)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
