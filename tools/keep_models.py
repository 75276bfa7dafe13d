"""Write the model files of a release, which all later releases must read, into tests/models/files.

One file for each class that a file of ours can hold, fitted to the iris. ``about`` has what the model said of the first
row then, which ``tests/models/test_old_files.py`` compares with what it says now. Files that are there already stay as
they are: they are of the release that their name tells.
"""

from __future__ import annotations

from pathlib import Path

from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris

import isrht

FILES = Path(__file__).parents[1] / "tests" / "models" / "files"


def models():
    """Return a small model of every estimator that the package offers, by name of its class."""
    parameters = {"n_components": 3, "random_state": 0}
    found = {}
    for name in sorted(isrht.__all__):
        kind = getattr(isrht, name)
        if isinstance(kind, type) and issubclass(kind, BaseEstimator):
            known = kind().get_params()
            found[name] = kind(**{key: value for key, value in parameters.items() if key in known})
    return found


def keep(folder=FILES):
    """Write the files that are not there yet, and return their paths."""
    X, y = load_iris(return_X_y=True)
    written = []
    for name, model in models().items():
        path = Path(folder, f"{name}-{isrht.__version__}.isrht")
        if not path.exists():
            model.fit(X, y)
            method = "decision_function" if hasattr(model, "decision_function") else "transform"
            isrht.save(model, path, about={method: getattr(model, method)(X[:1]).tolist()})
            written.append(path)
    return written


if __name__ == "__main__":
    for path in keep():
        print(path)
