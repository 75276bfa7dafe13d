"""Mutation testing: change one thing in a module, and see whether its tests notice.

A mutant that no test notices is a survivor: either the change makes no difference that a user could see, or a test is
missing. ``make mutants MODULES=projections/scores`` makes all mutants of a module and runs, for each, the tests of its
twin (``tests/projections/test_scores.py``) and those that :data:`MORE_TESTS` adds, until the first one fails.

mutmut and cosmic-ray were not taken. The first copies the sources beside the tests, where the import hook of an
editable install with compiled kernels does not look; the second starts an interpreter for each mutant, which imports
NumPy, SciPy, scikit-learn and pytest anew: three seconds each. Here one process imports them once and every mutant is a
fork of it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import json
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "isrht"
RESULTS = ROOT / "build" / "mutants"
SECONDS = 120
# By the clock, tests may take this many times as long as by the processor.
PATIENCE = 10
# Tests beside the twin that are about what the module computes.
MORE_TESTS = {
    "linear/_conjugate": ["tests/linear/test_newton.py", "tests/linear/test_svm.py"],
    "linear/_descent": ["tests/linear/test_svm.py"],
    "linear/_exact": ["tests/linear/test_newton.py", "tests/linear/test_conjugate.py", "tests/linear/test_svm.py"],
    "linear/_newton": ["tests/linear/test_exact.py", "tests/linear/test_conjugate.py", "tests/linear/test_svm.py"],
    "linear/_objective": ["tests/linear/test_exact.py", "tests/linear/test_conjugate.py", "tests/linear/test_svm.py"],
    "linear/_wide": ["tests/linear/test_svm.py"],
    "projections/statistics": ["tests/projections/test_isrht.py"],
}

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.MatMult: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: the number of the node in the tree, which of its changes, and where and what it is."""

    node: int
    variant: int
    line: int
    change: str


def changes(node):
    """Yield changed copies of a node."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[place] = COMPARISONS[type(operator)]()
            yield changed
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        yield _with(node, op=OPERATORS[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield _with(node, body=node.orelse, orelse=node.body)
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield _with(node, value=ast.Constant(None))
    elif isinstance(node, ast.Constant):
        yield from _constants(node)


def _constants(node):
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
        if node.value not in (0, 1):
            yield ast.Constant(0)


def _with(node, **fields):
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def nodes(tree):
    """Return the nodes that may be changed, in a fixed order: not hints, and no texts."""
    found = []

    class Visitor(ast.NodeVisitor):
        def visit_AnnAssign(self, node):
            if node.value is not None:
                self.visit(node.value)

        def visit_arg(self, node):
            pass

        def visit_FunctionDef(self, node):
            for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
                self.visit(part)

        def visit_JoinedStr(self, node):
            pass  # words of messages are not tested letter by letter

        def visit_Raise(self, node):
            pass

        def generic_visit(self, node):
            found.append(node)
            super().generic_visit(node)

    Visitor().visit(tree)
    return found


def mutants_of(source):
    """Return all mutants of a source text."""
    return [
        Mutant(number, variant, node.lineno, f"{ast.unparse(node)}  ->  {ast.unparse(changed)}")
        for number, node in enumerate(nodes(ast.parse(source)))
        for variant, changed in enumerate(changes(node))
    ]


def mutated(source, mutant):
    """Return the tree of a source text with one change."""
    tree = ast.parse(source)
    target = nodes(tree)[mutant.node]
    changed = list(changes(target))[mutant.variant]

    class Replacer(ast.NodeTransformer):
        def visit(self, node):
            return ast.copy_location(changed, node) if node is target else super().visit(node)

    return ast.fix_missing_locations(Replacer().visit(tree))


class MutatedModule(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module as a changed tree, wherever it would have come from."""

    def __init__(self, name, path, tree):
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, name, path, target=None):
        return importlib.util.spec_from_loader(name, self, origin=str(self.path)) if name == self.name else None

    def exec_module(self, module):
        module.__file__ = str(self.path)
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def tests_of(module):
    room, _, name = module.rpartition("/")
    twin = f"tests/{room}/test_{name.lstrip('_')}.py"
    return [twin, *MORE_TESTS.get(module, [])]


def survives(module, tree, tests, seconds):
    """Run the tests of a module in a fork of this process; return whether all of them pass with the changed tree.

    The tests may take so many seconds of the processor: by the clock, a busy machine would end those that are well.
    """
    child = os.fork()
    if child == 0:
        _run_tests(module, tree, tests, seconds)
    end = time.monotonic() + PATIENCE * seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)  # a change that lets threads wait for each other is noticed, too
    os.waitpid(child, 0)
    return False


def _run_tests(module, tree, tests, seconds):
    code = 3
    try:
        import resource  # which only systems have that can fork

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        path = SOURCES / f"{module}.py"
        if tree is not None:
            sys.meta_path.insert(0, MutatedModule("isrht." + module.replace("/", "."), path, tree))
        import pytest

        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]))
    finally:
        os._exit(code)


def _seconds_of_children():
    used = os.times()
    return used.children_user + used.children_system


def import_what_tests_import():
    """Import what takes long, but nothing of the package, which every mutant must import anew."""
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import sklearn.datasets
    import sklearn.linear_model
    import sklearn.model_selection
    import sklearn.svm  # noqa: F401


def try_module(module, limit=None):
    """Make and try the mutants of a module; return those that survive and how many there were."""
    source, tests = (SOURCES / f"{module}.py").read_text(), tests_of(module)
    start = _seconds_of_children()
    if not survives(module, None, tests, SECONDS * 5):
        raise SystemExit(f"mutants: the tests of {module} fail without any change: {' '.join(tests)}")
    seconds = max(20, round(5 * (_seconds_of_children() - start)))
    mutants = mutants_of(source)
    if limit and len(mutants) > limit:
        mutants = mutants[:: -(-len(mutants) // limit)]
    survivors = []
    for number, mutant in enumerate(mutants, start=1):
        if survives(module, mutated(source, mutant), tests, seconds):
            survivors.append(mutant)
            print(f"  {module}.py:{mutant.line}: {mutant.change}", flush=True)
        if number % 50 == 0:
            print(f"  {module}: {number} of {len(mutants)}, {len(survivors)} survive", flush=True)
    return survivors, len(mutants)


def main():
    """Try the mutants of the modules that are named, and keep the survivors in build/mutants."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", nargs="+", help="such as projections/scores")
    parser.add_argument("--limit", type=int, help="try only so many mutants of each, evenly spread")
    options = parser.parse_args()
    os.chdir(ROOT)
    import_what_tests_import()
    RESULTS.mkdir(parents=True, exist_ok=True)
    for module in options.modules:
        survivors, total = try_module(module, options.limit)
        killed = total - len(survivors)
        print(f"{module}: {killed} of {total} mutants are noticed ({100 * killed / max(1, total):.0f} %)", flush=True)
        kept = {"module": module, "total": total, "survivors": [vars(mutant) for mutant in survivors]}
        (RESULTS / (module.replace("/", ".") + ".json")).write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
