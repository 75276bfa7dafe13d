"""No estimator accepts a parameter that is wrong, whether or not its other parameters make use of it."""

import numpy as np
import pytest

from fuzz.parameters import PARAMETERS
from isrht import ISRHTClassifier

X = np.random.default_rng(0).normal(size=(40, 6))
Y = (X[:, 0] > 0).astype(int)
WAYS = [(kind, {}) for kind in PARAMETERS] + [
    (ISRHTClassifier, {"selection": selection, "C": C})
    for selection in ("boosted", "supervised", "top", "importance", "uniform")
    for C in ("cv", 1.0)
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("kind", "others"), WAYS, ids=lambda way: getattr(way, "__name__", None) or "-".join(map(str, way.values()))
)
def test_an_illegal_parameter_is_an_error(kind, others):
    accepted = []
    for name, values in PARAMETERS[kind].items():
        for value in values.illegal:
            try:
                kind(**others | {name: value}).fit(X, Y)
            except (TypeError, ValueError):
                continue
            accepted.append((name, value))
    assert not accepted
