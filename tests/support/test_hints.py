"""Everything public has hints, on every parameter and on what it returns, and they can be read at run time."""

import inspect
import typing
from functools import cached_property

import pytest

import isrht

ROOMS = ("datasets", "export", "files", "models", "plot", "transform")
# Where other projects say what the parameters are: scikit-learn's own mixins have no hints.
INHERITED = ("sklearn", "builtins", "abc")
# Methods by which the rooms of the package talk to each other; users need none of them.
FOR_OTHER_ROOMS = (
    "fit_checked",
    "fit_folds",
    "project",
    "to_features",
    "component_sizes",
    "matrix",
    "coded_labels",
    "take_findings",
)
FOR_OTHER_ROOMS += ("header",)


def public_callables():
    """Yield the name and the function of everything public that can be called: functions, constructors, methods."""
    names = [(name, getattr(isrht, name)) for name in isrht.__all__ if name not in ROOMS]
    for room in ROOMS:
        names += [(f"{room}.{name}", getattr(getattr(isrht, room), name)) for name in getattr(isrht, room).__all__]
    for name, value in names:
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value) and not issubclass(value, tuple):
            yield from ((f"{name}.{method}", function) for method, function in public_methods(value))


def public_methods(kind):
    for name in dir(kind):
        if (name.startswith("_") and name != "__init__") or name in FOR_OTHER_ROOMS:
            continue
        value = inspect.getattr_static(kind, name)
        value = value.fget if isinstance(value, property) else value
        value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        value = value.func if isinstance(value, cached_property) else value
        value = getattr(value, "fn", value)  # what is available only with some parameters
        if inspect.isfunction(value) and not is_inherited(kind, value):
            yield name, value


def is_inherited(kind, method):
    """Say whether a method comes from scikit-learn, or from what sources of rows have in common."""
    is_common = kind is isrht.RowSource and method.__module__ != kind.__module__
    return is_common or method.__module__.startswith(INHERITED)


@pytest.mark.parametrize(("name", "function"), sorted(set(public_callables()), key=lambda pair: pair[0]))
def test_all_parameters_and_results_have_hints(name, function):
    signature = inspect.signature(function)
    without = [
        p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")
    ]
    assert without == [], f"{name} has parameters without hints"
    assert signature.return_annotation is not signature.empty, f"{name} does not say what it returns"
    typing.get_type_hints(function)


def test_the_callables_are_found():
    names = dict(public_callables())
    assert {"fwht", "ISRHTClassifier.__init__", "LinearSVM.predict", "files.open_rows", "RowSource.shape"} <= set(names)
    assert {"ISRHT.partial_fit", "plot.ReliabilityDisplay.from_estimator", "plot.ReliabilityDisplay.plot"} <= set(names)
