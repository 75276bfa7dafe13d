"""``isrht reproduce``: run the paper again and write a page about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

JOURNAL = "journal.jsonl"


def reproduce(
    sets: Annotated[list[str] | None, typer.Option("--sets", help="'embedded', 'paper' or names of sets; may be repeated or separated by commas. Default: embedded, or paper where --data-dir is given.")] = None,
    data_dir: Annotated[Path | None, typer.Option("--data-dir", help="A folder of LIBSVM files; default: ISRHT_DATA, then the download cache.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for journal and report.")] = Path("isrht-report"),
    journal: Annotated[Path | None, typer.Option("--journal", help="The journal; default: journal.jsonl in the folder.")] = None,
    methods: Annotated[list[str] | None, typer.Option("--method", help="Only this method; may be repeated.")] = None,
    parts: Annotated[list[str] | None, typer.Option("--part", help="Only this part: table, radius, stability, complexity; may be repeated.")] = None,
    repetitions: Annotated[int, typer.Option("--repetitions", "-n", min=1, help="Runs of each method with randomness.")] = 15,
    figure_repetitions: Annotated[int, typer.Option("--figure-repetitions", min=1, help="The same, for the curves of Figure 2.")] = 3,
    protocol: Annotated[str, typer.Option("--protocol", help="'cv', or 'paper' to also record the best test accuracy over C.")] = "cv",
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Processes, each with one BLAS thread; 0: one for each core.")] = 0,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run again what the journal says has failed.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
):  # fmt: skip
    """Run the paper's experiment and write a self-contained page.

    Without options it uses embedded data and takes about two minutes. It continues where it stopped: runs that the
    journal holds are not repeated.
    """
    from isrht.cli.messages import FAILED, MISUSED, give, give_json, say
    from isrht.cli.progress import listener
    from isrht.experiments.methods import METHODS
    from isrht.experiments.plan import PARTS
    from isrht.experiments.reproduce import GROUPS, Settings
    from isrht.experiments.reproduce import reproduce as run
    from isrht.experiments.run import PROTOCOLS
    from isrht.datasets.registry import DATASETS
    from isrht.report.write import write_report

    chosen = {
        "sets": _split(sets) or (("paper",) if data_dir else ("embedded",)),
        "methods": tuple(methods or METHODS),
        "parts": _split(parts) or PARTS,
    }
    known = {"sets": {*GROUPS, *DATASETS}, "methods": set(METHODS), "parts": set(PARTS)}
    problems = [f"unknown {what[:-1]} {name!r}: choose from {', '.join(sorted(known[what]))}" for what, names in chosen.items() for name in names if name not in known[what]]
    if protocol not in PROTOCOLS:
        problems.append(f"unknown protocol {protocol!r}: choose from {', '.join(PROTOCOLS)}")
    if data_dir is not None and not data_dir.is_dir():
        problems.append(f"--data-dir {data_dir} is not a folder")
    if problems:
        say("\n".join(f"isrht reproduce: {problem}" for problem in problems))
        raise typer.Exit(MISUSED)

    path = journal or out / JOURNAL
    settings = Settings(path, **chosen, repetitions=repetitions, figure_repetitions=figure_repetitions,
                        protocol=protocol, jobs=jobs, data_dir=data_dir, retry_failed=retry_failed)  # fmt: skip
    try:
        summary = run(settings, listener(quiet))
    except KeyboardInterrupt:
        say(f"\nstopped; {path} is good: the same command continues where it stopped")
        raise typer.Exit(FAILED) from None
    except OSError as error:
        say(f"isrht reproduce: {error}")
        raise typer.Exit(FAILED) from error
    written = write_report(path, out)
    if as_json:
        counts = {"planned": summary.planned, "known": summary.known, "done": summary.done, "failed": summary.failed}
        give_json(counts | {"skipped": [skip.line for skip in summary.skipped], "files": {n: str(p) for n, p in written.items()}})
    else:
        give(written["index.html"])
    if summary.failed:
        say(f"{len(summary.failed)} of {summary.done} runs failed; the page names them")
        raise typer.Exit(FAILED)


def _split(values):
    return tuple(name for value in values or () for name in value.split(",") if name)
