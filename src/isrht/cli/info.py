"""``isrht info``: say what is installed and which kernels are used. Of the ``cli`` extra it needs only typer."""

from __future__ import annotations

from typing import Annotated

import typer

from isrht.cli._messages import give, give_json


def info(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False):
    """Version, chosen kernel, processor features, versions of what it builds on."""
    from isrht.kernels.information import information

    facts = dict(information())
    if as_json:
        give_json(facts)
    else:
        give("\n".join(f"{name:18} {value}" for name, value in facts.items()))
