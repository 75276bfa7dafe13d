"""Write the table of rooms and files into docs/architecture.md, from the first sentence of every module.

``python tools/architecture_map.py`` rewrites the table; a test compares it with the tree, so that the map stays true.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "isrht"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- the table of rooms begins -->", "<!-- the table of rooms ends -->"


def rooms():
    """Return the names of the rooms in the order of layers, the uppermost first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [layer.removeprefix("isrht.") for layer in layers]


def first_sentence(path):
    return ast.get_docstring(ast.parse(path.read_text())).split("\n")[0].replace("|", "\\|")


def table():
    """Return the rows of the table: every room in bold, then its files."""
    lines = ["| file | what it is for |", "|---|---|"]
    for room in rooms():
        home = PACKAGE / room
        if not home.is_dir():
            lines.append(f"| **`{room}.py`** | **{first_sentence(home.with_suffix('.py'))}** |")
            continue
        lines.append(f"| **`{room}/`** | **{first_sentence(home / '__init__.py')}** |")
        for path in sorted(home.rglob("*.py")):
            if path.parent != home or path.name != "__init__.py":
                name = path.relative_to(PACKAGE).as_posix().removesuffix("__init__.py")
                lines.append(f"| `{name}` | {first_sentence(path)} |")
    return "\n".join(lines)


def page_with_table():
    """Return the page with the table as it should be."""
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page_with_table())
