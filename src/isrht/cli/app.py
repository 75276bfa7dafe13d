"""``isrht``: the commands put together."""

from __future__ import annotations

import typer

from isrht.cli import compare, data, export, info, inspect, predict, report, reproduce, train, transform

app = typer.Typer(
    name="isrht",
    help="Linear SVMs on few columns of a randomized Hadamard transform: on your data, or on the paper's.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # importing rich for the help alone would double the time it takes
    pretty_exceptions_enable=False,
)
app.command("train")(train.train)
app.command("predict")(predict.predict)
app.command("transform")(transform.transform)
app.command("compare")(compare.compare)
app.command("reproduce")(reproduce.reproduce)
app.command("report")(report.report)
app.add_typer(data.app, name="data")
app.command("inspect")(inspect.inspect)
app.command("export")(export.export)
app.command("info")(info.info)
