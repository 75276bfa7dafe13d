"""Build the source archive and the wheels of this machine, inspect them, and test them where nothing else is.

``make wheel`` runs it. Every CPython from 3.11 on that is found in PATH or below pyenv's folder takes part: 3.11 and
Pythons without their lock build wheels of their own, the oldest of the others builds the wheel with the stable ABI, and
all of them test the wheel that is meant for them, with the newest packages and with the oldest that are allowed; the
thousands of tests of kernels, which know nothing of other packages, run once for each wheel. ``--inspect FOLDER`` looks
at wheels that others have built, on any system; ``make wheels-of-ci`` runs that.

What is promised and checked: the source archive builds without git; without a compiler it becomes the wheel without
kernels; two builds have the same bytes; a wheel is smaller than 1.2 MB and has the licences of what it contains.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "wheels"
DIST = ROOT / "dist"
OLDEST = (3, 11)
STABLE = (3, 12)
# What is tested of each wheel, once: that its kernels are what their twins say.
KERNEL_TESTS = ("tests/kernels", "tests/transform")
# What is tested of it with every Python and all packages: that a model can be trained, checked, saved and served.
TESTS = (
    "tests/transform/test_hadamard.py",
    "tests/linear/test_svm.py",
    "tests/models/test_predictor.py",
    "tests/models/test_model_file.py",
)
TEST_PACKAGES = ("pytest>=8", "hypothesis>=6.100")
TOOLS = Path(sys.executable).parent
QUESTION = (
    "import sys, sysconfig as s; print(*sys.version_info[:2], int(bool(s.get_config_var('Py_GIL_DISABLED'))), "
    "sys.implementation.name, sys.version_info.releaselevel)"
)


@dataclass(frozen=True)
class Interpreter:
    """A Python that is installed on this machine."""

    version: tuple[int, int]
    free_threaded: bool
    path: str

    @property
    def name(self):
        return f"{self.version[0]}.{self.version[1]}{'t' if self.free_threaded else ''}"

    @property
    def tag(self):
        """What the names of its wheels begin with: its own tag, or that of the first Python with the stable ABI."""
        own = self.free_threaded or self.version < STABLE
        version = self.version if own else STABLE
        abi = f"cp{version[0]}{version[1]}" if own else "abi3"
        return f"cp{version[0]}{version[1]}-{abi}{'t' if self.free_threaded else ''}"


def interpreters():
    """Return every CPython that can take part, one for each version."""
    found = {}
    for path in _candidates():
        done = subprocess.run([path, "-c", QUESTION], capture_output=True, text=True)
        major, minor, free, kind, level = done.stdout.split() if done.returncode == 0 else (0, 0, 0, "", "")
        python = Interpreter((int(major), int(minor)), free == "1", str(path))
        if kind == "cpython" and level == "final" and python.version >= OLDEST:
            found.setdefault(python.name, python)
    return sorted(found.values(), key=lambda python: (python.version, python.free_threaded))


def _candidates():
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    folders += sorted(pyenv.glob("*/bin"))
    name = re.compile(r"python3\.\d+t?(\.exe)?")
    for folder in folders:
        if folder.is_dir() and folder.name != "shims":
            yield from sorted(path for path in folder.iterdir() if name.fullmatch(path.name))


def run(*command, **options):
    print("+", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **options)


def reproducible():
    """Return the environment of a build whose bytes follow from the commit: its time stands for all times."""
    git = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return os.environ | {"SOURCE_DATE_EPOCH": git.stdout.strip() or "315532800"}


def build_sdist(folder):
    """Build the source archive and return its path."""
    run(TOOLS / "python", "-m", "build", "--sdist", "--outdir", folder, ROOT, env=reproducible())
    return next(Path(folder).glob("*.tar.gz"))


def build_wheel(sdist, python, folder, **variables):
    """Build a wheel from the source archive, away from the repository, so that git tells it nothing."""
    with tempfile.TemporaryDirectory() as away:
        shutil.unpack_archive(sdist, away, filter="data")
        command = [TOOLS / "uv", "build", "--wheel", "--python", python.path, "--out-dir", folder]
        run(*command, next(Path(away).iterdir()), env=reproducible() | variables, cwd=away)
    return max(Path(folder).glob("*.whl"), key=lambda path: path.stat().st_mtime)


def repaired(wheel, folder):
    """Return the wheel, packed; on Linux under the name of the oldest system that it runs on."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        if sys.platform == "linux":
            run(TOOLS / "auditwheel", "repair", "-w", place, wheel, env=reproducible() | {"PATH": _path_with_tools()})
        else:
            shutil.copy(wheel, place)
        run(TOOLS / "python", ROOT / "tools" / "pack_wheel.py", place)
        return Path(shutil.move(next(Path(place).glob("*.whl")), folder))


def _path_with_tools():
    return os.pathsep.join([str(TOOLS), os.environ.get("PATH", "")])


def inspect(wheel):
    """Look at a wheel with the tools for it; a fault ends the program.

    They are called as modules, because on Windows commands are not beside the interpreter.
    """
    run(sys.executable, "-m", "twine", "check", "--strict", wheel)
    run(sys.executable, "-m", "check_wheel_contents", wheel)
    if "-abi3-" in wheel.name:
        run(sys.executable, "-m", "abi3audit", "--strict", "--report", wheel)
    size = wheel.stat().st_size
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        unpacked = sum(member.file_size for member in archive.infolist())
    licences = [name.rpartition("/")[2] for name in names if "/licenses/" in name and not name.endswith("/")]
    print(f"{wheel.name}: {size:,} bytes, {unpacked:,} unpacked, licences: {', '.join(sorted(licences))}")
    demand({"LICENSE", "nanobind.txt", "robin-map.txt"} <= set(licences), f"{wheel.name} lacks licences")
    demand(any(name.endswith("py.typed") for name in names), f"{wheel.name} has no py.typed")
    demand(any(name.endswith("_core.pyi") for name in names), f"{wheel.name} has no stub of its kernels")


def inspect_all(folder):
    """Look at every wheel of a folder."""
    wheels = sorted(Path(folder).glob("*.whl"))
    demand(wheels, f"there is no wheel in {folder}")
    for wheel in wheels:
        inspect(wheel)


def test(wheel, python, resolution, tests):
    """Install a wheel where nothing else is, with the newest or the lowest packages, and run tests with it."""
    place = WORK / f"test-{python.name}-{resolution}"
    run(TOOLS / "uv", "venv", "--quiet", "--clear", "--python", python.path, place)
    command = [TOOLS / "uv", "pip", "install", "--quiet", "--python", place, "--only-binary", ":all:"]
    run(*command, "--resolution", resolution, f"{wheel}[cli]", *required(), *test_packages(python))
    inside = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    with tempfile.TemporaryDirectory() as away:  # so that the installed package is tested, not the sources
        for name in ("pyproject.toml", "tests", "core"):
            (shutil.copy if name.endswith("toml") else shutil.copytree)(ROOT / name, Path(away, name))
        run(inside, "-c", "import isrht.kernels._core, isrht; print(isrht.__file__)", cwd=away)
        run(inside, "-m", "isrht", "info", cwd=away)
        # The oldest packages call what the newest Pythons advise against.
        lenient = () if resolution == "highest" else ("-W", "ignore::DeprecationWarning")
        run(inside, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *lenient, *tests, cwd=away)


def required():
    """Return what the package requires. Of what only a wheel requires, uv would not take the lowest version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["cli"]]


def test_packages(python):
    """Return what the tests import, which takes more of a Python without its lock.

    pandas before 3 would take the lock again, and polars has no wheels there, so that its tests are skipped.
    """
    frames = ("pandas>=3",) if python.free_threaded else ("pandas>=2.2", "polars>=1")
    return (*TEST_PACKAGES, *frames)


def test_without_compiler(sdist, python):
    """Build the source archive where every compiler fails: the wheel has no kernels, and NumPy serves."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(sdist, python, folder, CXX="/bin/false", CC="/bin/false")
        demand(wheel.name.endswith("-py3-none-any.whl"), f"without a compiler {wheel.name} was built")
        place = WORK / "test-numpy"
        run(TOOLS / "uv", "venv", "--quiet", "--clear", "--python", python.path, place)
        run(TOOLS / "uv", "pip", "install", "--quiet", "--python", place, wheel)
        code = "import isrht, isrht.kernels as k; assert k.active() == 'numpy'; print(isrht.fwht([1.0, 0.0, 1.0, 0.0]))"
        run(place / "bin" / "python", "-W", "ignore", "-c", code, cwd=folder)


def test_same_bytes(sdist, finished, builders):
    """Build and repair all again, elsewhere, and compare the bytes of what would be published."""
    with tempfile.TemporaryDirectory() as folder:
        again = build_sdist(Path(folder, "sdist"))
        same = {sdist: again}
        for python in builders:
            raw = build_wheel(again, python, Path(folder, "raw", python.name))
            same[finished[python.tag]] = repaired(raw, Path(folder, python.name))
        for first, second in same.items():
            demand(digest(first) == digest(second), f"{first.name} differs between two builds")
            print(f"{first.name}: the same bytes twice, SHA-256 {digest(first)}")


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def demand(holds, problem):
    if not holds:
        raise SystemExit(f"wheels: {problem}")


def main():
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--untested", action="store_true", help="build and inspect only")
    parser.add_argument("--inspect", metavar="FOLDER", help="build nothing, and inspect the wheels that are there")
    options = parser.parse_args()
    if options.inspect:
        return inspect_all(options.inspect)
    pythons = interpreters()
    demand(pythons, f"there is no CPython from {'.'.join(map(str, OLDEST))} on")
    builders = list({python.tag: python for python in reversed(pythons)}.values())[::-1]
    print("found:", ", ".join(python.name for python in pythons), "| builds:", ", ".join(b.tag for b in builders))
    for folder in (WORK, DIST):
        shutil.rmtree(folder, ignore_errors=True)
    sdist = build_sdist(DIST)
    run(TOOLS / "twine", "check", "--strict", sdist)
    raw = [build_wheel(sdist, python, WORK / "raw" / python.name) for python in builders]
    finished = {b.tag: repaired(wheel, DIST) for b, wheel in zip(builders, raw, strict=True)}
    inspect_all(DIST)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"].get("version")
    demand(version is None, "the version stands in src/isrht/__init__.py only")
    if options.untested:
        return
    test_same_bytes(sdist, finished, builders)
    test_without_compiler(sdist, pythons[0])
    for python in pythons:
        more = KERNEL_TESTS if python in builders else ()
        test(finished[python.tag], python, "highest", (*TESTS, *more))
        test(finished[python.tag], python, "lowest-direct", TESTS)


if __name__ == "__main__":
    main()
