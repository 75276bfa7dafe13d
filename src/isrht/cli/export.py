"""``isrht export MODEL --to TARGET``: hand a model to another program."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from isrht.cli._messages import give, give_json, say


class Target(StrEnum):
    liblinear = "liblinear"
    onnx = "onnx"
    sklearn = "sklearn"
    c = "c"


def export(
    model: Annotated[Path, typer.Argument(help="A classifier in a model file, as isrht.save writes it.")],
    to: Annotated[Target, typer.Option("--to", help="What to write.")],
    unfolded: Annotated[
        bool, typer.Option("--unfolded", help="For onnx: signs, Hadamard factors, columns and SVM, step by step.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write; default: beside the model.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print path and size as JSON.")] = False,
):
    """Write a LIBLINEAR model, an ONNX graph, a scikit-learn pickle or a C header."""
    from isrht.export.targets import default_path, export_model, warning_about
    from isrht.models.model_file import load

    if not model.is_file():
        raise ValueError(f"there is no model file {model}")
    path = Path(default_path(model, to.value)) if out is None else out
    if path.exists() and path.samefile(model):
        raise ValueError(f"{path} is the model itself: name another file with --out")
    export_model(load(model), path, to.value, unfolded=unfolded)
    if warning := warning_about(to.value):
        say(f"isrht export: {path}: {warning}")
    if as_json:
        size, trusted_only = path.stat().st_size if path.is_file() else None, to is Target.sklearn
        give_json({"path": str(path), "to": to.value, "bytes": size, "trusted_only": trusted_only})
    else:
        give(path)
