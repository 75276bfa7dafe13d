"""``isrht info``: what is installed, and which kernels serve. Needs nothing of the ``cli`` extra but typer."""

from __future__ import annotations

from typing import Annotated

import typer


def info(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False):
    """Version, chosen kernel, processor features, versions of what it builds on."""
    from isrht.cli._messages import give, give_json
    from isrht.kernels.information import information

    facts = dict(information())
    if as_json:
        give_json(facts)
    else:
        give("\n".join(f"{name:18} {value}" for name, value in facts.items()))
