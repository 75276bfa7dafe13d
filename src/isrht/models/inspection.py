"""What a model file says about itself: parameters, what was learned, how columns scored, which features tell most.

All of it is in the file; no data are needed. The scores of single columns are not kept
(:mod:`isrht.projections.isrht_codec`), but a histogram of them is. The weights of the original features are there for
classifiers, whose projection and SVM are folded into them. A weight is per unit of its feature: a feature in metres has
a weight a thousand times that of the same feature in millimetres, so weights compare features of like units only.
"""

from __future__ import annotations

import math
import os

import numpy as np
from sklearn.pipeline import Pipeline

from isrht.linear.classifier import LinearClassifier
from isrht.models._archive import read_manifest
from isrht.models._file_access import read_model_file
from isrht.models.model_file import load

# Facts by the names of the attributes that hold them; those that a model does not have are passed over.
FACTS = (
    *("n_features_in_", "n_features_padded_", "n_components_", "n_learned_", "rounds_", "diagonal_", "threshold_"),
    *("has_signal_", "held_out_score_", "C_", "weight_unit_", "n_iter_", "gamma_", "n_quantiles_", "n_samples_seen_"),
)


def inspect_file(path, n_top=10):
    """Return everything that is known of a model file, in the order in which it is worth reading.

    Parameters
    ----------
    path : str or path-like
    n_top : int, default=10
        How many of the features with the largest weights are listed.

    Returns
    -------
    dict
        All of it is made of what JSON can hold. Its entries are ``file`` (path, size and versions), ``class``,
        ``parameters``, ``not_stored`` (the names of parameters that the file does not hold), ``about`` (what ``save``
        was told), ``learned``, ``parts`` (the estimators inside, by name), ``column_scores`` (a histogram, or None) and
        ``features`` (those of the largest weights, or None for a model that has no weights of features).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from isrht import LinearSVM, save
    >>> from isrht.models.inspection import inspect_file
    >>> model = LinearSVM().fit([[-2.0, 0.5], [-1.0, 0.0], [1.0, 0.0], [2.0, 0.5]], ["no", "no", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.isrht")
    ...     save(model, path)
    ...     facts = inspect_file(path, n_top=1)
    >>> facts["class"], facts["learned"]["classes_"], facts["features"][0]["feature"]
    ('LinearSVM', ['no', 'yes'], 0)
    """
    model = load(path)
    manifest = read_manifest(read_model_file(path, 2**32))
    return {
        "file": {
            "path": os.fsdecode(path),
            "bytes": os.path.getsize(path),
            "format_version": manifest["format_version"],
            "isrht_version": manifest["isrht_version"],
        },
        "class": type(model).__name__,
        "parameters": parameters(model),
        "not_stored": manifest["model"]["not_stored"],
        "about": manifest.get("about", {}),
        "learned": learned(model),
        "parts": {name: described(part) for name, part in parts(model)},
        "column_scores": histogram(model),
        "features": telling_features(model, n_top),
    }


def parameters(model):
    """Return the parameters but for the steps of a pipeline, which are parts."""
    params = model.get_params(deep=False)
    if isinstance(model, Pipeline):
        del params["steps"]
    return {name: plain(value) for name, value in params.items()}


def parts(model):
    """Yield the estimators inside a model, and those inside of them, by name: ``classify.projection_``."""
    if isinstance(model, Pipeline):
        inside = model.steps
    else:
        names = ("scaler_", "projection_", "embedding_", "svm_")
        inside = [(name, getattr(model, name)) for name in names if getattr(model, name, None) is not None]
    for name, part in inside:
        yield name, part
        yield from ((f"{name}.{inner}", deeper) for inner, deeper in parts(part))


def described(part):
    """Return the class of a part and what it has learned, or the word for a step that does nothing."""
    if part is None or isinstance(part, str):
        return {"class": "passthrough"}
    return {"class": type(part).__name__} | learned(part)


def learned(model):
    """Return what a model has learned, as far as it can be told in a few numbers."""
    facts = {name: plain(getattr(model, name)) for name in FACTS if hasattr(model, name)}
    if hasattr(model, "classes_"):
        facts["n_classes"] = len(model.classes_)
        facts["classes_"] = plain(model.classes_[:20])
    if hasattr(model, "mean_scores_"):
        best = int(np.argmax(model.mean_scores_))
        facts["cross_validation"] = {
            "Cs_": plain(model.Cs_),
            "mean_scores_": plain(model.mean_scores_),
            "std_scores_": plain(model.std_scores_),
            "best": float(model.mean_scores_[best]),
        }
    if hasattr(model, "search_scores_"):
        facts["search"] = {
            "candidates": list(model.search_candidates_),
            "rounds": plain(model.search_rounds_),
            "scores": plain(best_by_rounds(model.search_scores_)),
        }
    if getattr(model, "calibration_", None) is not None:
        facts["calibration_"] = [model.calibration_.slope, *plain(model.calibration_.offsets[:20])]
    if hasattr(model, "coef_"):
        facts["intercept_"] = plain(model.intercept_[:20])
        facts["n_weights_not_zero"] = int(np.count_nonzero(model.coef_))
    return facts


def best_by_rounds(scores):
    """Return the best of the Cs, (candidates, rounds), of scores (candidates, rounds, Cs); NaN where none was tried."""
    tried = ~np.isnan(scores).all(axis=2)
    return np.where(tried, np.where(np.isnan(scores), -np.inf, scores).max(axis=2), np.nan)


def histogram(model):
    """Return how the scores of all columns, and of the kept ones, are spread; None where a file does not say it."""
    histograms = (getattr(part, "score_histogram_", None) for part in (model, *(part for _, part in parts(model))))
    found = next((histogram for histogram in histograms if histogram is not None), None)
    if found is None:
        return None
    return {"edges": plain(found.edges), "columns": plain(found.counts), "kept": plain(found.kept)}


def telling_features(model, n_top):
    """Return the features of the largest weights, each with the class that it speaks for or against most."""
    if not isinstance(model, LinearClassifier):
        return None
    strength = np.abs(model.coef_).max(axis=0)
    names = getattr(model, "feature_names_in_", None)
    is_binary = len(model.coef_) == 1
    rows = []
    for feature in np.argsort(-strength, kind="stable")[:n_top].tolist():
        problem = int(np.argmax(np.abs(model.coef_[:, feature])))
        rows.append(
            {
                "feature": feature,
                "name": None if names is None else str(names[feature]),
                "weight": float(model.coef_[problem, feature]),
                "class": plain(model.classes_[1 if is_binary else problem]),
            }
        )
    return rows


def plain(value):
    """Return NumPy's values as Python's. A number that is not finite becomes None, as JSON has no word for it."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value
