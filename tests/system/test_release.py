"""What a release needs: one version, and workflows that are pinned, may do little, and call targets that exist."""

import ast
import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest

import isrht

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_file_has_the_version():
    version = tool("version")
    assert version.of_package() == isrht.__version__
    assert version.problems() == []
    assert "version" not in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_a_tag_of_another_version_is_refused():
    version = tool("version")
    assert version.problems("v99.0") == [
        f"the tag is v99.0, but the version is {isrht.__version__}",
        *version.problems(f"v{isrht.__version__}"),
    ]


def test_the_changelog_has_kinds():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    kinds = re.findall(r"^### (.+)$", changelog, re.MULTILINE)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert tool("version").sections_of_changelog()[0] == "Unreleased"


def test_workflows_are_found():
    assert {path.stem for path in WORKFLOWS} == {"tests", "nightly", "benchmark", "wheels", "codeql"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_digest(path):
    uses = re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))
    assert uses
    assert [use for use in uses if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", use)] == []


def test_an_action_has_one_digest():
    pins = {}
    for path in WORKFLOWS:
        for action, digest in re.findall(r"uses: ([\w-]+/[\w-]+)[\w/-]*@(\w+)", path.read_text(encoding="utf-8")):
            pins.setdefault(action, set()).add(digest)
    assert {action for action, digests in pins.items() if len(digests) > 1} == set()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_do_little(path):
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^permissions:\n  contents: read\n\n", text, re.MULTILINE)
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    assert "pull_request_target" not in text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_targets_that_exist(path):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = set(re.findall(r"run: make ([\w-]+)", path.read_text(encoding="utf-8")))
    assert called - targets == set()


def test_pinned_linters_are_those_of_pre_commit():
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["lint"]
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert {pin for pin in pins if f'"{pin}"' in hooks} == set(re.findall(r'\["(.+?)"\]', hooks))


def imported_by(path):
    """Return the names of packages without which a file of tests cannot be imported, those of its helpers included."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module.partition(".")[0])
    helpers = {name: ROOT / "tests" / "helpers" / f"{name}.py" for name in names}
    found = {name: imported_by(helper) if helper.exists() else {name} for name, helper in helpers.items()}
    return set().union(*found.values())


def test_tests_of_kernels_need_no_extra():
    """Environments of wheels, and of Pythons without their lock, have what the package requires, and pytest."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    folders = re.search(r"^THREADED_TESTS \?= (.+)$", makefile, re.MULTILINE)[1].split()
    packages = {"isrht", "numpy", "scipy", "sklearn", "joblib", "threadpoolctl", "pytest", "hypothesis"}
    files = [path for folder in folders for path in (ROOT / folder).rglob("test_*.py")]
    others = {path.name: imported_by(path) - packages - sys.stdlib_module_names for path in files}
    assert {name: missing for name, missing in others.items() if missing} == {}
