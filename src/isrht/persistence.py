"""The model file: arrays and a manifest, and nothing that runs.

A pickle is a program, and to load it is to run it. A model of this package is a few arrays and a few numbers, so its
file holds just these: an ``.npz`` (a zip of ``.npy`` files) with a JSON manifest in front. :func:`load` picks the class
from a fixed list, reads nothing before it has compared the declared sizes with that of the file, and hands no array to
an estimator before it has checked kind, shape and range. :func:`save` writes beside the old file and renames, so that
there is always one whole file, and refuses what :func:`load` would refuse.

==========================  =========================================================================================
member of the zip           what it holds
==========================  =========================================================================================
``manifest.json``           ``format``, ``format_version``, ``isrht_version``; ``model``; ``members``; ``sha256``
``<name>.npy``              an array: little-endian numbers, booleans or unicode, of one or two dimensions
``<name>.json``             a list of strings: labels or feature names that were Python objects
``<part>/<name>.npy``       an array of an estimator inside the model, such as ``projection_/signs_.npy``
==========================  =========================================================================================

``model`` is ``{class, params, not_stored, values, parts}``, where ``parts`` are the estimators inside, in the same
form. ``members`` gives type and shape of every other member, in their order. ``sha256`` is that of the manifest without
this entry, followed by the data of the members. Signs are bits, eight to a byte. The sums and scores that columns were
selected by are left out: a loaded :class:`~isrht.ISRHT` projects, but cannot learn on by ``partial_fit``.

The archive is stored, not compressed: random signs and trained weights do not compress, and a file that cannot grow
when it is read is no zip bomb. It is laid out here and not by :mod:`zipfile` so that every byte follows from the
manifest and the arrays: equal models give equal files on every Python, and a file that differs in one byte from what
:func:`save` would have written is refused. Any zip tool, and ``numpy.load``, can read it.

The checksum finds damage, not malice: who can write the file can write a checksum. A stranger's file can therefore be
a bad model, but it cannot do anything. ``joblib`` and ``pickle`` also keep the statistics, and run what is in the file:
load those only if you wrote them. ``skops`` lies between: it runs nothing that you have not declared trusted.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
import shutil
import stat
import struct
import warnings
import zlib
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler
from sklearn.utils.validation import check_is_fitted

import isrht
from isrht.classifier import ISRHTClassifier
from isrht.embedding import SparseEmbedding
from isrht.leverage import LeverageScoreSelection
from isrht.newton import one_blas_thread
from isrht.projection import ISRHT
from isrht.rotation import Rotation
from isrht.selection import Selection
from isrht.svm import LinearSVM, LinearSVMCV

FORMAT = "isrht-model"
FORMAT_VERSION = 1

MAX_MANIFEST_BYTES = 2**20
# A parameter longer than this is data (say, the rows of given folds), not a setting.
MAX_PARAMETER_BYTES = 2**16

FLOATS = ("<f4", "<f8")
NUMBERS = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", *FLOATS)
DTYPE = re.compile("|".join(map(re.escape, NUMBERS)) + r"|<U[1-9]\d{0,5}", re.ASCII)
MEMBER_NAME = re.compile(r"(?:[a-zA-Z]\w*/){0,4}[a-zA-Z]\w*", re.ASCII)


class ModelFileError(ValueError):
    """The file is not a whole, consistent model of this package, or a model cannot be made one; says why."""


def save(model, path, *, folded=True):
    """Write a fitted estimator of this package to one file, whole or not at all.

    Parameters
    ----------
    model : estimator
    path : str or path-like
        An existing file is replaced in one step when the new one is on disk.
    folded : bool, default=True
        Whether to keep weights that follow from others: ``coef_`` of :class:`~isrht.ISRHTClassifier`, 8 bytes per
        feature and class where its projection takes a bit per feature. Otherwise :func:`load` computes them again,
        to the same bits on the same kind of machine.

    Notes
    -----
    Parameters that are objects (a random state, a splitter, a scoring function) cannot be stored. They come back as
    their defaults, and a ``UserWarning`` names them. So does ``set_output``: it belongs to the session.

    Examples
    --------
    >>> import tempfile, os
    >>> from isrht import LinearSVM
    >>> from isrht.persistence import load, save
    >>> model = LinearSVM().fit([[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "model.isrht"))
    ...     load(os.path.join(folder, "model.isrht")).predict([[3.0]])
    array(['yes'], dtype='<U3')
    """
    entry_of(model)
    check_is_fitted(model)
    try:
        node, contents = pack(model, folded)
        check_restorable(model, node, contents)
        manifest, members = describe(node, contents)
    except ModelFileError as error:
        raise ModelFileError(f"cannot save this {type(model).__name__}: {error}") from error.__cause__
    if lost := not_stored(node):
        names = ", ".join(lost)
        warnings.warn(f"a model file cannot hold these parameters, their defaults are saved: {names}", stacklevel=2)
    with replaced_when_whole(path) as file:
        write_archive(file, manifest, members)


def load(path, *, max_bytes=2**32):
    """Read an estimator that :func:`save` wrote; nothing in the file is executed.

    Parameters
    ----------
    path : str or path-like
    max_bytes : int, default=2**32
        Larger files are refused before they are read.

    Raises
    ------
    ModelFileError
        If the file is missing, foreign, truncated, damaged, too large, of a newer format or inconsistent.
    """
    try:
        with open_to_read(path) as file:
            node, contents = read_archive(file, max_bytes)
        return unpack(node, contents)
    except ModelFileError as error:
        raise ModelFileError(f"cannot load {os.fsdecode(path)!r}: {error}") from error.__cause__


# ------------------------------------------------------------------------------- the estimators, one entry each


@dataclass(frozen=True)
class Entry:
    """How one class is stored.

    ``fields(model)`` gives what is stored beside parameters and features: by name an array, an estimator, a number,
    or None for what there is not. ``restore(model, state)`` takes the fields from a :class:`State`, checks them, and
    makes the unfitted ``model`` a fitted one. ``derived`` fields may be left out of a file if ``derive(model)``
    computes them from the others.
    """

    cls: type
    fields: Callable
    restore: Callable
    derived: tuple[str, ...] = ()
    derive: Callable | None = None


def isrht_fields(model):
    return {
        "embedding_": model.embedding_,
        "signs_": packed_signs(model.signs_),
        "selected_columns_": model.selected_columns_.astype(np.int64),
        "column_scales_": model.column_scales_,
        "mean_": model.mean_ if model.center else None,
    }


def restore_isrht(model, state):
    model.embedding_ = state.part("embedding_", SparseEmbedding) if state.has_part("embedding_") else None
    n_rotated = model.n_features_in_
    if model.embedding_ is not None:
        demand(model.embedding_.n_features_in_ == n_rotated, "embedding_ is for another number of features")
        n_rotated = model.embedding_.n_components
    model.signs_ = unpacked_signs(state, "signs_", n_rotated)
    model.n_features_padded_ = Rotation(model.signs_).length
    columns = state.array("selected_columns_", "<i8", (None,))
    demand(len(columns) <= model.n_features_padded_, "there are more selected_columns_ than columns")
    demand(0 <= columns[0] and columns[-1] < model.n_features_padded_, "selected_columns_ are out of range")
    demand((np.diff(columns) >= 0).all(), "selected_columns_ are not in increasing order")
    scales = state.array("column_scales_", "<f8", columns.shape)
    demand((scales > 0).all(), "column_scales_ are not positive")
    if model.center:
        model.mean_ = state.array("mean_", "<f8", (n_rotated,))
    model.statistics_ = None
    model._selected = Selection(columns, scales, scores=None)


def embedding_fields(model):
    narrow = np.min_scalar_type(model.n_components - 1)
    demand(model.components_.max() < model.n_components, "components_ are out of range")
    return {"components_": model.components_.astype(narrow), "signs_": packed_signs(model.signs_)}


def restore_embedding(model, state):
    demand(is_count(model.n_components), f"n_components={model.n_components!r} is no number of components")
    narrow = np.min_scalar_type(model.n_components - 1).str
    components = state.array("components_", narrow, (model.n_features_in_,))
    demand(components.max() < model.n_components, "components_ are out of range")
    model.components_ = components.astype(np.int32)
    model.signs_ = unpacked_signs(state, "signs_", model.n_features_in_)


def leverage_fields(model):
    return {"leverage_": model.leverage_, "kept": model._kept.astype(np.int64)}


def restore_leverage(model, state):
    model.leverage_ = state.array("leverage_", FLOATS, (model.n_features_in_,))
    model._kept = state.array("kept", "<i8", (None,))
    in_range = 0 <= model._kept[0] and model._kept[-1] < model.n_features_in_
    demand(in_range and (np.diff(model._kept) > 0).all(), "the kept features are out of range or order")


def linear_fields(model):
    names = ("classes_", "coef_", "intercept_", "n_iter_")
    return {name: getattr(model, name) for name in names}


def restore_linear(model, state):
    model.classes_ = state.labels("classes_")
    model.n_iter_ = state.integer("n_iter_")
    n_problems = n_problems_of(model.classes_)
    if state.has("coef_") or state.has("intercept_"):
        model.coef_ = state.array("coef_", "<f8", (n_problems, model.n_features_in_))
        model.intercept_ = state.array("intercept_", "<f8", (n_problems,))


def search_fields(model):
    """How C was chosen, where it was."""
    names = ("C_", "Cs_", "scores_", "mean_scores_", "std_scores_")
    return {name: getattr(model, name, None) for name in names}


def restore_search(model, state):
    model.C_ = state.number("C_")
    model.Cs_ = state.array("Cs_", "<f8", (None,))
    model.scores_ = state.array("scores_", "<f8", (len(model.Cs_), None), finite=False)
    model.mean_scores_ = state.array("mean_scores_", "<f8", model.Cs_.shape, finite=False)
    model.std_scores_ = state.array("std_scores_", "<f8", model.Cs_.shape, finite=False)


def restore_svm(model, state):
    restore_linear(model, state)
    demand(hasattr(model, "coef_"), "coef_ is missing")


def svm_cv_fields(model):
    return linear_fields(model) | search_fields(model)


def restore_svm_cv(model, state):
    restore_svm(model, state)
    restore_search(model, state)
    demand(model.C_ in model.Cs_, "C_ is not one of Cs_")


def classifier_fields(model):
    parts = {name: getattr(model, name) for name in ("scaler_", "projection_", "svm_")}
    return linear_fields(model) | search_fields(model) | parts


SCALERS = {"maxabs": MaxAbsScaler, "minmax": MinMaxScaler}


def restore_classifier(model, state):
    restore_linear(model, state)
    if state.has("scores_"):
        restore_search(model, state)
    else:
        model.C_ = state.number("C_")
    demand(model.scale is None or model.scale in SCALERS, f"scale={model.scale!r} is unknown")
    model.scaler_ = None if model.scale is None else state.part("scaler_", SCALERS[model.scale])
    model.projection_ = state.part("projection_", ISRHT)
    model.svm_ = state.part("svm_", LinearSVM, LinearSVMCV)
    n_features = {part.n_features_in_ for part in (model.scaler_, model.projection_) if part is not None}
    demand(n_features == {model.n_features_in_}, "scaler_ or projection_ is for another number of features")
    demand(model.svm_.n_features_in_ == model.projection_.n_components_, "svm_ and projection_ do not fit together")
    demand(np.array_equal(model.svm_.classes_, model.classes_), "svm_ is for other classes")


def refold(model):
    # As many threads as when the model was trained: a BLAS sum over many threads may round differently.
    with one_blas_thread():
        model.coef_, model.intercept_ = model._fold()


def maxabs_fields(model):
    names = ("max_abs_", "scale_", "n_samples_seen_")
    return {name: getattr(model, name) for name in names}


def minmax_fields(model):
    names = ("data_min_", "data_max_", "data_range_", "min_", "scale_", "n_samples_seen_")
    return {name: getattr(model, name) for name in names}


def restore_scaler(names, model, state):
    for name in names:
        setattr(model, name, state.array(name, FLOATS, (model.n_features_in_,)))
    model.n_samples_seen_ = state.integer("n_samples_seen_")
    demand((model.scale_ > 0).all(), "scale_ is not positive")


def restore_maxabs(model, state):
    restore_scaler(("max_abs_", "scale_"), model, state)


def restore_minmax(model, state):
    demand(is_range(model.feature_range), f"feature_range={model.feature_range!r} is no range")
    restore_scaler(("data_min_", "data_max_", "data_range_", "min_", "scale_"), model, state)


ENTRIES = {
    entry.cls.__name__: entry
    for entry in (
        Entry(ISRHT, isrht_fields, restore_isrht),
        Entry(SparseEmbedding, embedding_fields, restore_embedding),
        Entry(LeverageScoreSelection, leverage_fields, restore_leverage),
        Entry(LinearSVM, linear_fields, restore_svm),
        Entry(LinearSVMCV, svm_cv_fields, restore_svm_cv),
        Entry(ISRHTClassifier, classifier_fields, restore_classifier, ("coef_", "intercept_"), refold),
        Entry(MaxAbsScaler, maxabs_fields, restore_maxabs),
        Entry(MinMaxScaler, minmax_fields, restore_minmax),
    )
}


def packed_signs(signs):
    """+1 and -1 as bits."""
    demand((np.abs(signs) == 1).all(), "signs_ are not all +1 or -1")
    return np.packbits(signs > 0)


def unpacked_signs(state, name, size):
    bits = state.array(name, "|u1", (-(-size // 8),))
    signs = np.unpackbits(bits)
    demand(not signs[size:].any(), f"{name} is for another number of features")
    return (2 * signs[:size].astype(np.int8) - 1).astype(np.int8)


def n_problems_of(classes):
    return 1 if len(classes) == 2 else len(classes)


def is_count(value):
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and 1 <= value < 2**31


def is_range(value):
    return isinstance(value, tuple | list) and len(value) == 2 and all(map(is_real, value)) and value[0] < value[1]


def is_real(value):
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def demand(condition, otherwise):
    if not condition:
        raise ModelFileError(otherwise)


# ------------------------------------------------------------------------------- estimator <-> manifest and arrays


def entry_of(model):
    entry = ENTRIES.get(type(model).__name__)
    if entry is None or type(model) is not entry.cls:
        raise TypeError(f"cannot save {type(model).__qualname__}: a model file holds {', '.join(ENTRIES)}")
    return entry


def pack(model, folded, prefix=""):
    """The manifest's node of an estimator, and the arrays of it and its parts by name."""
    entry = entry_of(model)
    params, lost = encode_params(model)
    node = {"class": entry.cls.__name__, "params": params, "not_stored": lost, "values": {}, "parts": {}}
    contents = {}
    features = {name: getattr(model, name, None) for name in ("n_features_in_", "feature_names_in_")}
    for name, value in (features | entry.fields(model)).items():
        if value is None or (name in entry.derived and not folded):
            continue
        if isinstance(value, BaseEstimator):
            node["parts"][name], inner = pack(value, folded, f"{prefix}{name}/")
            contents |= inner
        elif isinstance(value, np.ndarray):
            contents[prefix + name] = storable(name, value)
        else:
            node["values"][name] = encode(value)
    return node, contents


def unpack(node, contents):
    """The estimator of a manifest's node. All that is in the file must be something that it knows."""
    left = dict(contents)
    try:
        model = unpack_node(node, left)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"its parts do not make a model ({error})") from error
    demand(not left, f"it holds unknown arrays: {', '.join(sorted(left))}")
    return model


def unpack_node(node, left, prefix="", allowed=tuple(ENTRIES)):
    check_node(node)
    demand(node["class"] in ENTRIES, f"its class {node['class']!r} is unknown; known are {', '.join(ENTRIES)}")
    demand(node["class"] in allowed, f"{prefix} is a {node['class']}, not a {' or '.join(allowed)}")
    entry = ENTRIES[node["class"]]
    model = entry.cls(**decode_params(entry.cls, node))
    state = State(dict(node["values"]), dict(node["parts"]), left, prefix)
    model.n_features_in_ = state.integer("n_features_in_")
    if state.has("feature_names_in_"):
        model.feature_names_in_ = state.strings("feature_names_in_", (model.n_features_in_,))
    entry.restore(model, state)
    unknown = [*state.values, *state.parts]
    demand(not unknown, f"{node['class']} holds unknown fields: {', '.join(sorted(unknown))}")
    if not all(hasattr(model, name) for name in entry.derived):
        entry.derive(model)
    return model


NODE_KINDS = {"class": str, "params": dict, "not_stored": list, "values": dict, "parts": dict}


def check_node(node):
    fits = isinstance(node, dict) and list(node) == list(NODE_KINDS)
    fits = fits and all(isinstance(node[key], kind) for key, kind in NODE_KINDS.items())
    demand(fits, "the manifest describes no model")


@dataclass
class State:
    """The fields of one estimator in a file, each handed out once, and only as what it should be."""

    values: dict
    parts: dict
    arrays: dict
    prefix: str

    def has(self, name):
        return name in self.values or self.prefix + name in self.arrays

    def has_part(self, name):
        return name in self.parts

    def part(self, name, *classes):
        demand(name in self.parts, f"{self.prefix}{name} is missing")
        allowed = [cls.__name__ for cls in classes]
        return unpack_node(self.parts.pop(name), self.arrays, f"{self.prefix}{name}/", allowed)

    def integer(self, name, least=1):
        value = self._value(name)
        fits = isinstance(value, int | np.integer) and not isinstance(value, bool) and least <= value < 2**62
        demand(fits, f"{self.prefix}{name} is {value!r}, not an integer from {least}")
        return value

    def number(self, name):
        value = self._value(name)
        demand(is_real(value) and 0 < value < math.inf, f"{self.prefix}{name} is {value!r}, not a positive number")
        return value

    def array(self, name, dtypes, shape, finite=True):
        """An array of one of these types; None in ``shape`` is any length."""
        array = self._array(name)
        dtypes = (dtypes,) if isinstance(dtypes, str) else dtypes
        demand(little_endian(array.dtype) in dtypes, f"{self.prefix}{name} is {array.dtype}, not {' or '.join(dtypes)}")
        fits = len(array.shape) == len(shape)
        fits = fits and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
        demand(fits, f"{self.prefix}{name} has shape {array.shape}, not {shape}".replace("None", "any"))
        demand(not finite or np.isfinite(array).all(), f"{self.prefix}{name} is not finite")
        return array

    def strings(self, name, shape):
        array = self._array(name)
        demand(array.dtype == object, f"{self.prefix}{name} is {array.dtype}, not a list of strings")
        demand(array.shape == shape, f"{self.prefix}{name} has shape {array.shape}, not {shape}")
        return array

    def labels(self, name):
        """At least two different labels of any kind, in order."""
        labels = self._array(name)
        demand(labels.ndim == 1 and len(labels) >= 2, f"{self.prefix}{name} has shape {labels.shape}, not (2 or more,)")
        demand(labels.dtype.kind != "f" or np.isfinite(labels).all(), f"{self.prefix}{name} is not finite")
        demand((labels[:-1] < labels[1:]).all(), f"{self.prefix}{name} are not different labels in order")
        return labels

    def _value(self, name):
        demand(name in self.values, f"{self.prefix}{name} is missing")
        return decode(self.values.pop(name))

    def _array(self, name):
        demand(self.prefix + name in self.arrays, f"{self.prefix}{name} is missing")
        return self.arrays.pop(self.prefix + name)


def storable(name, array):
    """The array in one piece and little-endian; Fortran order is kept, as products round differently in it."""
    if array.dtype == object:
        strangers = sorted({type(value).__name__ for value in array.flat if type(value) is not str})
        demand(not strangers, f"{name} holds objects that are not strings: {', '.join(strangers)}")
        return array
    dtype = little_endian(array.dtype)
    demand(DTYPE.fullmatch(dtype), f"{name} holds {array.dtype}, which a model file cannot hold")
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return np.asarray(array, dtype=dtype, order=order)


def little_endian(dtype):
    return dtype.newbyteorder("<").str


def check_restorable(model, node, contents):
    """Refuse to write what could not be read, or would be read as another model."""
    restored = unpack(node, contents)
    for name in entry_of(model).derived:
        same = np.array_equal(getattr(model, name), getattr(restored, name))
        demand(same, f"{name} is not what its parts give: save it with folded=True")


# ------------------------------------------------------------------------------- parameters <-> JSON


class NotStorable(Exception):
    """A parameter that has no place in a manifest."""


def encode_params(model):
    """What JSON can hold of the parameters, and the names of the others."""
    params, lost = {}, []
    for name, value in model.get_params(deep=False).items():
        try:
            params[name] = encode(value)
            if len(json.dumps(params[name])) > MAX_PARAMETER_BYTES:
                raise NotStorable
        except (NotStorable, RecursionError):
            params.pop(name, None)
            lost.append(name)
    return params, lost


def decode_params(cls, node):
    known = cls().get_params(deep=False)
    unknown = [name for name in (*node["params"], *node["not_stored"]) if name not in known]
    demand(not unknown, f"{cls.__name__} has no parameter {', '.join(map(repr, unknown))}")
    params = {name: decode(value) for name, value in node["params"].items()}
    n_jobs = params.get("n_jobs")
    demand(n_jobs is None or isinstance(n_jobs, int | np.integer), f"n_jobs={n_jobs!r} is no number of threads")
    return params


def not_stored(node, prefix=""):
    """The parameters that a file has not kept, of the model and its parts."""
    names = [prefix + name for name in node["not_stored"]]
    return names + [name for key, part in node["parts"].items() for name in not_stored(part, f"{prefix}{key}.")]


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
    raise NotStorable


def decode(coded):
    if isinstance(coded, list):
        return [decode(item) for item in coded]
    if not isinstance(coded, dict):
        return coded
    demand(len(coded) == 1, f"no parameter is written like {coded!r}")
    ((kind, content),) = coded.items()
    demand(kind in DECODERS, f"no parameter is of the kind {kind!r}")
    try:
        return DECODERS[kind](content)
    except (OverflowError, TypeError, ValueError) as error:
        raise ModelFileError(f"no {kind} is written like {content!r}") from error


def decode_float(content):
    demand(content in ("nan", "inf", "-inf"), f"no float is written like {content!r}")
    return float(content)


def decode_tuple(content):
    demand(isinstance(content, list), f"no tuple is written like {content!r}")
    return tuple(decode(content))


def decode_dict(content):
    return {decode(key): decode(value) for key, value in content}


def decode_numpy(content):
    dtype, shape, values = content
    demand(isinstance(dtype, str) and DTYPE.fullmatch(dtype), f"arrays of {dtype!r} are unknown")
    demand(isinstance(values, list) and isinstance(shape, list), "an array is written as type, shape and values")
    array = np.array(decode(values), dtype=np.dtype(dtype).newbyteorder("=")).reshape(shape)
    return array if shape else array[()]


DECODERS = {"float": decode_float, "tuple": decode_tuple, "dict": decode_dict, "numpy": decode_numpy}


# ------------------------------------------------------------------------------- manifest and arrays <-> archive


@dataclass(frozen=True)
class Member:
    """A file of the archive: its name, a header, and its data as bytes or an array of bytes."""

    name: str
    header: bytes
    data: bytes | np.ndarray

    @property
    def size(self):
        return len(self.header) + len(self.data)

    @property
    def crc(self):
        return zlib.crc32(self.data, zlib.crc32(self.header))


def describe(node, contents):
    """The signed manifest, as bytes, and the members after it."""
    specs = {name: spec_of(array) for name, array in contents.items()}
    data = [data_of(array) for array in contents.values()]
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "isrht_version": isrht.__version__,
        "model": node,
        "members": specs,
    }
    manifest["sha256"] = checksum(manifest, data)
    raw = to_json(manifest)
    demand(len(raw) <= MAX_MANIFEST_BYTES, f"its parameters take {len(raw)} bytes, more than {MAX_MANIFEST_BYTES}")
    return raw, [Member(*layout(name, spec)[:2], part) for (name, spec), part in zip(specs.items(), data, strict=True)]


def spec_of(array):
    if array.dtype == object:
        return {"strings": len(data_of(array))}
    return {"dtype": array.dtype.str, "shape": list(array.shape), "fortran_order": is_fortran(array)}


def is_fortran(array):
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def data_of(array):
    if array.dtype == object:
        return json.dumps(array.tolist()).encode("ascii")
    return array.ravel(order="A").view(np.uint8)


def layout(name, spec):
    """A member's file name, header and the number of bytes of data."""
    if "strings" in spec:
        return f"{name}.json", b"", spec["strings"]
    size = np.dtype(spec["dtype"]).itemsize * math.prod(spec["shape"])
    return f"{name}.npy", npy_header(**spec), size


def npy_header(dtype, shape, fortran_order):
    """As ``numpy.save`` writes it, in version 1.0 of its format."""
    text = f"{{'descr': {dtype!r}, 'fortran_order': {fortran_order}, 'shape': {tuple(shape)}, }}"
    length = -(-(10 + len(text) + 1) // 64) * 64 - 10
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", length) + text.ljust(length - 1).encode("ascii") + b"\n"


def array_of(spec, data):
    """The array whose bytes these are."""
    if "strings" in spec:
        return strings_of(data)
    dtype = np.dtype(spec["dtype"])
    array = data.view(dtype).reshape(spec["shape"], order="F" if spec["fortran_order"] else "C")
    return array.astype(dtype.newbyteorder("="), copy=False)


def strings_of(data):
    strings = from_json(data.tobytes(), "a list of strings")
    demand(isinstance(strings, list) and all(isinstance(text, str) for text in strings), "a list of strings is none")
    array = np.empty(len(strings), dtype=object)
    array[:] = strings
    return array


def to_json(manifest):
    return json.dumps(manifest, indent=1, allow_nan=False).encode("ascii")


def from_json(raw, what):
    try:
        return json.loads(raw.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{what} is damaged: it is not JSON ({error})") from None


def checksum(unsigned_manifest, data):
    digest = hashlib.sha256(to_json(unsigned_manifest))
    for part in data:
        digest.update(part)
    return digest.hexdigest()


def read_manifest(file, file_size):
    """The manifest and its bytes, if the file begins like a model file of a version that is known."""
    head_size = local_header_size(MANIFEST_NAME)
    head = file.read(head_size)
    check_beginning(head)
    demand(len(head) == head_size, f"it is truncated: only {file_size} bytes are there")
    (size,) = struct.unpack("<Q", head[-8:])
    demand(size <= MAX_MANIFEST_BYTES, f"its manifest declares {size} bytes, more than {MAX_MANIFEST_BYTES}")
    demand(head_size + size <= file_size, f"it is truncated: its manifest does not fit in {file_size} bytes")
    raw = file.read(size)
    demand(zlib.crc32(raw) == struct.unpack("<I", head[14:18])[0], "its manifest is damaged: wrong checksum")
    manifest = from_json(raw, "its manifest")
    check_version(manifest)
    check_manifest(manifest, raw)
    return manifest, head, raw


FOREIGN = {
    b"\x80": "a pickle, which this package never loads",
    b"PK": "a zip archive (an npz, perhaps), but not a model file",
    b"\x93NUMPY": "a single NumPy array",
    b"\x89PNG": "a PNG image",
    b"\x89HDF": "an HDF5 file",
    b"\x1f\x8b": "a gzip file",
    b"x\x9c": "a zlib stream (joblib, perhaps)",
}


def check_beginning(head):
    """Say what the file is if it is none of ours."""
    demand(head, "it is empty")
    ours = local_header(MANIFEST_NAME, 0, 0)
    name_start, name_stop = 30, 30 + len(MANIFEST_NAME)
    if head[:4] == ours[: len(head)][:4] and head[name_start:name_stop] == ours[name_start : min(name_stop, len(head))]:
        return
    for signature, kind in FOREIGN.items():
        demand(not head.startswith(signature), f"it is {kind}")
    is_text = not set(head) - set(range(32, 256)) - set(b"\t\n\r\f")
    raise ModelFileError(f"it is {'a text file' if is_text else 'a foreign file'}, not a model file: {head[:16]!r}...")


def check_version(manifest):
    ours = isinstance(manifest, dict) and manifest.get("format") == FORMAT
    demand(ours, f"its manifest is not that of a model file: format is not {FORMAT!r}")
    version = manifest.get("format_version")
    demand(type(version) is int and version >= 1, f"its format version {version!r} is unknown")
    demand(
        version <= FORMAT_VERSION,
        f"it has format version {version} (written by isrht {manifest.get('isrht_version')!r}), but isrht "
        f"{isrht.__version__} reads only up to format version {FORMAT_VERSION}: install a newer isrht",
    )


MANIFEST_KEYS = ["format", "format_version", "isrht_version", "model", "members", "sha256"]


def check_manifest(manifest, raw):
    demand(list(manifest) == MANIFEST_KEYS, f"its manifest has not exactly the entries {', '.join(MANIFEST_KEYS)}")
    demand(isinstance(manifest["isrht_version"], str), "isrht_version is no string")
    demand(isinstance(manifest["members"], dict), "its manifest lists no members")
    for name, spec in manifest["members"].items():
        demand(MEMBER_NAME.fullmatch(name), f"a member cannot be called {name!r}")
        demand(is_spec(spec), f"{name} is declared as {spec!r}")
    try:
        canonical = to_json(manifest)
    except (ValueError, RecursionError):
        canonical = None
    demand(raw == canonical, "its manifest is damaged: it is not written as save writes it")


def is_spec(spec):
    if not isinstance(spec, dict):
        return False
    if list(spec) == ["strings"]:
        return is_size(spec["strings"])
    if list(spec) != ["dtype", "shape", "fortran_order"] or type(spec["fortran_order"]) is not bool:
        return False
    dtype, shape = spec["dtype"], spec["shape"]
    known = isinstance(dtype, str) and DTYPE.fullmatch(dtype)
    return bool(known) and isinstance(shape, list) and len(shape) in (1, 2) and all(map(is_size, shape))


def is_size(value):
    return type(value) is int and 1 <= value < 2**62


def read_archive(file, max_bytes):
    """The manifest's node of the model, and its arrays, from a file of which every byte has been accounted for."""
    file_size = os.fstat(file.fileno()).st_size
    demand(file_size <= max_bytes, f"it has {file_size} bytes, more than max_bytes={max_bytes}")
    manifest, head, raw = read_manifest(file, file_size)
    layouts = {name: layout(name, spec) for name, spec in manifest["members"].items()}
    check_size(file_size, archive_size(len(raw), layouts.values()))

    archive = Archive()
    whole = head == archive.add(Member(MANIFEST_NAME, b"", raw))
    data = {}
    for name, (file_name, header, size) in layouts.items():
        before = read_exactly(file, local_header_size(file_name) + len(header)).tobytes()
        data[name] = read_exactly(file, size)
        whole &= before == archive.add(Member(file_name, header, data[name])) + header
    whole &= file.read() == archive.end()

    declared = manifest.pop("sha256")
    demand(declared == checksum(manifest, data.values()), "its checksum is wrong: it was damaged or altered")
    demand(whole, "its archive is damaged: not all of its bytes are as save writes them")
    return manifest["model"], {name: array_of(spec, data[name]) for name, spec in manifest["members"].items()}


def check_size(actual, declared):
    demand(actual >= declared, f"it is truncated: its arrays need {declared} bytes, but {actual} are there")
    demand(actual <= declared, f"it is {actual - declared} bytes longer than its arrays need")


def read_exactly(file, size):
    buffer = np.empty(size, dtype=np.uint8)
    demand(file.readinto(buffer) == size, "it is truncated: it was cut while it was read")
    return buffer


def write_archive(file, manifest, members):
    archive = Archive()
    for member in (Member(MANIFEST_NAME, b"", manifest), *members):
        file.write(archive.add(member) + member.header)
        file.write(member.data)
    file.write(archive.end())


# ------------------------------------------------------------------------------- the zip format, as little as serves

MANIFEST_NAME = "manifest.json"

# All sizes are in the 64-bit extension, and the fields that they replace are full: one layout for all sizes.
FULL_16, FULL_32 = 0xFFFF, 0xFFFFFFFF
ZIP_VERSION = 45
UNIX = 3 << 8
FIRST_OF_JANUARY_1980 = 0x21
READABLE_FILE = 0o100644 << 16
END_SIZE = 56 + 20 + 22


@dataclass
class Archive:
    """What a zip archive has around its members: a header before each, and a directory at the end."""

    offset: int = 0
    directory: list = field(default_factory=list)

    def add(self, member):
        """The bytes to write before the member's own."""
        self.directory.append(directory_entry(member.name, member.size, member.crc, self.offset))
        header = local_header(member.name, member.size, member.crc)
        self.offset += len(header) + member.size
        return header

    def end(self):
        """The bytes to write after all members."""
        directory = b"".join(self.directory)
        count, size, stop = len(self.directory), len(directory), self.offset + len(directory)
        versions = (ZIP_VERSION | UNIX, ZIP_VERSION)
        end_64 = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, *versions, 0, 0, count, count, size, self.offset)
        locator = struct.pack("<4sIQI", b"PK\6\7", 0, stop, 1)
        end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, FULL_16, FULL_16, FULL_32, FULL_32, 0)
        return directory + end_64 + locator + end


def local_header(name, size, crc):
    fixed = (ZIP_VERSION, 0, 0, 0, FIRST_OF_JANUARY_1980, crc, FULL_32, FULL_32, len(name), 20)
    return struct.pack("<4sHHHHHIIIHH", b"PK\3\4", *fixed) + name.encode("ascii") + struct.pack("<HHQQ", 1, 16, size, size)


def local_header_size(name):
    return 30 + len(name) + 20


def directory_entry(name, size, crc, offset):
    versions = (ZIP_VERSION | UNIX, ZIP_VERSION)
    fixed = (0, 0, 0, FIRST_OF_JANUARY_1980, crc, FULL_32, FULL_32, len(name), 28, 0, 0, 0, READABLE_FILE, FULL_32)
    extra = struct.pack("<HHQQQ", 1, 24, size, size, offset)
    return struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", *versions, *fixed) + name.encode("ascii") + extra


def directory_entry_size(name):
    return 46 + len(name) + 28


def archive_size(manifest_size, layouts):
    sizes = {MANIFEST_NAME: manifest_size} | {name: len(header) + size for name, header, size in layouts}
    around = sum(local_header_size(name) + directory_entry_size(name) for name in sizes)
    return sum(sizes.values()) + around + END_SIZE


# ------------------------------------------------------------------------------- files


def open_to_read(path):
    try:
        demand(stat.S_ISREG(os.stat(path).st_mode), "it is a directory" if os.path.isdir(path) else "it is no file")
        return open(path, "rb")
    except FileNotFoundError:
        raise ModelFileError("there is no such file") from None
    except OSError as error:
        raise ModelFileError(f"it cannot be read ({error.strerror})") from error


@contextmanager
def replaced_when_whole(path):
    """A file to write to, which takes the place of ``path`` once it is on disk, or leaves no trace."""
    target = os.path.realpath(os.fsdecode(path))
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".isrht-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def sync_folder(folder):
    """Make a rename last; only POSIX knows how."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
