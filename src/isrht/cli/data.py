"""``isrht data``: list the known sets and whether they are here, or fetch those that are not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isrht.cli._messages import FAILED, MISUSED, errors_in_words, give, give_json, say

app = typer.Typer(help="List the sets, or fetch one.", invoke_without_command=True, rich_markup_mode=None)

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="A folder of LIBSVM files; default: ISRHT_DATA, then the cache.")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


@app.callback()
@errors_in_words("data")
def list_sets(context: typer.Context, data_dir: DataDir = None, as_json: AsJson = False):
    """List every set with what is known of it and whether it is here."""
    if context.invoked_subcommand is not None:
        return
    rows = [status(name, data_dir) for name in _names()]
    if as_json:
        give_json(rows)
        return
    table = [{name: name for name in SHOWN}, *rows]
    widths = [max(len(str(row[name])) for row in table) for name in SHOWN]
    for row in table:
        give("  ".join(f"{row[name]!s:{width}}" for name, width in zip(SHOWN, widths, strict=True)).rstrip())


@app.command()
@errors_in_words("data")
def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Sets to fetch, or 'paper' for all six.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
):
    """Download sets of the paper from the LIBSVM site and verify them."""
    from isrht.datasets.fetch import NotOffered, fetch
    from isrht.datasets.registry import PAPER, describe

    wanted = [name for group in names for name in (PAPER if group == "paper" else (group,))]
    fetched = {}
    for name in wanted:
        try:
            fetched[name] = [str(path) for path in fetch(describe(name), data_dir, progress=_progress_bar())]
        except NotOffered as error:
            say(f"isrht data: {error}")
            raise typer.Exit(MISUSED) from error
        except ModuleNotFoundError as error:
            say(f"isrht data: {error.name} is missing: pip install 'isrht[data]'")
            raise typer.Exit(MISUSED) from error
        except (OSError, ValueError) as error:
            unknown = isinstance(error, ValueError) and "unknown set" in str(error)
            say(f"isrht data: {name}: {error}" if not unknown else f"isrht data: {error}")
            raise typer.Exit(MISUSED if unknown else FAILED) from error
        say(f"{name}: verified")
    if as_json:
        give_json(fetched)
    else:
        give("\n".join(path for paths in fetched.values() for path in paths))


SHOWN = ("set", "rows", "features", "split", "r", "here", "verified", "about")


def status(name, data_dir=None):
    """Return what is known of a set, whether its files are here, and whether they have been verified."""
    from isrht.datasets import folders
    from isrht.datasets.registry import describe

    description = describe(name)
    paths = None if description.embedded else folders.find_files(description, data_dir)
    rows = "/".join(f"{facts.rows:,}" for facts in description.facts)
    about = (
        f"stand-in for {description.stands_for}: {description.about}" if description.stands_for else description.about
    )
    return {
        "set": name,
        "rows": rows or "generated",
        "features": f"{description.n_features:,}",
        "split": description.split if isinstance(description.split, str) else f"{description.split:g} train",
        "r": description.r,
        "here": "embedded" if description.embedded else "no" if paths is None else "yes",
        "verified": _verified(paths),
        "about": about,
        "files": [str(path) for path in paths or ()],
    }


def _verified(paths):
    """Say when files are verified: they were when they were downloaded, or they will be whenever they are loaded."""
    if paths is None:
        return "-"
    remembered = [path.with_name(path.name + ".sha256").is_file() for path in paths]
    return "yes" if all(remembered) else "on loading"


def _names():
    from isrht.datasets.registry import DATASETS

    return list(DATASETS)


def _progress_bar():
    """Return a maker of progress bars for pooch, which are bars on a terminal and one line anywhere else."""
    import sys

    from isrht.cli._progress import DownloadBar

    return lambda name: DownloadBar(name, sys.stderr.isatty())
