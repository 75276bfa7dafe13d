"""``isrht report JOURNAL``: write the page of a journal again, without running anything."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from isrht.cli._messages import give, give_json


def report(
    journal: Annotated[Path, typer.Argument(help="A journal of 'isrht reproduce'.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder for the report; default: beside the journal.")
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", help="A folder for all figures as SVG, PDF and PNG; it needs matplotlib."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the paths as JSON.")] = False,
):
    """Rebuild the page, tables.md and records.csv from a journal; with --figures also files of the figures."""
    from isrht.experiments.journal import Journal
    from isrht.report.write import write_report

    if not journal.is_file():
        raise ValueError(f"there is no journal {journal}")
    contents = Journal(journal).read()
    if contents.damaged and not contents.records:
        raise ValueError(f"{journal} is no journal: none of its {len(contents.damaged):,} lines is a record")
    if figures is not None and find_spec("matplotlib") is None:
        raise ModuleNotFoundError("--figures needs matplotlib: pip install 'isrht[plot]'")
    written = write_report(journal, out or journal.parent, figures)
    if as_json:
        give_json({name: str(path) for name, path in written.items()})
    else:
        give(written["index.html"])
