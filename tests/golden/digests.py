"""Digests of everything that a model gives, and model files, which hold on one machine, to the bit.

They are for work on the code that should change no model: written before, checked after, in a folder that is not in the
repository, because the last bits depend on the processor and on BLAS.
"""

from __future__ import annotations

import hashlib
import json
import platform
from pathlib import Path

import numpy as np
import scipy
import sklearn
import threadpoolctl

import isrht

from .configurations import MODELS, transforms
from .facts import facts_of, further_facts_of


def write(folder):
    """Write digests and model files of all configurations to ``folder``."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    digests = {"fwht": _digests(transforms())}
    for name, configuration in MODELS.items():
        model = configuration.fitted()
        isrht.save(model, _model_path(folder, name))
        digests[name] = _digests_of(configuration, model, isrht.load(_model_path(folder, name)))
    written = {"machine": _machine(), "digests": digests}
    _digests_path(folder).write_text(json.dumps(written, indent=1))
    print(f"{len(digests)} configurations: {folder}")


def check(folder):
    """Return whether all configurations are equal to the bit to those in ``folder``; print those that are not."""
    folder = Path(folder)
    written = json.loads(_digests_path(folder).read_text())
    if written["machine"] != _machine():
        print(f"the digests are of another machine, so bits may differ:\n{written['machine']}\n{_machine()}")
    digests, n_different = written["digests"], 0
    for name in dict.fromkeys([*digests, "fwht", *MODELS]):
        different = _differences(folder, name, digests.get(name, {}))
        n_different += bool(different)
        for what in different:
            print(f"{name}: {what}")
    print(f"{n_different} of {len(digests)} configurations differ" if n_different else f"all {len(digests)} are equal")
    return not n_different


def _digests_today(folder, name):
    if name == "fwht":
        return _digests(transforms())
    if name not in MODELS or not _model_path(folder, name).exists():
        return {}
    configuration = MODELS[name]
    return _digests_of(configuration, configuration.fitted(), isrht.load(_model_path(folder, name)))


def _digests_of(configuration, model, loaded):
    """Return the digests of what a fresh model gives, and of what one from a file does."""
    with configuration.held_out() as X:
        facts = facts_of(model, X) | further_facts_of(model, configuration.sample.held_out.X)
        from_file = facts_of(loaded, X)
    return _digests(facts | {f"{name}, from a file": fact for name, fact in from_file.items()})


def _digests(facts):
    return {name: _digest(fact) for name, fact in facts.items()}


def _digest(fact):
    described = f"{fact.dtype.str} {fact.shape} ".encode()
    return hashlib.sha256(described + np.ascontiguousarray(fact).tobytes()).hexdigest()


def _differences(folder, name, before):
    """Return the facts that differ, or the error because of which there are none: the other models still matter."""
    try:
        now = _digests_today(folder, name)
    except Exception as error:
        return [repr(error)]
    return sorted(fact for fact in before.keys() | now.keys() if before.get(fact) != now.get(fact))


def _machine():
    libraries = [library for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "blas": sorted({f"{library['version']} {library.get('architecture')}" for library in libraries}),
    }


def _digests_path(folder):
    return folder / "digests.json"


def _model_path(folder, name):
    return folder / f"{name}.isrht"
