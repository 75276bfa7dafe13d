"""The package without its compiled kernels, as it is installed where no compiler is found."""

import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from isrht import kernels

# Hides the compiled kernels from an interpreter that has them.
WITHOUT_CORE = """
import sys
from importlib.abc import MetaPathFinder

class Blocker(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "isrht.kernels._core":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def run_without_core(script, **environment):
    env = {name: value for name, value in os.environ.items() if name != "ISRHT_KERNEL"} | environment
    command = [sys.executable, "-W", "always::RuntimeWarning", "-c", WITHOUT_CORE + script]
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_numpy_serves_and_one_warning_says_so():
    out = run_without_core("from isrht import kernels, fwht; print(fwht([1.0, 2.0, 3.0, 4.0]), kernels.active())")
    assert out.returncode == 0, out.stderr
    assert out.stdout.strip() == "[10. -2. -4.  0.] numpy"
    assert out.stderr.count("RuntimeWarning") == 1
    assert "installed without its compiled kernels" in out.stderr
    assert "--no-cache-dir" in out.stderr
    assert "ISRHT_KERNEL=numpy" in out.stderr


def test_numpy_on_purpose_is_silent():
    out = run_without_core("from isrht import kernels; print(kernels.available())", ISRHT_KERNEL="numpy")
    assert (out.stdout.strip(), out.stderr) == ("['numpy']", "")


def test_info_says_so():
    out = run_without_core("from isrht.__main__ import main; main(['info'])", ISRHT_KERNEL="numpy")
    facts = [line.split() for line in out.stdout.splitlines()]
    assert ["kernel", "numpy"] in facts
    assert "compiled kernels" not in out.stdout


@pytest.fixture
def broken(tmp_path):
    """A copy of the package whose compiled kernels are garbage; return how to run a script with it."""
    package = tmp_path / "isrht"
    shutil.copytree(Path(kernels.__file__).parents[1], package, ignore=shutil.ignore_patterns("_core*", "__pycache__"))
    (package / "kernels" / f"_core{EXTENSION_SUFFIXES[-1]}").write_bytes(b"garbage")
    ours = f"import sys\nsys.meta_path[:] = sys.meta_path[-3:]\nsys.path.insert(0, {str(tmp_path)!r})\n"  # no hook

    def run(script, **environment):
        env = {name: value for name, value in os.environ.items() if name != "ISRHT_KERNEL"} | environment
        command = [sys.executable, "-W", "always::RuntimeWarning", "-c", ours + script]
        return subprocess.run(command, env=env, capture_output=True, text=True)

    return run


def test_kernels_that_cannot_be_loaded_are_not_called_missing(broken):
    out = broken("from isrht import kernels; print(kernels.active()); print(kernels.FAULT)")
    assert out.returncode == 0, out.stderr
    active, fault = out.stdout.splitlines()
    assert active == "numpy"
    assert "_core" in fault
    assert out.stderr.count("RuntimeWarning") == 1
    assert f"the compiled kernels of isrht cannot be loaded ({fault}): NumPy serves" in out.stderr
    assert "compiler" not in out.stderr


def test_info_says_why_kernels_cannot_be_loaded(broken):
    out = broken("from isrht.__main__ import main; main(['info'])", ISRHT_KERNEL="numpy")
    assert "compiled kernels   cannot be loaded: " in out.stdout
    assert out.stderr == ""


def test_asked_for_by_name_they_are_an_error_with_the_reason(broken):
    out = broken("from isrht import kernels", ISRHT_KERNEL="baseline")
    assert "ValueError: ISRHT_KERNEL='baseline' is not available" in out.stderr
    assert "choose one of numpy (the compiled kernels cannot be loaded: " in out.stderr


def test_another_module_that_kernels_miss_is_not_their_own():
    blocked = WITHOUT_CORE.replace("name=name)", "name='other')")
    script = blocked + "from isrht import kernels; print(kernels.FAULT)"
    command = [sys.executable, "-W", "ignore::RuntimeWarning", "-c", script]
    env = {name: value for name, value in os.environ.items() if name != "ISRHT_KERNEL"}
    assert subprocess.run(command, env=env, capture_output=True, text=True).stdout != "None\n"


def test_files_are_read_without_compiled_parser(tmp_path):
    path = tmp_path / "set.svm"
    path.write_text("1 1:2 3:4\n-1 2:5\n")
    script = f"from isrht.files import read_rows; X, y, _ = read_rows({str(path)!r}); print(X.toarray().tolist(), y)"
    out = run_without_core(script, ISRHT_KERNEL="numpy")
    assert (out.stdout.strip(), out.stderr) == ("[[2.0, 0.0, 4.0], [0.0, 5.0, 0.0]] [ 1. -1.]", "")


@pytest.mark.parametrize("name", ["avx2", "baseline"])
def test_compiled_kernels_asked_for_by_name_are_an_error(name):
    out = run_without_core("from isrht import fwht", ISRHT_KERNEL=name)
    assert out.returncode != 0
    assert out.stderr.splitlines()[-1] == (
        f"ValueError: ISRHT_KERNEL='{name}' is not available here: choose one of numpy"
    )
