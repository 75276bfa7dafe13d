"""Improved subsampled randomized Hadamard transforms for linear classification.

The data flow, and the modules in which it happens::

    load -> scale -> rotate  -> measure    -> score  -> select    -> project    -> classify        -> report
    datasets         rotation   statistics    scores    selection    projection    svm, classifier    report

Names are imported when they are first used (PEP 562): the command line's ``--help`` does not wait for scikit-learn.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "ISRHT": "projection",
    "BoostedISRHT": "boosting",
    "HadamardFourierFeatures": "fourier",
    "ISRHTClassifier": "classifier",
    "LeverageScoreSelection": "leverage",
    "LinearSVM": "svm",
    "LinearSVMCV": "svm",
    "Predictor": "serving",
    "RowSource": "sources",
    "SparseEmbedding": "embedding",
    "fwht": "hadamard",
    "load": "persistence",
    "make_projection": "methods",
    "save": "persistence",
}

__all__ = [
    "ISRHT",
    "BoostedISRHT",
    "HadamardFourierFeatures",
    "ISRHTClassifier",
    "LeverageScoreSelection",
    "LinearSVM",
    "LinearSVMCV",
    "Predictor",
    "RowSource",
    "SparseEmbedding",
    "fwht",
    "load",
    "make_projection",
    "save",
]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
