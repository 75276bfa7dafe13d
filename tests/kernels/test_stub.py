"""The stub of the compiled module, which nanobind makes when it is built, and the twins have the same signatures."""

import ast
import inspect
from pathlib import Path

import pytest

from isrht import kernels
from isrht.kernels import _reference

STUB = Path(kernels._core.__file__).with_name("_core.pyi") if kernels._core else Path("_core.pyi")

pytestmark = pytest.mark.skipif(not STUB.exists(), reason="no compiled kernels, or built without a stub (sanitizers)")


@pytest.fixture(scope="module")
def stub():
    """Return the definitions in the stub by name; overloads differ in types alone."""
    tree = ast.parse(STUB.read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def names_of_arguments(function):
    return [argument.arg for argument in function.args.args]


def test_the_stub_has_every_name_of_the_module(stub):
    assert set(stub) == {name for name in dir(kernels._core) if not name.startswith("_")}


def test_the_twins_have_the_arguments_of_the_kernels(stub):
    for name in _reference.__all__:
        if isinstance(stub[name], ast.FunctionDef):
            twin = inspect.signature(getattr(_reference, name))
            assert list(twin.parameters) == names_of_arguments(stub[name]), name


def test_the_twin_of_the_parser_has_its_methods_and_properties(stub):
    for member in stub["LibsvmParser"].body:
        assert hasattr(_reference.LibsvmParser(1, 0, 100), member.name), member.name


def test_no_kernel_takes_more_than_seven_arguments(stub):
    for definition in stub.values():
        for function in ast.walk(definition):
            if isinstance(function, ast.FunctionDef):
                assert len(names_of_arguments(function)) <= 7, function.name


def test_records_are_imported_by_the_stub():
    assert "import isrht.kernels.records\n" in STUB.read_text()
