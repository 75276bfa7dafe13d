"""``isrht transform``: write the columns that a model makes of rows, as they are read."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from isrht.cli._messages import say
from isrht.cli._reading import (
    Format,
    ModelIndexBase,
    ModelLabel,
    NoLabel,
    ReadingOptions,
    check_not_input,
    describe_unseen,
    model_options,
    named,
)
from isrht.cli.predict import Data, Quiet

Model = Annotated[Path, typer.Argument(help="A model or a projection that 'isrht train' or isrht.save wrote.")]
OUT_HELP = "What to write: .csv, .tsv, .npy or .parquet, and else LIBSVM text; text also packed, as .gz and so on."
Out = Annotated[Path, typer.Argument(help=OUT_HELP)]


def transform(
    data: Data,
    model: Model,
    out: Out,
    format: Format = None,
    label: ModelLabel = None,
    no_label: NoLabel = False,
    index_base: ModelIndexBase = None,
    quiet: Quiet = False,
):
    """Write the columns that a model makes of rows, with their labels where they have any."""
    from isrht.files.opening import open_rows
    from isrht.files.writing import write_rows
    from isrht.models.model_file import load, read_about

    check_not_input(out, data, model)
    projection = load(model)
    if not hasattr(projection, "transform"):
        raise ValueError(f"{model} holds a {type(projection).__name__}, which makes no columns")
    asked = ReadingOptions(format, index_base, label, no_label)
    options = model_options(data, projection, read_about(model), asked)
    rows = open_rows(data, **options)
    count = 0

    def blocks():
        nonlocal count
        for X, y in rows:
            count += X.shape[0]
            yield columns_of(projection, named(X, rows.feature_names)), y

    write_rows(out, blocks())
    if not quiet:
        say(f"{count:,} rows of {len(projection.get_feature_names_out()):,} columns")
        for line in describe_unseen(rows.n_unseen, options["n_features"]):
            say(line)


def columns_of(projection, X):
    """Return the columns of rows; rows without names are taken by position even if the projection knows names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return projection.transform(X)
