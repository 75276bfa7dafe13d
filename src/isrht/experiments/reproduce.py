"""Reproduce the paper: find the data, plan the runs, and make those that the journal does not hold yet."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from isrht.datasets import folders
from isrht.datasets.loading import NotAvailable, checksum_of
from isrht.datasets.registry import EMBEDDED, PAPER, describe, stand_in_for
from isrht.experiments._environment import environment
from isrht.experiments._workers import run_in_processes
from isrht.experiments.journal import Journal, canonical, checksum
from isrht.experiments.methods import METHODS
from isrht.experiments.plan import PARTS, Grid, Skip, plan

GROUPS = {"embedded": EMBEDDED, "paper": ("blobs", *PAPER)}


@dataclass(frozen=True)
class Settings:
    """A wish: what to reproduce, and where to keep it.

    Attributes
    ----------
    journal : path
        The file to which records are appended.
    sets : tuple of str
        Names of sets, or of groups of them (``GROUPS``).
    methods, parts, repetitions, figure_repetitions, protocol
        As in :class:`~isrht.experiments.plan.Grid`.
    jobs : int
        The number of processes; 0 means one for each core.
    data_dir : path or None
        The folder with the files of sets, as for :func:`isrht.datasets.load`.
    retry_failed : bool
        Whether runs that have failed are made again.
    """

    journal: Path
    sets: tuple = ("embedded",)
    methods: tuple = tuple(METHODS)
    parts: tuple = PARTS
    repetitions: int = 15
    figure_repetitions: int = 2
    protocol: str = "cv"
    jobs: int = 0
    data_dir: Path | None = None
    retry_failed: bool = False


@dataclass
class Summary:
    """An account of how an experiment went.

    Attributes
    ----------
    planned, known, done : int
        How many runs the plan has, how many of them were in the journal before, and how many have been made now.
    failed : list of dict
        The records of runs that have failed now.
    skipped : list of :class:`~isrht.experiments.plan.Skip`
        What is not run, and why.
    damaged : list of int
        The numbers of damaged lines in the journal.
    """

    planned: int = 0
    known: int = 0
    done: int = 0
    failed: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    damaged: list = field(default_factory=list)


class Listener:
    """It is told what happens and does nothing with it; the command line has listeners that show it."""

    def begin(self, tasks, known_records, skips, damaged): ...

    def started(self, task): ...

    def finished(self, task, record): ...

    def end(self): ...


def reproduce(settings, listener=None):
    """Make the runs that the journal does not hold yet; if Ctrl-C stops it, it leaves a good journal behind.

    Parameters
    ----------
    settings : :class:`Settings`
    listener : :class:`Listener` or None, default=None
        It is told what happens.

    Returns
    -------
    summary : :class:`Summary`
    """
    from isrht import __version__

    listener = listener or Listener()
    journal = Journal(settings.journal)
    checksums, skips = available(settings.sets, settings.data_dir)
    grid = Grid(
        checksums, settings.methods, settings.parts, settings.repetitions, settings.figure_repetitions,
        settings.protocol, __version__,
    )  # fmt: skip
    tasks, more_skips = plan(grid)
    skips += more_skips
    contents = journal.read()
    known = {record["key"]: record for record in contents.records if "key" in record}
    missing = [task for task in tasks if not _is_done(known.get(task.key), settings.retry_failed)]
    summary = Summary(len(tasks), len(tasks) - len(missing), skipped=skips, damaged=contents.damaged)
    here = environment()
    _note(journal, known, here)
    for skip in skips:
        _note(journal, known, skip_record(skip))
    listener.begin(missing, [known[task.key] for task in tasks if task.key in known], skips, contents.damaged)
    runs = run_in_processes(
        missing,
        settings.jobs or os.cpu_count() or 1,
        settings.journal,
        here["key"],
        settings.data_dir,
        listener.started,
    )
    try:
        for task, record in runs:
            summary.done += 1
            if record["status"] == "failed":
                summary.failed.append(record)
            listener.finished(task, record)
    finally:
        runs.close()
        listener.end()
    return summary


def available(sets, data_dir=None):
    """Return the checksums of the sets that are asked for, by name, and :class:`Skip` objects for those not there.

    If a set is not there but its stand-in is, the stand-in takes its place.
    """
    checksums, skips = {}, []
    for name in dict.fromkeys(name for group in sets for name in GROUPS.get(group, (group,))):
        chosen = _genuine_or_stand_in(name, data_dir)
        try:
            checksums[chosen] = checksum_of(chosen, data_dir)[:16]
        except NotAvailable as error:
            skips.append(Skip(name, None, str(error).partition(": ")[2]))
        except ImportError as error:
            skips.append(Skip(name, None, f"{error}"))
    return checksums, skips


def skip_record(skip):
    """Return the record of a skip; equal skips have equal keys."""
    fields = {"kind": "skip"} | asdict(skip)
    return fields | {"key": checksum(canonical(fields))}


def _genuine_or_stand_in(name, data_dir):
    description = describe(name)
    stand_in = stand_in_for(name)
    if description.embedded or stand_in is None or folders.find_files(description, data_dir) is not None:
        return name
    return stand_in if folders.find_files(describe(stand_in), data_dir) is not None else name


def _is_done(record, retry_failed):
    return record is not None and not (retry_failed and record["status"] == "failed")


def _note(journal, known, record):
    if record["key"] not in known:
        journal.append(record)
