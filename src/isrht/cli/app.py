"""``isrht``: all commands put together; each of them says in words what goes wrong."""

from __future__ import annotations

import typer

from isrht.cli import compare, data, export, info, inspect, predict, report, reproduce, train, transform
from isrht.cli._messages import errors_in_words

app = typer.Typer(
    name="isrht",
    help="Linear SVMs on few columns of a randomized Hadamard transform: on your data, or on the paper's.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # importing rich for the help alone would double the time it takes
    pretty_exceptions_enable=False,
)


def add(name, command, **options):
    """Add a command whose errors are said in words."""
    app.command(name, **options)(errors_in_words(name)(command))


add("train", train.train, cls=train.TrainCommand)
add("predict", predict.predict)
add("transform", transform.transform)
add("compare", compare.compare)
add("reproduce", reproduce.reproduce)
add("report", report.report)
app.add_typer(data.app, name="data")
add("inspect", inspect.inspect)
add("export", export.export)
add("info", info.info)
