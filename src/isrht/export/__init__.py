"""Hand a trained classifier to other programs: LIBLINEAR, ONNX runtimes, plain scikit-learn, C.

Projection and SVM are linear, so a classifier is one weight per original feature and class, an intercept and labels
(:mod:`isrht.export._folded`). That is what all targets are given, except ONNX with ``unfolded=True``, which is given the
signs, Hadamard factors, columns and SVM one by one. One file per target; each is imported when it is asked for.
"""

from __future__ import annotations

import os
from importlib import import_module

from isrht.support.atomic_writes import replaced_when_whole

# Target -> the module that makes its bytes, and how the names of such files end.
TARGETS = {
    "liblinear": ("_liblinear", ".liblinear"),
    "onnx": ("_onnx_graph", ".onnx"),
    "sklearn": ("_sklearn_pickle", ".trusted-only.pkl"),
    "c": ("_c_header", ".h"),
}


class ExportError(ValueError):
    """This model cannot be given to this target; says why, and what would help."""


def export_model(model, path, to, *, unfolded=False):
    """Write a fitted classifier for another program, whole or not at all.

    Parameters
    ----------
    model : ISRHTClassifier, LinearSVM or LinearSVMCV
    path : str or path-like
        An existing file is replaced in one step. The stem of a C header's name is the prefix of its functions.
    to : {"liblinear", "onnx", "sklearn", "c"}
    unfolded : bool, default=False
        For ONNX: a graph of the steps (signs, Hadamard factors, chosen columns, SVM) instead of one product.

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
    module = import_module(f"{__name__}.{TARGETS[to][0]}")
    options = {"unfolded": unfolded} if to == "onnx" else {}
    chunks = module.chunks(model, os.fsdecode(path), **options)
    with replaced_when_whole(path) as file:
        file.writelines(chunks)


def default_path(model_path, to):
    """Where an export goes if nothing is said: beside the model, with the ending of the target."""
    return os.path.splitext(os.fsdecode(model_path))[0] + TARGETS[to][1]
