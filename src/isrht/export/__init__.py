"""Hand a trained classifier to other programs: LIBLINEAR, ONNX runtimes, plain scikit-learn, C.

Projection and SVM are linear, so a classifier is one weight for every original feature and class, intercepts, and
labels (:mod:`~isrht.export._feature_weights`). This is what all targets are given, except ONNX with ``unfolded=True``,
which is given the signs, Hadamard factors, columns and SVM one by one. Every target has a file of its own
(:mod:`~isrht.export._liblinear`, :mod:`~isrht.export._onnx_graph`, :mod:`~isrht.export._sklearn_pickle`,
:mod:`~isrht.export._c_header`), which :mod:`~isrht.export.targets` imports when it is asked for.

The room uses ``boosting``, ``linear`` and ``support``; ``cli`` uses it.
"""

from isrht.export._errors import ExportError
from isrht.export.targets import TARGETS, default_path, export_model

__all__ = ["TARGETS", "ExportError", "default_path", "export_model"]
