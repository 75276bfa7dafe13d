"""The reference has everything that is public, and nothing that is not there."""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import isrht

ROOT = Path(__file__).parents[2]
CONTRACT = ("fit", "partial_fit", "transform", "inverse_transform", "predict", "predict_proba", "predict_log_proba",
            "decision_function", "score")  # fmt: skip
GIVEN = {"isrht.files.FileRows"}  # users get it from a function, and never construct it


def extension(name):
    """Return a module of docs/_ext, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def shown():
    groups = extension("public_names").public_names()
    return [name for group in groups.values() for name in group]


def test_every_public_name_is_shown_once(shown):
    assert len(shown) == len(set(shown))
    for name in isrht.__all__:
        thing = getattr(isrht, name)
        inner = [f"isrht.{name}.{one}" for one in getattr(thing, "__all__", ())]
        elsewhere = {f"isrht.{one}" for one in isrht.__all__}
        for full in inner or [f"isrht.{name}"]:
            assert full in shown or f"isrht.{full.rpartition('.')[2]}" in elsewhere, (
                f"the reference does not have {full}"
            )


def test_every_shown_name_is_there_and_described(shown):
    for full in shown:
        module_name, _, name = full.rpartition(".")
        thing = getattr(importlib.import_module(module_name), name)
        assert thing.__doc__, f"{full} has no docstring"


def undescribed(function, text):
    """Return the parameters of a function that a docstring does not describe, by the rules of numpydoc."""
    parameters = inspect.signature(function).parameters.values()
    named = [one.name for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    described = re.findall(r"^ *((?:\*?\w+, )*\*?\w+)(?: :.*)?$", text or "", re.MULTILINE)
    known = {name for line in described for name in line.replace("*", "").split(", ")}
    return [name for name in named if name != "self" and name not in known]


def test_every_parameter_of_a_public_class_or_function_is_described(shown):
    for full in set(shown) - GIVEN:
        module_name, _, name = full.rpartition(".")
        thing = getattr(importlib.import_module(module_name), name)
        if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Exception)):
            assert undescribed(thing, thing.__doc__) == [], full


def test_every_parameter_of_the_methods_of_scikit_learns_contract_is_described(shown):
    for full in shown:
        module_name, _, name = full.rpartition(".")
        thing = getattr(importlib.import_module(module_name), name)
        for method in CONTRACT if isinstance(thing, type) else ():
            function = getattr(thing, method, None)
            if inspect.isfunction(function) and function.__module__.startswith("isrht"):
                assert undescribed(function, inspect.getdoc(function)) == [], f"{full}.{method}"


def test_every_command_and_option_is_in_the_reference():
    commands = extension("commands")
    text = commands.reference_text()
    names = [name for name, _, _ in commands.all_commands()]
    assert {"train", "predict", "compare", "reproduce", "report", "data fetch"} <= set(names)
    for name, command, context in commands.all_commands():
        assert f"isrht {name}\n-" in text
        for parameter in command.get_params(context):
            assert all(option in text for option in parameter.opts), f"{name} {parameter.opts}"
