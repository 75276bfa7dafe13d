"""``isrht reproduce``: run the paper again and write a page about it."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from isrht.cli._messages import FAILED, MISUSED, give, give_json, say

JOURNAL = "journal.jsonl"

SETS_HELP = (
    "'embedded', 'paper' or names of sets, separated by commas or repeated. Default: embedded, or paper where "
    "--data-dir is given."
)
Sets = Annotated[list[str] | None, typer.Option("--sets", help=SETS_HELP)]
DATA_DIR_HELP = "A folder of LIBSVM files; default: ISRHT_DATA, then the download cache."
DataDir = Annotated[Path | None, typer.Option("--data-dir", help=DATA_DIR_HELP)]
Out = Annotated[Path, typer.Option("--out", "-o", help="The folder for journal and report.")]
JOURNAL_HELP = f"The journal; default: {JOURNAL} in the folder."
JournalPath = Annotated[Path | None, typer.Option("--journal", help=JOURNAL_HELP)]
Methods = Annotated[list[str] | None, typer.Option("--method", help="Only this method; may be repeated.")]
PARTS_HELP = "Only this part: table, radius (Figure 2), stability (Figure 3) or complexity (Table 1); may be repeated."
Parts = Annotated[list[str] | None, typer.Option("--part", help=PARTS_HELP)]
REPETITIONS_HELP = "Runs of each method with randomness."
Repetitions = Annotated[int, typer.Option("--repetitions", "-n", min=1, help=REPETITIONS_HELP)]
FIGURE_HELP = "The same, for the curves of Figure 2."
FigureRepetitions = Annotated[int, typer.Option("--figure-repetitions", min=1, help=FIGURE_HELP)]
PROTOCOL_HELP = "'cv', or 'paper' to also record the best test accuracy over C, which is what the paper reports."
Protocol = Annotated[str, typer.Option("--protocol", help=PROTOCOL_HELP)]
JOBS_HELP = "Processes, each with one BLAS thread; 0: one for each core."
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=0, help=JOBS_HELP)]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Run again what the journal says has failed.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")]


def reproduce(
    sets: Sets = None,
    data_dir: DataDir = None,
    out: Out = Path("isrht-report"),
    journal: JournalPath = None,
    methods: Methods = None,
    parts: Parts = None,
    repetitions: Repetitions = 15,
    figure_repetitions: FigureRepetitions = 2,
    protocol: Protocol = "cv",
    jobs: Jobs = 0,
    retry_failed: RetryFailed = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Run the paper's experiment and write a self-contained page.

    Without options it uses embedded data and takes about two minutes. It continues where it stopped: runs that the
    journal holds are not repeated.
    """
    from isrht.cli._progress import listener
    from isrht.experiments.methods import METHODS
    from isrht.experiments.plan import PARTS
    from isrht.experiments.reproduce import Settings
    from isrht.experiments.reproduce import reproduce as run
    from isrht.report.write import write_report

    settings = Settings(
        journal=journal or out / JOURNAL,
        sets=_split(sets) or (("paper",) if data_dir else ("embedded",)),
        methods=tuple(methods or METHODS),
        parts=_split(parts) or PARTS,
        repetitions=repetitions,
        figure_repetitions=figure_repetitions,
        protocol=protocol,
        jobs=jobs,
        data_dir=data_dir,
        retry_failed=retry_failed,
    )
    if wrong := list(problems(settings)):
        say("\n".join(f"isrht reproduce: {problem}" for problem in wrong))
        raise typer.Exit(MISUSED)
    with continued(settings.journal):
        summary = run(settings, listener(quiet))
        written = write_report(settings.journal, out)
    if as_json:
        give_json(_counts(summary) | {"files": {name: str(path) for name, path in written.items()}})
    else:
        give(written["index.html"])
    if summary.failed:
        say(f"{len(summary.failed)} of {summary.done} runs failed; the page names them")
        raise typer.Exit(FAILED)


@contextmanager
def continued(journal):
    """Say after Ctrl-C that what was done is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"\n{journal} is good: the same command continues where it stopped")
        raise


def problems(settings):
    """Yield what is wrong with the options, in words."""
    from isrht.datasets.registry import DATASETS
    from isrht.experiments.methods import METHODS
    from isrht.experiments.plan import PARTS
    from isrht.experiments.reproduce import GROUPS
    from isrht.experiments.run import PROTOCOLS

    choices = {
        "set": (settings.sets, [*GROUPS, *DATASETS]),
        "method": (settings.methods, METHODS),
        "part": (settings.parts, PARTS),
        "protocol": ((settings.protocol,), PROTOCOLS),
    }
    for what, (names, known) in choices.items():
        for name in names:
            if name not in known:
                yield f"unknown {what} {name!r}: choose from {', '.join(known)}"
    if settings.data_dir is not None and not settings.data_dir.is_dir():
        yield f"--data-dir {settings.data_dir} is not a folder"


def _counts(summary):
    return {
        "planned": summary.planned,
        "known": summary.known,
        "done": summary.done,
        "failed": summary.failed,
        "skipped": [skip.line for skip in summary.skipped],
    }


def _split(values):
    return tuple(name for value in values or () for name in value.split(",") if name)
