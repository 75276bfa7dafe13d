"""A function that takes many arguments hides a record: none takes more than seven.

Constructors of estimators and commands of the command line are free, because their arguments are what users set one by
one.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "isrht"
MOST = 7
# A name, its arguments in parentheses that may hold others, and the body that makes it a definition.
DEFINITION = re.compile(r"\b(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*(?:const\s*)?(?:noexcept\s*)?\{")
NO_FUNCTIONS = ("if", "for", "while", "switch", "catch")


def functions_of(tree, owner=None):
    """Yield every function below a node of a syntax tree, with the class that it belongs to, or None."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, owner
        yield from functions_of(node, node if isinstance(node, ast.ClassDef) else None)


def python_functions():
    """Yield the place, the function and the class, or None, of all functions of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for function, owner in functions_of(ast.parse(path.read_text(encoding="utf-8"))):
            yield path.relative_to(PACKAGE).as_posix(), function, owner


def n_arguments(function):
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def is_free(place, function, owner):
    """Say whether users set the arguments one by one: in a constructor of an estimator, or in a command."""
    if owner is not None:
        methods = {node.name for node in owner.body if isinstance(node, ast.FunctionDef)}
        return function.name == "__init__" and "fit" in methods
    return place == f"cli/{function.name}.py"


def test_no_python_function_takes_many_arguments():
    found = {}
    for place, function, owner in python_functions():
        if n_arguments(function) > MOST and not is_free(place, function, owner):
            found.setdefault(place, set()).add(function.name)
    assert not found, "make a record of what belongs together"


def test_python_functions_are_found_and_counted():
    found = {(place, function.name): n_arguments(function) for place, function, _ in python_functions()}
    assert found["classifier.py", "__init__"] > MOST
    assert found["cli/train.py", "train"] > MOST
    assert found["classifier.py", "fit"] == 4


def cpp_functions(text):
    """Yield the names and numbers of arguments of all functions that are defined in a text of C++."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    for name, arguments in DEFINITION.findall(text):
        while (flat := re.sub(r"<[^<>]*>|\([^()]*\)|\{[^{}]*\}", "", arguments)) != arguments:
            arguments = flat
        if name not in NO_FUNCTIONS:
            yield name, arguments.count(",") + bool(arguments.strip())


def test_no_cpp_function_takes_many_arguments():
    files = sorted((ROOT / "core").rglob("*.?pp"))
    found = [(path.name, *each) for path in files for each in cpp_functions(path.read_text(encoding="utf-8"))]
    assert len(found) > 200
    assert [each for each in found if each[-1] > MOST] == []


def test_cpp_functions_are_found_and_counted():
    text = "void f(int a, std::map<int, int> b, void (*c)(int, int)) const {} // g(1, 2) {\nint h() { if (a, b) {} }"
    assert list(cpp_functions(text)) == [("f", 3), ("h", 0)]
