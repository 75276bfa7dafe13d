"""The public names: all of them are there in a fresh process, and none is imported before it is used."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Heavy imports, and all that only the extras bring.
EXTRAS = ["dask", "distributed", "onnx", "pandas", "PIL", "pooch", "pyarrow", "rich", "typer"]
HEAVY = ["numpy", "scipy", "sklearn", *EXTRAS]


def run(script, **environment):
    """Run a script in a process of its own, and return what it printed."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def documented_names():
    """Return what README and docs call by its full name, such as ``isrht.files.open_rows``."""
    folders = (ROOT / "docs", ROOT / "docs" / "guides", ROOT / "docs" / "reference", ROOT / "docs" / "how")
    pages = [ROOT / "README.md", *(page for folder in folders for page in sorted(folder.glob("*.md")))]
    about_files = ("architecture", "coverage", "decisions")
    pages = [page for page in pages if page.stem not in about_files]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    return sorted({name for text in texts for name in re.findall(r"\bisrht((?:\.[a-zA-Z_]+)+)\(?", text)})


def test_importing_the_package_imports_nothing_heavy():
    assert run(f"import sys, isrht; print(*set({HEAVY}) & set(sys.modules))") == []


@pytest.mark.parametrize("name", documented_names())
def test_documented_names_are_there_in_a_fresh_process(name):
    if name.startswith(".rows."):  # what few need is imported by its module, as its pages show
        run(f"import pkgutil; pkgutil.resolve_name('isrht{name}')")
    else:
        run(f"import isrht; isrht{name}")


def test_documented_names_are_found():
    assert {".files.open_rows", ".export.export_model", ".fwht", ".save"} <= set(documented_names())


def test_every_name_is_listed_and_completed():
    script = (
        "import rlcompleter, isrht\n"
        "assert dir(isrht) == isrht.__all__\n"
        "complete = rlcompleter.Completer({'isrht': isrht}).complete\n"
        "print(complete('isrht.expo', 0), complete('isrht.ISRHTCl', 0))\n"
        "print(*isrht.__all__)\n"
    )
    module, function, *names = run(script)
    assert (module, function.rstrip("()")) == ("isrht.export", "isrht.ISRHTClassifier")
    assert {"ISRHT", "fwht", "files", "models"} <= set(names)


def test_names_are_those_of_their_modules():
    run(
        "import isrht, isrht.transform.hadamard as home; from isrht import fwht; assert fwht is isrht.fwht is home.fwht"
    )


def test_all_of_it_can_be_imported_without_the_extras():
    """By ``import *``, and at once where the environment asks for it (SPEC 1)."""
    without = f"import sys; sys.modules |= dict.fromkeys({EXTRAS})\n"
    run(without + "from isrht import *; import isrht; assert {*isrht.__all__} <= {*dir()}")
    run(without + "import isrht; assert {'isrht.linear.svm', 'isrht.files'} <= {*sys.modules}", EAGER_IMPORT="1")


def test_other_names_are_errors():
    script = "import isrht\ntry: isrht.nonsense\nexcept AttributeError as error: print(error)"
    assert run(script) == ["No", "isrht", "attribute", "nonsense"]
