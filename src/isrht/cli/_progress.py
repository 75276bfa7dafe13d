"""What is seen on standard error while an experiment runs: on a terminal bars and a growing table, elsewhere lines."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict

from isrht.cli._forecast import Forecast, duration
from isrht.cli._messages import say
from isrht.experiments.reproduce import Listener
from isrht.support.visible import visible

# Without a terminal, a line is said at least this often, as long as runs end at all.
SILENCE_SECONDS = 30


def listener(quiet=False):
    """Return the listener that suits this standard error."""
    if quiet:
        return Listener()
    return BarListener() if sys.stderr.isatty() else LineListener()


class LineListener(Listener):
    """Says a line for every method on every set when its last run ends, or after a while, and one for what failed."""

    def begin(self, tasks, known_records, skips, damaged):
        self.planned = Counter((task.set, task.method, task.r) for task in tasks)
        self.accuracies, self.total, self.done = defaultdict(list), len(tasks), 0
        self.forecast, self.last_said = Forecast(tasks, known_records), time.monotonic()
        for record in known_records:
            self.planned[record["set"], record["method"], record["r"]] += 1
            self._remember(record)
        for line in opening_lines(tasks, known_records, skips, damaged):
            say(line)

    def finished(self, task, record):
        self._count(task, record)
        where = (task.set, task.method, task.r)
        if record["status"] == "failed":
            say(f"failed {task.label}: {record['error']}")
        if self.forecast.left[where] == 0 or time.monotonic() - self.last_said > SILENCE_SECONDS:
            left = duration(self.forecast.seconds())
            say(f"[{self.done}/{self.total}, {left} left] {task.set}, {task.method}, r={task.r}{self._so_far(where)}")
            self.last_said = time.monotonic()

    def _count(self, task, record):
        self.done += 1
        self.forecast.finished(task, record)
        self._remember(record)

    def _remember(self, record):
        if "accuracy" in record:
            self.accuracies[record["set"], record["method"], record["r"]].append(100 * record["accuracy"])

    def _so_far(self, where):
        """Return the mean accuracy so far and, while runs are missing, how many runs it is of."""
        left, total = self.forecast.left[where], self.planned[where]
        return accuracy_text(self.accuracies[where]) + (f" ({total - left} of {total})" if left else "")


class BarListener(LineListener):
    """Shows a bar for each set and one for all, with the time left, below the table of results so far."""

    def begin(self, tasks, known_records, skips, damaged):
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        super().begin(tasks, known_records, skips, damaged)
        self.bars = Progress(
            TextColumn("{task.description}", markup=False),  # the name of a set may look like markup
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[now]}", markup=False),
        )
        self.all_bar = self.bars.add_task("all", total=len(tasks), left="", now="")
        counts = Counter(task.set if task.kind == "accuracy" else "Table 1" for task in tasks)
        self.bar_of = {
            name: self.bars.add_task(visible(name), total=count, left="", now="") for name, count in counts.items()
        }
        self.live = Live(self._view(), console=Console(stderr=True), refresh_per_second=4, transient=False)
        self.live.start()

    def started(self, task):
        self.bars.update(self._bar(task), now=f"{task.method}, r={task.r}")

    def finished(self, task, record):
        self._count(task, record)
        for bar, name in ((self.all_bar, None), (self._bar(task), task.set)):
            self.bars.update(bar, advance=1, left=f"{duration(self.forecast.seconds(name))} left")
        if record["status"] == "failed":
            self.live.console.print(visible(f"failed {task.label}: {record['error']}"), markup=False, highlight=False)
        self.live.update(self._view())

    def end(self):
        if hasattr(self, "live"):
            self.live.stop()

    def _bar(self, task):
        return self.bar_of[task.set if task.kind == "accuracy" else "Table 1"]

    def _view(self):
        from rich.console import Group
        from rich.markup import escape
        from rich.table import Table

        from isrht.datasets.registry import DATASETS, describe
        from isrht.experiments.methods import METHODS

        shown = {
            where: values
            for where, values in self.accuracies.items()
            if where[0] in DATASETS and where[2] == describe(where[0]).r
        }
        sets = list(dict.fromkeys(where[0] for where in shown))
        table = Table("method", *(escape(visible(name)) for name in sets))
        for method in (name for name in METHODS if any(where[1] == name for where in shown)):
            cells = [self._so_far((name, method, describe(name).r)).removeprefix(": ") for name in sets]
            table.add_row(method, *cells)
        return Group(table, self.bars) if sets else self.bars


class DownloadBar:
    """A progress bar with what pooch asks for: ``total``, ``update``, ``reset`` and ``close``."""

    def __init__(self, name, terminal):
        self.name, self.terminal, self.count, self._total, self.bar = name, terminal, 0, 0, None

    @property
    def total(self):
        return self._total

    @total.setter
    def total(self, value):
        self._total = value
        if self.terminal and self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

            parts = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
            self.bar = Progress(*parts, console=Console(stderr=True))
            self.task = self.bar.add_task(self.name, total=value or None)
            self.bar.start()

    def update(self, count):
        self.count += count
        if self.bar is not None:
            self.bar.update(self.task, completed=self.count)

    def reset(self):
        self.count = 0

    def close(self):
        if self.bar is not None:
            self.bar.stop()
        else:
            say(f"downloaded {self.name}: {self.count or self._total:,} bytes")


def opening_lines(tasks, known_records, skips, damaged):
    """Yield the lines to say before anything runs."""
    for skip in skips:
        yield skip.line
    if damaged:
        yield f"the journal has {len(damaged)} damaged lines, left alone and ignored: {damaged[:10]}"
    if known_records:
        yield f"{len(known_records)} runs are in the journal already; {len(tasks)} to go"
    else:
        yield f"{len(tasks)} runs to go"


def accuracy_text(values):
    """Return the mean and deviation of accuracies as ``: 91.20 ± 0.40``, or "" if there are none."""
    if not values:
        return ""
    mean = sum(values) / len(values)
    if len(values) == 1:
        return f": {mean:.2f}"
    spread = (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5
    return f": {mean:.2f} ± {spread:.2f}"
