"""``isrht``: the commands put together."""

from __future__ import annotations

import typer

from isrht.cli import data, export, info, inspect, report, reproduce

app = typer.Typer(
    name="isrht",
    help="Improved subsampled randomized Hadamard transforms: run the paper again, on its data or yours.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # importing rich for the help alone would double the time it takes
    pretty_exceptions_enable=False,
)
app.command("reproduce")(reproduce.reproduce)
app.command("report")(report.report)
app.add_typer(data.app, name="data")
app.command("inspect")(inspect.inspect)
app.command("export")(export.export)
app.command("info")(info.info)
