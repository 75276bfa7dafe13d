"""The numbers and model files in the repository, which hold on every machine, to rounding.

``expected.json`` has a line for every fact of every configuration. ``models/`` has the files of some, as they were
first written: a later version of the package must load them and give the same numbers. So :func:`rewrite` leaves alone
whatever still agrees, and a file that does not load any more is an error, not a reason to replace it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import isrht

from .configurations import MODELS, transforms
from .facts import facts_in_files, facts_of

HERE = Path(__file__).parent
EXPECTED = HERE / "expected.json"
FOLDER = HERE / "models"
# Differences of sums in another order, in units of the largest number of a fact.
ROUNDING = {"float64": 1e-6, "float32": 1e-5}
# Numbers that are chosen from a list, or given.
CHOSEN = ("C_", "Cs_", "threshold_")
DIGITS = 8
WITH_FILES = (
    *("isrht-uniform", "isrht-importance", "isrht-importance-once", "isrht-top-share", "isrht-top-centred"),
    *("isrht-supervised", "isrht-supervised-weighted", "isrht-sketched", "isrht-in-three-blocks"),
    *("embedding-random", "embedding-signs", "embedding-z", "leverage", "fourier", "fourier-candidates", "rotation"),
    *("boosted-auto", "boosted-z", "boosted-signs", "boosted-three-classes", "boosted-contrasts", "boosted-wide"),
    *("boosted-weighted", "svm", "svm-float32", "svm-wide", "svm-ten-classes", "svm-weighted", "svm-cv", "svm-cv-f1"),
    *("svm-cv-given-splits", "svm-cv-mean-of-folds", "svm-cv-weighted", "classifier-supervised", "classifier-given-c"),
    *("classifier-supervised-sparse", "classifier-top-minmax", "classifier-sketched", "classifier-boosted"),
    *("classifier-boosted-weighted", "classifier-weighted", "pipeline", "projection-gaussian", "projection-achlioptas"),
    *("projection-pca",),
)


def model_path(name):
    return FOLDER / f"{name}.isrht"


def fresh_facts(name):
    """Return what the configuration gives today; ``fwht`` is one too."""
    if name == "fwht":
        return transforms()
    return _facts(MODELS[name], MODELS[name].fitted())


def facts_from_file(name):
    """Return what the model in the repository gives today."""
    return _facts(MODELS[name], isrht.load(model_path(name)))


def _facts(configuration, model):
    with configuration.held_out() as X:
        return facts_of(model, X)


def read_expected():
    return json.loads(EXPECTED.read_text())


def differences(expected, facts):
    """Return a line for each fact that is not as expected."""
    lines = [f"{name} is missing" for name in expected if name not in facts]
    lines += [f"{name} is new" for name in facts if name not in expected]
    for name in expected.keys() & facts.keys():
        if difference := _difference(name, *expected[name], facts[name]):
            lines.append(f"{name} {difference}")
    return sorted(lines)


def _difference(name, kind, values, fact):
    values = np.array(values)
    if kind != _kind(fact):
        return f"is of type {_kind(fact)}, not {kind}"
    if values.shape != fact.shape:
        return f"has shape {fact.shape}, not {values.shape}"
    if kind not in ROUNDING or _is_chosen(name):
        return None if np.array_equal(values, fact) else f"is {fact}, not {values}"
    if not np.array_equal(np.isnan(values), np.isnan(fact)):
        return f"is {fact}, not {values}"
    largest, error = np.nanmax(np.abs(values), initial=0), np.nanmax(np.abs(values - fact), initial=0)
    return None if error <= ROUNDING[kind] * largest else f"differs by {error:.3g}, where the largest is {largest:.3g}"


def _coded(name, fact):
    """Return a fact as JSON can hold it: its kind, and its values to some digits."""
    if fact.dtype.kind == "f" and not _is_chosen(name):
        fact = np.array([float(f"{value:.{DIGITS}g}") for value in fact.ravel().tolist()]).reshape(fact.shape)
    return fact.tolist()


def _kind(fact):
    return {"i": "integers", "u": "integers", "b": "booleans", "U": "text"}.get(fact.dtype.kind, fact.dtype.name)


def _is_chosen(name):
    return name.rsplit(".", 1)[-1] in CHOSEN


def rewrite():
    """Write anew what does not agree any more, and say what that was."""
    known = read_expected() if EXPECTED.exists() else {}
    expected = {}
    for name in (*MODELS, "fwht"):
        facts = fresh_facts(name)
        if name not in known or differences(known[name], facts):
            print(f"{name}: new numbers")
            known[name] = {fact: [_kind(values), _coded(fact, values)] for fact, values in facts.items()}
        expected[name] = known[name]
    _write_expected(expected)
    _rewrite_files(expected)


def _rewrite_files(expected):
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        if path.stem not in WITH_FILES:
            print(f"{path.name}: removed")
            path.unlink()
    for name in WITH_FILES:
        path = model_path(name)
        if not path.exists() or differences(facts_in_files(expected[name]), facts_from_file(name)):
            print(f"{path.name}: written")
            isrht.save(MODELS[name].fitted(), path)


def _write_expected(expected):
    """Write a line for every fact, so that a change can be read as such."""
    configurations = []
    for name, facts in expected.items():
        lines = [f"{json.dumps(fact)}: {json.dumps(coded, separators=(',', ':'))}" for fact, coded in facts.items()]
        configurations.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n}")
    EXPECTED.write_text("{\n" + ",\n".join(configurations) + "\n}\n")
