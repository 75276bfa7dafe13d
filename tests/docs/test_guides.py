"""The code of the guides does what the guides say: every Python block of a page is run, in order, in one process."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "start.md",
    ROOT / "docs" / "reference" / "model-file-format.md",
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
]
FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(path):
    return FENCE.findall(path.read_text())


def commands(block):
    """Return the commands of this package in a console block, as lists of arguments."""
    lines = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ isrht ")]
    return [shlex.split(line)[1:] for line in lines]


@pytest.mark.parametrize("path", [page for page in PAGES if blocks(page)], ids=lambda path: path.stem)
def test_the_code_of_a_page_runs(path, tmp_path, monkeypatch, capsys):
    from typer.testing import CliRunner

    from isrht.cli.app import app

    monkeypatch.chdir(tmp_path)
    names = {"__name__": "guide"}
    for kind, code in blocks(path):
        if kind == "python":
            exec(compile(code, f"{path.name}:{code.splitlines()[0]}", "exec"), names)
        for arguments in commands(code) if kind == "console" else ():
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, f"isrht {' '.join(arguments)}\n{result.output}"
    capsys.readouterr()


def test_there_are_pages_to_run():
    assert sum(map(bool, map(blocks, PAGES))) >= 8
