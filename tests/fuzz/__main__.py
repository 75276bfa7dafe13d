"""Run sessions in processes of their own: ``python -m fuzz --calls 100000``.

A worker plays batches of sessions, each of which Hypothesis draws from a seed of its own and, where one fails, makes
smaller. Before every call it writes the story so far into a file. When it ends before its time, because compiled code
crashed or a call took too long, that file tells the call. ``python -m fuzz --seed 17`` plays one batch again.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from fuzz.sessions import run_session
from fuzz.watch import Watch

SESSIONS_PER_BATCH = 100
# What a call on small data may ask for. ASan reserves address space beyond any limit, and needs none.
MEMORY = 4 * 2**30
PROGRAM = (sys.executable, "-m", "fuzz")


def play_batch(number, watch, sessions=SESSIONS_PER_BATCH):
    """Play the sessions of one seed. A fault that is found is made smaller, and raised."""

    @seed(number)
    @settings(
        max_examples=sessions,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
        print_blob=False,
        report_multiple_bugs=False,
    )
    @given(st.data())
    def play(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is not watched: recipes and twins
            run_session(data.draw, watch)

    play()


def work(first, step, calls, folder):
    """Play every ``step``-th batch until so many calls have been made; leave a report, and a story of each fault."""
    limit_memory()
    note = os.open(Path(folder, f"call-{first % step}"), os.O_CREAT | os.O_WRONLY)
    with open(Path(folder, f"traceback-{first % step}"), "w") as traceback:
        faulthandler.enable(traceback)
        watch, number, faults = Watch(note, traceback), first, []
        while watch.calls < calls:
            try:
                play_batch(number, watch)
            except Exception as fault:
                faults.append(f"seed {number}: {type(fault).__name__}: {fault}")
            number += step
            write_report(Path(folder, f"report-{first % step}"), number, watch, faults)


def limit_memory():
    if "LD_PRELOAD" not in os.environ:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def write_report(path, next_seed, watch, faults):
    counts = [[*key, count] for key, count in watch.counts.items()]
    path.write_text(json.dumps({"next": next_seed, "counts": counts, "faults": faults}))


class Worker:
    """A process that plays batches, and is started again behind the batch in which it crashed."""

    def __init__(self, first, step, calls, folder, program=PROGRAM):
        self.place, self.step, self.calls, self.folder, self.program = first % step, step, calls, Path(folder), program
        self.counts, self.faults = Counter(), []
        self._start(first)

    def _start(self, first):
        self.first = first
        left = self.calls - self.counts.total()
        arguments = ["--first", first, "--step", self.step, "--calls", left, "--folder", self.folder]
        command = [*self.program, "--work", *map(str, arguments)]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONHASHSEED": "0"}
        self.process = subprocess.Popen(command, env=environment)

    def wait(self):
        """Wait until all calls have been made; return the outcomes by entry point, and the faults."""
        while self.go_on():
            time.sleep(0.1)
        return self.counts, self.faults

    def go_on(self):
        """Take up what a process that has ended leaves behind; say whether there is more to wait for."""
        code = self.process.poll()
        if code is None:
            return True
        report = self._report()
        self.counts.update({(entry, outcome): count for entry, outcome, count in report["counts"]})
        self.faults += report["faults"]
        if code == 0:
            return False
        story, traceback = self._text("call"), self._text("traceback")
        self.faults.append(f"seed {report['next']}: the process ended with {code} in\n{story}\n{traceback}")
        (self.folder / f"report-{self.place}").unlink(missing_ok=True)
        self._start(report["next"] + self.step)
        return True

    def _report(self):
        text = self._text("report")
        return json.loads(text) if text else {"next": self.first, "counts": [], "faults": []}

    def _text(self, name):
        path = self.folder / f"{name}-{self.place}"
        return path.read_text(errors="replace") if path.exists() else ""


def fuzz(calls, first=0, workers=2):
    """Make so many calls in several processes; return the outcomes by entry point, and the faults."""
    with tempfile.TemporaryDirectory() as folder:
        processes = [Worker(first + k, workers, -(-calls // workers), folder) for k in range(workers)]
        try:
            running = processes
            while running:
                time.sleep(0.1)
                running = [worker for worker in running if worker.go_on()]
        finally:
            for worker in processes:
                worker.process.kill()
                worker.process.wait()
    counts = sum((worker.counts for worker in processes), Counter())
    return counts, [fault for worker in processes for fault in worker.faults]


def summary(counts):
    """Return a line per entry point: how many calls, and how many of them returned."""
    entries = sorted({entry for entry, _ in counts})
    lines = [f"{'entry point':40} {'calls':>8} {'returned':>9}"]
    for entry in entries:
        total = sum(count for (name, _), count in counts.items() if name == entry)
        lines.append(f"{entry:40} {total:8} {counts[entry, 'returned'] / total:9.0%}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--first", type=int, default=0, help="the seed to start with")
    parser.add_argument("--seed", type=int, help="play one batch, here")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work:
        work(chosen.first, chosen.step, chosen.calls, chosen.folder)
        return
    if chosen.seed is not None:
        play_batch(chosen.seed, Watch())
        return
    start = time.monotonic()
    counts, faults = fuzz(chosen.calls, chosen.first, chosen.workers)
    print(summary(counts))
    print(*faults, sep="\n\n")
    print(f"{counts.total()} calls in {time.monotonic() - start:.0f} s, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
