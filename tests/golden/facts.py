"""What is looked at in a fitted model: what it learned, and what it gives for rows that it has not seen."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

import isrht

LEARNED = (
    *("n_features_in_", "n_features_padded_", "n_components_", "classes_", "weight_unit_"),
    *("coef_", "intercept_", "C_", "Cs_", "scores_", "mean_scores_", "std_scores_"),
    *("signs_", "column_scores_", "selected_columns_", "column_scales_", "mean_", "offsets_"),
    *("components_", "magnitudes_", "leverage_", "gamma_", "scale_", "min_", "var_"),
    *("diagonal_", "threshold_", "rounds_", "has_signal_", "held_out_score_", "fold_scores_"),
    *("n_learned_", "mixing_", "column_rounds_"),
)
# What other facts imply, and takes many numbers.
IMPLIED = ("n_iter_", "selection_probabilities_", "phases_", "diagonals_")
PARTS = ("scaler_", "embedding_", "projection_", "svm_", "all_features_svm_")
GIVEN = ("transform", "decision_function", "predict", "predict_proba")
# A model file leaves out what the columns were selected by; and those of the first version have no probabilities.
NOT_IN_FILES = ("column_scores_", "predict_proba")
CLASSIFIERS = (isrht.LinearSVM, isrht.LinearSVMCV, isrht.ISRHTClassifier)


def facts_of(model, X):
    """Return by name what ``model`` has learned, and what it gives for ``X``, all as arrays."""
    given = {name: _as_array(getattr(model, name)(X)) for name in GIVEN if hasattr(model, name)}
    return _learned(model) | given


def facts_in_files(facts):
    """Return those facts that a model has also when it comes from a file."""
    return {name: fact for name, fact in facts.items() if name.rsplit(".", 1)[-1] not in NOT_IN_FILES}


def further_facts_of(model, X):
    """Return what is the same only on one machine, or too much to keep: steps, inverses, exports, what is served.

    ``X`` is in memory.
    """
    facts = _attributes(model, IMPLIED) | {"bytes of its file": file_bytes(model)}
    if hasattr(model, "transform"):
        facts["get_feature_names_out"] = _as_array(model.get_feature_names_out())
    if hasattr(model, "inverse_transform"):
        facts["inverse_transform"] = _as_array(model.inverse_transform(model.transform(X)))
    if isinstance(model, CLASSIFIERS):
        facts["served"] = isrht.Predictor(model).decision_function(X)
        facts |= {f"exported to {target}": _exported(model, target) for target in ("liblinear", "c", "onnx")}
    return facts


def file_bytes(model):
    """Return the model file as an array of bytes."""
    with tempfile.TemporaryDirectory() as folder:
        isrht.save(model, Path(folder, "model.isrht"))
        return np.fromfile(Path(folder, "model.isrht"), dtype=np.uint8)


def _exported(model, target):
    """Return the exported file as an array of bytes, or the message of the error where it cannot be exported."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.exported")
        try:
            isrht.export.export_model(model, path, target)
        except isrht.export.ExportError as error:
            return np.asarray(str(error))
        return np.fromfile(path, dtype=np.uint8)


def _learned(model):
    facts = _attributes(model, LEARNED)
    for name, part in _parts(model).items():
        facts |= {f"{name}.{inner}": fact for inner, fact in _learned(part).items()}
    return facts


def _attributes(model, names):
    return {name: _as_array(value) for name in names if (value := getattr(model, name, None)) is not None}


def _parts(model):
    if isinstance(model, Pipeline):
        return model.named_steps
    return {name: part for name in PARTS if (part := getattr(model, name, None)) is not None}


def _as_array(values):
    """Return an array in memory of what may be sparse, a number, or a Dask array that has not been computed."""
    array = values.toarray() if sp.issparse(values) else np.asarray(values)
    return array.astype(str) if array.dtype == object else array
