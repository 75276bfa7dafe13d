"""The model file: arrays and a manifest, and nothing that runs.

A pickle is a program, and to load it is to run it. A model of this package is a few arrays and a few
numbers, and so is what scikit-learn puts before it (:mod:`isrht.models._sklearn_codecs`). A file holds just
these: it is an ``.npz`` (a zip of ``.npy`` files) with a JSON manifest in front. :func:`load` picks the class
from a fixed list, compares the declared sizes with that of the file before it makes arrays, and gives an
estimator no array whose type, shape and range it has not checked. :func:`save` writes beside the old file and
renames, so that there is always one whole file, and refuses what :func:`load` would refuse.

=======================  ===================================================================================
member of the zip        what it holds
=======================  ===================================================================================
``manifest.json``        ``format``, ``format_version``, ``isrht_version``, ``about``, ``model``, ``members``,
                         ``sha256``
``<name>.npy``           an array: little-endian numbers, booleans or unicode, of one or two dimensions
``<name>.json``          a list of strings: labels or feature names that were Python objects
``<part>/<name>.npy``    an array of an estimator inside the model, such as ``projection_/signs_.npy``, or, of the
                         third step of a pipeline, ``step2/coef_.npy``
=======================  ===================================================================================

``model`` is ``{class, params, not_stored, values, parts}``; ``parts`` are the estimators inside, in the same
form. ``about`` is what the user wants to know of it later. ``members`` gives type and shape of all other members, in
their order. ``sha256`` is that of the manifest without this entry, followed by the data of the members. Signs are bits,
eight to a byte. The sums and scores that columns were selected by are left out but for a histogram of the scores: a
loaded :class:`~isrht.ISRHT` projects, but cannot learn on by ``partial_fit``.

The archive is stored, not compressed: random signs and trained weights do not compress, and a file that
cannot grow when it is read is no zip bomb. It is laid out here and not by :mod:`zipfile`, so that every byte
follows from the manifest and the arrays: equal models give equal files under every Python, and a file that
differs in one byte from what :func:`save` would have written is refused. Any zip tool, and ``numpy.load``,
can read it.

The checksum finds damage, not malice: who can write the file can write a checksum. A stranger's file may
therefore be a bad model, but it cannot do anything. ``joblib`` and ``pickle`` also keep the statistics, but
run what is in the file: load those only if you wrote them. ``skops`` lies between: it keeps everything, and
builds only types that you have declared trusted.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler
from sklearn.utils.validation import check_is_fitted

from isrht.boosting.estimator import BoostedISRHT
from isrht.classifier import ISRHTClassifier
from isrht.linear.search import LinearSVMCV
from isrht.linear.svm import LinearSVM
from isrht.models._archive import (
    DTYPE,
    FLOATS,
    MAX_MANIFEST_BYTES,
    STRINGS,
    ModelFileError,
    archive,
    called,
    demand,
    describe,
    little_endian,
    opened_for_writing,
    read_manifest,
    read_members,
    read_model_file,
    storable,
)
from isrht.models._sklearn_codecs import CODECS, pipeline_fields, restore_pipeline
from isrht.projections.embedding import SparseEmbedding
from isrht.projections.fourier import ROTATIONS, HadamardFourierFeatures
from isrht.projections.isrht import ISRHT
from isrht.projections.leverage import LeverageScoreSelection
from isrht.projections.selection import ScoreHistogram, Selection
from isrht.support.threads import one_blas_thread
from isrht.transform.hadamard import next_power_of_two
from isrht.transform.rotation import Rotation

# A parameter longer than this is data (say, the rows of given folds), not a setting.
MAX_PARAMETER_BYTES = 2**16

REALS = (int, float, np.integer, np.floating)


def save(model, path, *, folded=True, about=None):
    """Write a fitted estimator to one file, whole or not at all.

    Parameters
    ----------
    model : estimator
        One of this package, one of those of scikit-learn that docs/model-files.md lists, or a Pipeline of them.
    path : str, path-like or binary file object
        An existing file is replaced in one step, when the new one is on disk. A file object is written to from where
        it stands, and left open; that it arrives whole is the matter of its owner.
    folded : bool, default=True
        Whether to keep weights that follow from others: ``coef_`` of :class:`~isrht.ISRHTClassifier`, 8 bytes
        per feature and class, where its projection takes one bit per feature. Otherwise :func:`load` computes
        them again, to the same bits on the same kind of machine.
    about : dict or None
        Whatever you want to know of the model later, in terms of JSON: where its data came from, say.
        :func:`read_about` reads it.

    Notes
    -----
    Parameters that are objects (a random state, a splitter, a scoring function) cannot be stored. They come
    back as their defaults, and a ``UserWarning`` names them. So does ``memory`` of a Pipeline, which is a place on the
    machine that trained it.

    Examples
    --------
    >>> import os, tempfile
    >>> from isrht import LinearSVM
    >>> from isrht import load, save
    >>> model = LinearSVM().fit([[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "model.isrht"))
    ...     load(os.path.join(folder, "model.isrht")).predict([[3.0]])
    array(['yes'], dtype='<U3')
    """
    entry_of(model)
    check_is_fitted(model)
    try:
        node, arrays = pack(model, folded)
        check_restorable(model, node, arrays)
        manifest, members = describe(node, arrays, checked_about(about))
    except ModelFileError as error:
        raise ModelFileError(f"cannot save this {type(model).__name__}: {error}") from error.__cause__
    if lost := not_stored(node):
        what = f"a model file cannot hold these parameters, which load as defaults: {', '.join(lost)}"
        warnings.warn(what, stacklevel=2)
    with opened_for_writing(path) as file:
        for chunk in archive(manifest, members):
            file.write(memoryview(chunk))


def read_about(path, *, max_bytes=2**32):
    """What :func:`save` was told about the model, with ``class``, ``isrht_version`` and ``bytes`` of its file.

    A file object is read from where it stands to its end, as by :func:`load`.
    """
    try:
        raw = read_model_file(path, max_bytes)
        manifest = read_manifest(raw)
    except ModelFileError as error:
        raise ModelFileError(f"cannot read {called(path)}: {error}") from error.__cause__
    facts = {"class": manifest["model"]["class"], "isrht_version": manifest["isrht_version"], "bytes": len(raw)}
    return manifest.get("about", {}) | facts


def load(path, *, max_bytes=2**32):
    """Read an estimator that :func:`save` wrote. Nothing in the file is executed.

    Parameters
    ----------
    path : str, path-like or binary file object
        A file object is read from where it stands to its end, and left open.
    max_bytes : int, default=2**32
        Larger files are refused before they are read.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, truncated, damaged, too large, of a newer format or inconsistent.
    """
    try:
        raw = read_model_file(path, max_bytes)
        manifest = read_manifest(raw)
        arrays = read_members(raw, manifest)
        return unpack(manifest["model"], arrays)
    except (ModelFileError, RecursionError) as error:
        why = "its manifest is nested too deeply" if isinstance(error, RecursionError) else error
        raise ModelFileError(f"cannot load {called(path)}: {why}") from error.__cause__


def checked_about(about):
    about = {} if about is None else about
    if not isinstance(about, dict):
        raise TypeError(f"about must be a dict or None, got {about!r}")
    try:
        text = json.dumps(about, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TypeError(f"about must be made of what JSON can hold: {error}") from None
    if len(text) > MAX_PARAMETER_BYTES:
        raise ValueError(f"about takes {len(text)} bytes, more than {MAX_PARAMETER_BYTES}")
    return json.loads(text)


# ------------------------------------------------------------ the estimators, one entry each


@dataclass(frozen=True)
class Entry:
    """How one class is stored.

    ``fields(model)`` gives what is stored beside parameters and features: by name an array, an estimator, a
    number, or None for what there is not. ``restore(model, state)`` takes the fields from a :class:`State`,
    checks them, and makes the unfitted ``model`` a fitted one. ``derived`` fields may be left out of a file:
    ``derive(model)`` computes them from the others. A class that is ``made_of`` estimators has a parameter of this
    name for a list of them, which are fields, and its features are those of the first. Parameters that are
    ``never_stored`` mean something only on the machine that the model was trained on.
    """

    cls: type
    fields: Callable
    restore: Callable
    derived: tuple[str, ...] = ()
    derive: Callable | None = None
    made_of: str | None = None
    never_stored: tuple[str, ...] = ()

    def make(self, **params):
        """Return an unfitted estimator of the class."""
        return self.cls(**params) if self.made_of is None else self.cls(**{self.made_of: []}, **params)


def isrht_fields(model):
    histogram = model.score_histogram_
    scores = {} if histogram is None else {"score_edges": histogram.edges, "score_counts": counts_of(histogram)}
    return scores | {
        "embedding_": model.embedding_,
        "signs_": packed_signs(model.signs_),
        "selected_columns_": model.selected_columns_.astype(np.int64),
        "column_scales_": model.column_scales_,
        "mean_": model.mean_,
    }


def restore_isrht(model, state):
    model.embedding_ = state.part("embedding_", SparseEmbedding) if state.has("embedding_") else None
    n_rotated = model.n_features_in_
    if model.embedding_ is not None:
        demand(model.embedding_.n_features_in_ == n_rotated, "embedding_ is for another number of features")
        n_rotated = model.embedding_.n_components_
    model.signs_ = unpacked_signs(state, n_rotated)
    model.n_features_padded_ = Rotation(model.signs_).length
    columns = state.array("selected_columns_", "<i8", (None,))
    demand(len(columns) <= model.n_features_padded_, "there are more selected_columns_ than columns")
    check_increasing("selected_columns_", columns, model.n_features_padded_, repeated=True)
    scales = state.array("column_scales_", "<f8", columns.shape)
    demand((scales > 0).all(), "column_scales_ are not positive")
    model._mean = state.array("mean_", "<f8", (n_rotated,)) if state.has("mean_") else None
    model.statistics_ = None
    model._selected = Selection(columns, scales, scores=None, histogram=restored_histogram(model, state, len(columns)))


def counts_of(histogram):
    return np.stack([histogram.counts, histogram.kept]).astype(np.int64)


def restored_histogram(model, state, n_kept):
    """How the scores were spread, if the file says so: first files did not, and equal scores have no spread."""
    if not state.has("score_edges"):
        return None
    edges = state.array("score_edges", "<f8", (None,))
    demand(len(edges) >= 2 and (np.diff(edges) > 0).all(), "score_edges are not in increasing order")
    counts = state.array("score_counts", "<i8", (2, len(edges) - 1))
    totals = counts.sum(axis=1).tolist()
    demand(counts.min() >= 0 and totals == [model.n_features_padded_, n_kept], "score_counts are not those of columns")
    return ScoreHistogram(edges, *counts)


BOOSTED_PUBLIC = (
    *("diagonal_", "threshold_", "C_", "has_signal_", "held_out_score_", "fold_scores_", "rounds_", "weight_unit_"),
    *("classes_", "mean_", "mixing_", "selected_columns_", "column_rounds_", "column_scales_", "offsets_"),
)
BOOSTED_PRIVATE = ("stored", "support", "units", "norms", "row_scale")


def boosted_fields(model):
    public = {name: getattr(model, name) for name in BOOSTED_PUBLIC}
    return public | {name: getattr(model, f"_{name}") for name in BOOSTED_PRIVATE}


def restore_boosted(model, state):
    restore_choice(model, state)
    restore_diagonals(model, state)
    model.n_features_padded_ = next_power_of_two(model.n_features_in_)
    model.selected_columns_ = state.array("selected_columns_", "<i8", (None,))
    each = model.selected_columns_.shape
    model.column_rounds_ = state.array("column_rounds_", "<i8", each)
    learned = np.arange(model.n_learned_)
    check_range("selected_columns_", model.selected_columns_, model.n_features_padded_)
    check_range("column_rounds_", model.column_rounds_, model.n_learned_)
    are_first = np.array_equal(model.column_rounds_[: len(learned)], learned)
    are_first &= not model.selected_columns_[: len(learned)].any()
    demand(are_first, "the learned columns do not come first")
    model.column_scales_ = state.array("column_scales_", "<f8", each)
    model.offsets_ = state.array("offsets_", "<f8", each)
    model.mean_ = state.array("mean_", "<f8", (model.n_features_in_,))


def restore_choice(model, state):
    """What boosting chose on held-out rows; scores may be nan, where there were none."""
    model.classes_ = state.labels("classes_")
    model.diagonal_ = state.value("diagonal_", str)
    demand(model.diagonal_ in ("standard", "z", "signs"), f"diagonal_={model.diagonal_!r} is unknown")
    model.threshold_, model.rounds_ = state.value("threshold_", *REALS), state.integer("rounds_")
    model.C_, model.has_signal_ = state.number("C_"), state.value("has_signal_", bool, np.bool_)
    model.held_out_score_ = state.value("held_out_score_", *REALS)
    model.weight_unit_ = restored_weight_unit(state)
    model.fold_scores_ = state.array("fold_scores_", "<f8", (None,), finite=False)


def restored_weight_unit(state):
    """Return the unit of the weights. The first files do not hold it: there it is 1, as without weights."""
    return state.number("weight_unit_") if state.has("weight_unit_") else 1.0


def restore_diagonals(model, state):
    """As numbers, in units of their own or not; or as bits, with a mask of those that are not zero."""
    n_features, n_bytes = model.n_features_in_, -(-model.n_features_in_ // 8)
    model._norms = state.array("norms", "<f8", (None,))
    model.n_learned_ = len(model._norms)
    demand((model._norms > 0).all(), "the norms of the diagonals are not positive")
    as_bits, with_units = model.diagonal_ == "signs", model.diagonal_ == "standard"
    dtype, width = ("|u1", n_bytes) if as_bits else ("<f4", n_features)
    model._stored = state.array("stored", dtype, (model.n_learned_, width))
    model._support = state.array("support", "|u1", (n_bytes,)) if as_bits else None
    model._units = state.array("units", "<f8", (n_features,)) if with_units else None
    model._row_scale = state.value("row_scale", *REALS)
    model.mixing_ = state.array("mixing_", "<f8", (model.n_learned_, model.n_learned_))


def embedding_fields(model):
    narrow = np.min_scalar_type(model.n_components_ - 1)
    check_range("components_", model.components_, model.n_components_)
    return {
        "n_components_": model.n_components_,
        "dense_output": bool(model._dense_output),
        "components_": model.components_.astype(narrow),
        "signs_": packed_signs(model.signs_),
        "magnitudes_": model.magnitudes_,
    }


def restore_embedding(model, state):
    """Restore a sketch. In the first files its parameters tell the number of components and the kind of output."""
    n_components = state.integer("n_components_") if state.has("n_components_") else model.n_components
    demand(is_count(n_components), f"n_components={n_components!r} is no number of components")
    model.n_components_ = int(n_components)
    model._dense_output = state.value("dense_output", bool) if state.has("dense_output") else bool(model.dense_output)
    narrow = little_endian(np.min_scalar_type(model.n_components_ - 1))
    components = state.array("components_", narrow, (model.n_features_in_,))
    check_range("components_", components, model.n_components_)
    model.components_ = components.astype(np.int32)
    model.signs_ = unpacked_signs(state, model.n_features_in_)
    has_magnitudes = state.has("magnitudes_")
    model.magnitudes_ = state.array("magnitudes_", "<f4", (model.n_features_in_,)) if has_magnitudes else None


def leverage_fields(model):
    return {"leverage_": model.leverage_, "kept": model._kept.astype(np.int64)}


def restore_leverage(model, state):
    model.leverage_ = state.array("leverage_", FLOATS, (model.n_features_in_,))
    model._kept = state.array("kept", "<i8", (None,))
    check_increasing("the kept features", model._kept, model.n_features_in_, repeated=False)


def linear_fields(model):
    return {name: getattr(model, name) for name in ("classes_", "coef_", "intercept_", "n_iter_")}


def restore_linear(model, state):
    model.classes_ = state.labels("classes_")
    model.n_iter_ = state.integer("n_iter_")
    n_problems = 1 if len(model.classes_) == 2 else len(model.classes_)
    model.coef_ = state.array("coef_", "<f8", (n_problems, model.n_features_in_))
    model.intercept_ = state.array("intercept_", "<f8", (n_problems,))


def search_fields(model):
    """How C was chosen, where it was."""
    names = ("C_", "Cs_", "scores_", "mean_scores_", "std_scores_", "weight_unit_")
    return {name: getattr(model, name, None) for name in names}


def restore_search(model, state):
    model.C_ = state.number("C_")
    model.Cs_ = state.array("Cs_", "<f8", (None,))
    model.scores_ = state.array("scores_", "<f8", (len(model.Cs_), None), finite=False)
    model.mean_scores_ = state.array("mean_scores_", "<f8", model.Cs_.shape, finite=False)
    model.std_scores_ = state.array("std_scores_", "<f8", model.Cs_.shape, finite=False)


def svm_cv_fields(model):
    return linear_fields(model) | search_fields(model)


def restore_svm_cv(model, state):
    restore_linear(model, state)
    restore_search(model, state)
    model.weight_unit_ = restored_weight_unit(state)


def classifier_fields(model):
    parts = {name: getattr(model, name) for name in ("scaler_", "projection_", "svm_")}
    return parts | linear_fields(model) | search_fields(model)


def restore_classifier(model, state):
    model.scaler_ = state.part("scaler_", MaxAbsScaler, MinMaxScaler) if state.has("scaler_") else None
    model.projection_ = state.part("projection_", ISRHT, BoostedISRHT)
    model.svm_ = state.part("svm_", LinearSVM, LinearSVMCV)
    if state.has("scores_"):
        restore_search(model, state)
    else:
        model.C_ = state.number("C_")
    model.weight_unit_ = restored_weight_unit(state)
    if state.has("coef_"):
        restore_linear(model, state)
    else:
        model.classes_, model.n_iter_ = state.labels("classes_"), state.integer("n_iter_")
    n_features = {part.n_features_in_ for part in (model.scaler_, model.projection_) if part is not None}
    demand(n_features == {model.n_features_in_}, "scaler_ or projection_ is for another number of features")
    demand(model.svm_.n_features_in_ == model.projection_.n_components_, "svm_ does not fit projection_")
    demand(np.array_equal(model.svm_.classes_, model.classes_), "svm_ is for other classes")


def refold(model):
    # A BLAS sum that is shared among threads rounds differently.
    with one_blas_thread():
        model.coef_, model.intercept_ = model._fold()


def fourier_fields(model):
    return {
        "signs_": packed_signs(model.signs_.ravel()),
        "phases_": model.phases_,
        "selected_columns_": model.selected_columns_.astype(np.int64),
        "gamma_": model.gamma_,
    }


def restore_fourier(model, state):
    width = model.n_features_padded_ = next_power_of_two(model.n_features_in_)
    model.phases_ = state.array("phases_", "<f8", (None,))
    n_blocks = len(model.phases_) // width
    demand(n_blocks >= 1 and len(model.phases_) == n_blocks * width, "phases_ are not those of whole blocks")
    model.signs_ = unpacked_signs(state, n_blocks * ROTATIONS * width).reshape(n_blocks, ROTATIONS, width)
    model.selected_columns_ = state.array("selected_columns_", "<i8", (None,))
    check_increasing("selected_columns_", model.selected_columns_, len(model.phases_), repeated=False)
    model.gamma_ = float(state.number("gamma_"))


ENTRIES = {
    entry.cls.__name__: entry
    for entry in (
        Entry(ISRHT, isrht_fields, restore_isrht),
        Entry(BoostedISRHT, boosted_fields, restore_boosted),
        Entry(SparseEmbedding, embedding_fields, restore_embedding),
        Entry(LeverageScoreSelection, leverage_fields, restore_leverage),
        Entry(LinearSVM, linear_fields, restore_linear),
        Entry(LinearSVMCV, svm_cv_fields, restore_svm_cv),
        Entry(ISRHTClassifier, classifier_fields, restore_classifier, ("coef_", "intercept_"), refold),
        Entry(HadamardFourierFeatures, fourier_fields, restore_fourier),
        *(Entry(*codec) for codec in CODECS),
        Entry(Pipeline, pipeline_fields, restore_pipeline, made_of="steps", never_stored=("memory",)),
    )
}


def packed_signs(signs):
    """+1 and -1 as bits."""
    demand((np.abs(signs) == 1).all(), "signs_ are not all +1 or -1")
    return np.packbits(signs > 0)


def unpacked_signs(state, size):
    bits = np.unpackbits(state.array("signs_", "|u1", (-(-size // 8),))).astype(np.int8)
    demand(not bits[size:].any(), "signs_ are for another number of features")
    return 2 * bits[:size] - 1


def check_increasing(name, indices, stop, repeated):
    steps = np.diff(indices)
    demand((steps >= 0 if repeated else steps > 0).all(), f"{name} are not in increasing order")
    check_range(name, indices, stop)


def check_range(name, indices, stop):
    demand(len(indices), f"{name} are missing")
    demand(indices.min() >= 0 and indices.max() < stop, f"{name} are out of range")


def is_count(value):
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 1 <= value < 2**31


# ------------------------------------------------------------ estimator <-> manifest and arrays


def entry_of(model):
    entry = ENTRIES.get(type(model).__name__)
    if entry is None or type(model) is not entry.cls:
        raise TypeError(f"cannot save {type(model).__qualname__}: a model file holds {', '.join(ENTRIES)}")
    return entry


def pack(model, folded, prefix=""):
    """The manifest's node of an estimator, and the arrays of it and its parts by name."""
    entry = entry_of(model)
    params, lost = encode_params(model, entry)
    node = {"class": entry.cls.__name__, "params": params, "not_stored": lost, "values": {}, "parts": {}}
    arrays = {}
    for name, value in (common_fields(model, entry) | entry.fields(model)).items():
        if value is None or (name in entry.derived and not folded):
            continue
        if isinstance(value, BaseEstimator):
            node["parts"][name], inner = pack(value, folded, f"{prefix}{name}/")
            arrays |= inner
        elif isinstance(value, np.ndarray):
            arrays[prefix + name] = storable(name, value)
        else:
            node["values"][name] = encode(value)
    return node, arrays


def common_fields(model, entry):
    """Return what any estimator may have: features, and the kind of frame that ``set_output`` made it give."""
    output = getattr(model, "_sklearn_output_config", {}).get("transform")
    names = ("n_features_in_", "feature_names_in_") if entry.made_of is None else ()
    return {name: getattr(model, name, None) for name in names} | {"transform_output": output}


def restore_common(model, entry, state):
    if entry.made_of is None:
        model.n_features_in_ = state.integer("n_features_in_")
    if entry.made_of is None and state.has("feature_names_in_"):
        shape = (model.n_features_in_,)
        model.feature_names_in_ = state.array("feature_names_in_", STRINGS, shape, finite=False)
    if state.has("transform_output"):
        output = state.value("transform_output", str)
        demand(output in ("default", "pandas", "polars"), f"no transform_output is called {output!r}")
        model.set_output(transform=output)


def unpack(node, arrays):
    """The estimator of a manifest's node, if it has a use for everything there is."""
    left = dict(arrays)
    try:
        model = unpack_node(node, left)
    except ModelFileError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(f"its parts do not make a model ({error!r})") from error
    demand(not left, f"it holds unknown arrays: {', '.join(sorted(left))}")
    return model


def unpack_node(node, left, prefix="", allowed=tuple(ENTRIES)):
    kinds = {"class": str, "params": dict, "not_stored": list, "values": dict, "parts": dict}
    complete = isinstance(node, dict) and list(node) == list(kinds)
    complete = complete and all(isinstance(node[key], kind) for key, kind in kinds.items())
    demand(complete, "its manifest describes no model")
    name = node["class"]
    demand(name in ENTRIES, f"its class {name!r} is unknown; known are {', '.join(ENTRIES)}")
    demand(name in allowed, f"{prefix} is of class {name}, not {' or '.join(allowed)}")
    entry = ENTRIES[name]
    model = entry.make(**decode_params(entry, node))
    state = State(dict(node["values"]), dict(node["parts"]), left, prefix)
    restore_common(model, entry, state)
    entry.restore(model, state)
    unknown = sorted([*state.values, *state.parts])
    demand(not unknown, f"{name} holds unknown fields: {', '.join(unknown)}")
    if not all(hasattr(model, derived) for derived in entry.derived):
        entry.derive(model)
    return model


@dataclass
class State:
    """The fields of one estimator in a file, each handed out once, and only as what it should be."""

    values: dict
    parts: dict
    arrays: dict
    prefix: str

    def has(self, name):
        return name in self.values or name in self.parts or self.prefix + name in self.arrays

    def part(self, name, *classes):
        """Return an estimator of one of these classes, or of any class if none are given."""
        node = self._take(self.parts, name)
        allowed = [cls.__name__ for cls in classes] or list(ENTRIES)
        return unpack_node(node, self.arrays, f"{self.prefix}{name}/", allowed)

    def value(self, name, *kinds):
        value = decode(self._take(self.values, name))
        is_one = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        demand(is_one, f"{self.prefix}{name} is {value!r}, which is of the wrong type")
        return value

    def integer(self, name):
        value = self.value(name, int, np.integer)
        demand(1 <= value < 2**62, f"{self.prefix}{name} is {value!r}, not a positive integer")
        return value

    def number(self, name):
        value = self.value(name, *REALS)
        demand(0 < value < math.inf, f"{self.prefix}{name} is {value!r}, not a positive number")
        return value

    def array(self, name, dtypes, shape, finite=True):
        """An array of one of these types; None in ``shape`` is any length."""
        array = self._take(self.arrays, name, self.prefix)
        dtypes = (dtypes,) if isinstance(dtypes, str) else dtypes
        dtype = little_endian(array.dtype)
        demand(dtype in dtypes, f"{self.prefix}{name} is of type {dtype}, not {' or '.join(dtypes)}")
        fits = len(array.shape) == len(shape) and all(map(lambda n, m: m in (None, n), array.shape, shape))
        demand(fits, f"{self.prefix}{name} has shape {array.shape}, not {shape}".replace("None", "any"))
        demand(not finite or np.isfinite(array).all(), f"{self.prefix}{name} is not finite")
        return array

    def labels(self, name):
        """Two or more different labels of any type, in order."""
        labels = self._take(self.arrays, name, self.prefix)
        demand(labels.ndim == 1 and len(labels) >= 2, f"{self.prefix}{name} are not two or more labels")
        demand(labels.dtype.kind != "f" or np.isfinite(labels).all(), f"{self.prefix}{name} are not finite")
        demand((labels[:-1] < labels[1:]).all(), f"{self.prefix}{name} are not different labels in order")
        return labels

    def _take(self, store, name, prefix=""):
        demand(prefix + name in store, f"{self.prefix}{name} is missing")
        return store.pop(prefix + name)


def check_restorable(model, node, arrays):
    """Refuse to write what could not be read, or would be read as another model."""
    check_derived(model, unpack(node, arrays))


def check_derived(model, restored):
    """Demand that weights which a file may leave out are the same again, in the model and in its steps."""
    entry = entry_of(model)
    for name in entry.derived:
        same = np.array_equal(getattr(model, name), getattr(restored, name))
        demand(same, f"{name} is not what its parts give; save it with folded=True")
    if entry.made_of is not None:
        fields, restored_fields = entry.fields(model), entry.fields(restored)
        for name, part in fields.items():
            if isinstance(part, BaseEstimator):
                check_derived(part, restored_fields[name])


# ------------------------------------------------------------ parameters <-> JSON


class NotStorable(ModelFileError):
    """A value that a manifest cannot hold."""


def encode_params(model, entry):
    """What a manifest can hold of the parameters, and the names of the others."""
    params, lost = {}, []
    for name, value in model.get_params(deep=False).items():
        if name == entry.made_of:
            continue
        try:
            if name in entry.never_stored and value is not None:
                raise NotStorable(f"{name} is of use on this machine only")
            coded = encode(value)
            if len(json.dumps(coded)) > MAX_PARAMETER_BYTES:
                raise NotStorable(f"{name} is too long")
            params[name] = coded
        except (NotStorable, RecursionError):
            lost.append(name)
    return params, lost


def decode_params(entry, node):
    """The parameters for the constructor. Their values are for ``fit`` to judge, as in scikit-learn."""
    known = entry.make().get_params(deep=False).keys() - {entry.made_of}
    unknown = [name for name in (*node["params"], *node["not_stored"]) if name not in known]
    demand(not unknown, f"{entry.cls.__name__} has no parameter {', '.join(map(repr, unknown))}")
    params = {name: decode(value) for name, value in node["params"].items()}
    n_jobs = params.get("n_jobs")
    is_number = isinstance(n_jobs, int | np.integer)
    demand(n_jobs is None or is_number, f"n_jobs={n_jobs!r} is no number of threads")
    return params


def not_stored(node, prefix=""):
    """The parameters that a file does not hold, of the model and its parts."""
    own = [prefix + name for name in node["not_stored"]]
    inner = [not_stored(part, f"{prefix}{key}.") for key, part in node["parts"].items()]
    return sum(inner, own)


def encode(value):
    """A parameter as JSON. What JSON has no word for becomes an object of one key, which names the kind."""
    if value is None or type(value) in (bool, str):
        return value
    if type(value) is int and abs(value) < 2**64:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) is list:
        return [encode(item) for item in value]
    if type(value) is tuple:
        return {"tuple": [encode(item) for item in value]}
    if type(value) is dict:
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, np.generic) or type(value) is np.ndarray:
        dtype = little_endian(value.dtype)
        if DTYPE.fullmatch(dtype):
            return {"numpy": [dtype, list(value.shape), encode(value.ravel().tolist())]}
    raise NotStorable(f"a model file cannot hold {value!r}")


def decode(coded):
    match coded:
        case None | bool() | int() | float() | str():
            return coded
        case list():
            return [decode(item) for item in coded]
        case {"float": "nan" | "inf" | "-inf" as text}:
            return float(text)
        case {"tuple": list(items)}:
            return tuple(decode(items))
        case {"dict": list(pairs)}:
            return {decode(key): decode(value) for key, value in pairs}
        case {"numpy": [str(dtype), list(shape), list(values)]} if DTYPE.fullmatch(dtype):
            dtype = np.dtype(dtype).newbyteorder("=")
            demand(dtype.itemsize * len(values) <= MAX_MANIFEST_BYTES, "a parameter is of absurd size")
            array = np.array(decode(values), dtype=dtype).reshape(shape)
            return array if shape else array[()]
    raise ModelFileError(f"no value is written like {coded!r}")
