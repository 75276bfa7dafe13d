"""The reference of the command line, generated from the commands themselves: usage, arguments, options, defaults.

Every build writes ``reference/commands.rst`` anew from the texts that ``isrht COMMAND --help`` shows.
"""

from __future__ import annotations

import inspect
import re

INTRODUCTION = """All commands, as ``isrht COMMAND --help`` describes them. What each is for, with examples, is told in
:doc:`../command-line`; what they return is told in :doc:`exit-codes`."""


def all_commands():
    """Yield ``(name, command, context)`` of every command, those in groups as ``data fetch``."""
    import typer

    from isrht.cli.app import app

    group = typer.main.get_command(app)
    yield from _of_group(group, group.context_class(group, info_name="isrht"), "")


def _of_group(group, context, prefix):
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        own = command.context_class(command, info_name=name, parent=context)
        if hasattr(command, "list_commands"):
            if command.invoke_without_command:
                yield f"{prefix}{name}", command, own
            yield from _of_group(command, own, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command, own


def reference_text():
    """Return the page as reStructuredText."""
    lines = ["Commands", "========", "", INTRODUCTION, ""]
    for name, command, context in all_commands():
        title = f"isrht {name}"
        lines += [f".. _command-{name.replace(' ', '-')}:", "", title, "-" * len(title), ""]
        lines += [_plain(inspect.cleandoc(command.help or "")), "", ".. code-block:: text", ""]
        lines += [f"   {line}" for line in command.get_usage(context).removeprefix("Usage: ").splitlines()]
        lines += ["", *_parameters(command, context), ""]
    return "\n".join(lines)


def _parameters(command, context):
    """Return a definition list of what the command takes, as its help has it."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            what, words = record
            yield f"``{what}``"
            yield f"   {_plain(' '.join(words.split())) or 'No further words.'}"
            yield ""


def _plain(text):
    """Return a text in which no character means anything to reStructuredText."""
    return re.sub(r"([*`|\\])", r"\\\1", re.sub(r"(\w)_(?=\W|$)", r"\1\\_", text))


def write_reference(app):
    path = app.srcdir / "reference" / "commands.rst"
    text = reference_text()
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def setup(app):
    write_reference(app)  # at once: Sphinx looks for pages when it starts
    return {"parallel_read_safe": True}
