"""``isrht inspect MODEL``: show what a model file says about itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isrht.cli._messages import give, give_json

BAR = 40
# These are shown in the title of a part, or have been shown for the whole model.
REPEATED = {"class", "classes_", "n_classes"}


def inspect(
    model: Annotated[Path, typer.Argument(help="A model file, as isrht.save writes it.")],
    top: Annotated[int, typer.Option("--top", min=0, help="How many features to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write it as one page, with charts, to this file.")
    ] = None,
):
    """Show parameters, what was learned, how the columns scored, and the most telling features of a model."""
    from isrht.models.inspection import inspect_file
    from isrht.support.visible import visible

    facts = inspect_file(model, top)
    if html is not None:
        from isrht.cli._reading import check_not_input
        from isrht.report.model_page import model_page
        from isrht.support.atomic_writes import replaced_when_whole

        check_not_input(html, model)
        with replaced_when_whole(html) as file:
            file.write(model_page(facts).encode())
    elif as_json:
        give_json(facts)
    else:
        give("\n".join(map(visible, as_text(facts))))  # a text in the file may have line ends in it


def as_text(facts):
    """Yield the facts of a model in lines for a terminal."""
    file = facts["file"]
    yield f"{facts['class']}, {file['bytes']:,} bytes, written by isrht {file['isrht_version']}"
    yield from section("parameters", facts["parameters"])
    if facts["not_stored"]:
        yield f"  (not stored, shown as defaults: {', '.join(facts['not_stored'])})"
    if facts["about"]:
        yield from section("about", flat(facts["about"]))
    yield from section("learned", facts["learned"])
    for name, part in facts["parts"].items():
        yield from section(f"{name} ({part['class']})", {key: part[key] for key in part if key not in REPEATED})
    yield ""
    yield from score_bars(facts["column_scores"])
    if facts["features"]:
        yield ""
        base = 1 if facts["about"].get("index_base") == 1 else 0
        yield from feature_lines(facts["features"], facts["learned"]["n_classes"], base)


def section(title, values):
    yield ""
    yield title
    for name, value in values.items():
        if name == "cross_validation":
            yield from cross_validation(value)
        elif name == "search":
            yield from search(value)
        else:
            yield f"  {name:20} {shown(value)}"


def shown(value):
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return ", ".join(map(shown, value))
    return value if isinstance(value, str) else str(value)


def cross_validation(found):
    yield f"  {'C':>12}  mean score"
    for C, mean, std in zip(found["Cs_"], found["mean_scores_"], found["std_scores_"], strict=True):
        yield f"  {C:12.6g}  {mean:.4f} +- {std:.4f}{'  *' if mean == found['best'] else ''}"


def search(found):
    yield f"  held-out scores after {', '.join(map(str, found['rounds']))} rounds, with the best C"
    for name, scores in zip(found["candidates"], found["scores"], strict=True):
        yield f"  {name:>24}  {'  '.join('-' if score is None else f'{score:.4f}' for score in scores)}"


def score_bars(histogram):
    """Yield a bar for each range of scores, of which the kept columns are the front.

    Lengths are logarithmic, because most scores are small.
    """
    from math import ceil, log1p

    if histogram is None:
        yield "column scores: none in the file (columns drawn uniformly, boosted, or written by an older isrht)"
        return
    yield "column scores, higher is better: # kept, . not kept (lengths are logarithmic)"
    unit = BAR / log1p(max(histogram["columns"]))
    for low, columns, kept in zip(histogram["edges"], histogram["columns"], histogram["kept"], strict=False):
        length, front = (ceil(unit * log1p(count)) for count in (columns, min(kept, columns)))
        yield f"  {low:12.5g}  {'#' * front}{'.' * (length - front)} {columns:,} ({kept:,} kept)"


def flat(values, depth=5):
    """Return ``{"trained_on": {"rows": 3}}`` as ``{"trained_on.rows": 3}``, down to a depth; None is left out."""
    found = {}
    for name, value in values.items():
        if isinstance(value, dict) and depth:
            found |= {f"{name}.{inner}": deeper for inner, deeper in flat(value, depth - 1).items()}
        elif value is not None:
            found[name] = value
    return found


def feature_lines(features, n_classes, base):
    what = "positive" if n_classes == 2 else "one class against the rest, positive"
    yield f"most telling features, counted from {base}, by weight per unit ({what}: for the class named)"
    for row in features:
        name = f"  {row['name']}" if row["name"] is not None else ""
        yield f"  {row['feature'] + base:>10}  {row['weight']:+12.5g}  {row['class']}{name}"
