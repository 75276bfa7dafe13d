"""Commands read the user's files by these options, and say what they have found in them.

What was found is printed, because it decides what every value means: where indices begin, which features a model knows,
and which labels there are.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated

import typer

FORMAT_HELP = "libsvm, csv, tsv, parquet, npy or npz; default: by the extension, and else libsvm."
Format = Annotated[str | None, typer.Option("--format", help=FORMAT_HELP)]
LABEL_HELP = "The label column of a table, by name or position (0 is the first, -1 the last)."
MODEL_LABEL_HELP = f"{LABEL_HELP} Default: as in the data the model was trained on."
Label = Annotated[str | None, typer.Option("--label", help=LABEL_HELP)]
ModelLabel = Annotated[str | None, typer.Option("--label", help=MODEL_LABEL_HELP)]
NO_LABEL_HELP = "The rows of a table have no label column, though those the model was trained on had one."
NoLabel = Annotated[bool, typer.Option("--no-label", help=NO_LABEL_HELP)]
BASE_HELP = "Where LIBSVM indices begin: 0, 1 or auto (0 if there is an index 0 anywhere)."
IndexBase = Annotated[str, typer.Option("--index-base", help=BASE_HELP)]
ASK_MODEL_HELP = "Where LIBSVM indices begin: 0, 1 or auto; default: as in the data the model was trained on."
ModelIndexBase = Annotated[str | None, typer.Option("--index-base", help=ASK_MODEL_HELP)]
MAX_FEATURES_HELP = "How many features there may be; default: 268435456. More are taken for a damaged file."
MaxFeatures = Annotated[int | None, typer.Option("--max-features", min=1, help=MAX_FEATURES_HELP)]

SHOWN_CLASSES = 12


@dataclass(frozen=True)
class ReadingOptions:
    """The way in which rows are read for a model; None means as the rows that the model was trained on."""

    format: str | None = None
    index_base: str | None = None
    label: str | None = None
    no_label: bool = False


def base_option(text):
    """Return the ``index_base`` of :func:`isrht.files.open_rows` that the user means."""
    if text not in ("auto", "0", "1"):
        raise ValueError(f"--index-base must be auto, 0 or 1, got {text!r}")
    return text if text == "auto" else int(text)


def training_options(format, index_base, label, max_features):
    """Return the options of :func:`isrht.files.open_rows` that the user has given; no format has a use for all."""
    from isrht.files.limits import Limits

    limits = None if max_features is None else Limits(features=max_features)
    options = {"format": format, "label": label, "limits": limits}
    options = {name: value for name, value in options.items() if value is not None}
    return options if base_option(index_base) == "auto" else options | {"index_base": base_option(index_base)}


def model_options(paths, model, known, asked=ReadingOptions()):
    """Return the options of :func:`isrht.files.open_rows` to read rows for a model.

    The rows are read as those that the model was trained on, of which ``known`` tells, unless the user asks otherwise.
    """
    from isrht.files.opening import find, format_of

    format = asked.format or format_of(find(paths))
    options = {"format": format, "n_features": model.n_features_in_}
    if format == "libsvm":
        base = known.get("index_base") if asked.index_base is None else base_option(asked.index_base)
        return options | {"index_base": "auto" if base is None else base}
    if format == "npz" or asked.no_label:
        return options
    return options | {"label": known.get("label") if asked.label is None else asked.label}


def named(X, names):
    """Return rows with the names of their features, if there are any, so that a model can compare them with its own."""
    if names is None:
        return X
    import pandas

    return pandas.DataFrame(X, columns=names, copy=False)


def check_read_again(paths, why):
    """Refuse pipes for rows that are read several times, or by other processes."""
    from isrht.files.errors import name_of
    from isrht.files.streams import can_be_read_again

    for path in paths:
        if not can_be_read_again(path):
            problem = f"is a pipe, which can be read only once, but {why}: write it to a file first"
            raise ValueError(f"{name_of(path)} {problem}")


def check_not_input(out, *inputs):
    """Refuse to overwrite a file that is read."""
    for path in inputs:
        if os.path.exists(out) and os.path.exists(path) and os.path.samefile(out, path):
            raise ValueError(f"{out} is read here: it is not overwritten")


def describe_facts(facts):
    """Yield a line or two about what was read."""
    features = f"{facts.n_features:,} features"
    if facts.index_base is not None:
        features += f" (indices from {facts.index_base})"
    yield f"{facts.n_samples:,} rows, {features}, {facts.nnz:,} values that are not zero"
    if facts.classes is not None:
        yield f"{len(facts.classes)} classes: {describe_classes(facts.classes)}"


def describe_classes(classes):
    from isrht.files.labels import label_text

    shown = [f"{label_text(label)} ({count:,} rows)" for label, count in list(classes.items())[:SHOWN_CLASSES]]
    return ", ".join(shown) + (f" and {len(classes) - SHOWN_CLASSES} more" if len(classes) > SHOWN_CLASSES else "")


def describe_unseen(n_unseen, n_features):
    """Yield a line about values of features that the model does not know, if there were any."""
    if n_unseen:
        yield f"{n_unseen:,} values of features past the model's {n_features:,} were left out"
