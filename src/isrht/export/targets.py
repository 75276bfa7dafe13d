"""The programs that a model can be written for, by name.

A target is a module with a function ``chunks(model, path)`` that yields the bytes of a file.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from isrht.export._errors import ExportError
from isrht.support.atomic_writes import replaced_when_whole
from isrht.support.hints import Path

# For every target the module that makes its bytes, and how the names of such files end.
TARGETS = {
    "liblinear": ("_liblinear", ".liblinear"),
    "onnx": ("_onnx_graph", ".onnx"),
    "sklearn": ("_sklearn_pickle", ".trusted-only.pkl"),
    "c": ("_c_header", ".h"),
}


def export_model(model: Any, path: Path, to: str, *, unfolded: bool = False) -> None:
    """Write a fitted classifier for another program, whole or not at all.

    Parameters
    ----------
    model : ISRHTClassifier, LinearSVM or LinearSVMCV
        The fitted classifier.
    path : str or path-like
        The file to write; an existing file is replaced in one step. The stem of a C header's name becomes the prefix of
        its functions.
    to : {"liblinear", "onnx", "sklearn", "c"}
        What to write: a LIBLINEAR model, an ONNX graph, a pickle of a scikit-learn pipeline, or a C header.
    unfolded : bool, default=False
        For ONNX: write a graph of the steps (signs, Hadamard factors, chosen columns, SVM) instead of one product.

    Returns
    -------
    None

    See Also
    --------
    isrht.save : Write a model file that isrht itself can load.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from isrht import LinearSVM
    >>> from isrht.export import export_model
    >>> model = LinearSVM().fit([[-2.0], [-1.0], [1.0], [2.0]], [-1, -1, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.liblinear")
    ...     export_model(model, path, "liblinear")
    ...     print(path.read_text().splitlines()[0])
    solver_type L2R_L2LOSS_SVC
    """
    if to not in TARGETS:
        raise ValueError(f"unknown target {to!r}: choose one of {', '.join(TARGETS)}")
    if unfolded and to != "onnx":
        raise ExportError(f"only onnx can hold the steps of a projection: {to} takes the folded weights")
    options = {"unfolded": unfolded} if to == "onnx" else {}
    chunks = _module(to).chunks(model, os.fsdecode(path), **options)
    with replaced_when_whole(path) as file:
        file.writelines(chunks)


def default_path(model_path: Path, to: str) -> str:
    """Return the path of an export for which none is given: beside the model, with the ending of the target.

    Parameters
    ----------
    model_path : path
        The model file.
    to : str
        The name of the target, one of :data:`TARGETS`.

    Returns
    -------
    path : str
    """
    return os.path.splitext(os.fsdecode(model_path))[0] + TARGETS[to][1]


def warning_about(to):
    """Return what those who use files of this target must know, or None."""
    return getattr(_module(to), "WARNING", None)


def _module(to):
    return import_module(f"isrht.export.{TARGETS[to][0]}")
