"""Estimators as what a manifest and arrays can hold, and back.

An estimator becomes a *node* of the manifest, ``{class, params, not_stored, values, parts}``, and arrays by name. Its
codec (:mod:`isrht.models._registry`) says which fields it has; what all estimators have in common, parameters and the
number and names of features, is the matter of this file. An estimator inside another one is a node among its ``parts``,
and the names of its arrays begin with its own: ``projection_/signs_``.
"""

from __future__ import annotations

import inspect
import json
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator

from isrht.models._archive import storable
from isrht.models._json_values import NotStorable, decode, encode
from isrht.models._registry import CODECS, codec_named, codec_of
from isrht.support.codec import STRINGS, ModelFileError, StoredFields, demand

# A parameter longer than this is data (say, the rows of given folds), not a setting.
MAX_PARAMETER_BYTES = 2**16

NODE = {"class": str, "params": dict, "not_stored": list, "values": dict, "parts": dict}


# ------------------------------------------------------------ estimator -> node and arrays


def pack(model, folded, prefix=""):
    """Return the node of an estimator, and the arrays of it and its parts by name.

    Parameters
    ----------
    model : estimator
        It is fitted, and of a class that has a codec.
    folded : bool
        Whether fields that follow from others are kept.
    prefix : str
        What the names of its arrays begin with.
    """
    codec = codec_of(model)
    params, lost = encoded_params(model, codec)
    node = {"class": codec.cls.__name__, "params": params, "not_stored": lost, "values": {}, "parts": {}}
    arrays = {}
    for name, value in (common_fields(model, codec) | codec.fields(model)).items():
        if value is None or (name in codec.derived and not folded):
            continue
        if isinstance(value, BaseEstimator):
            node["parts"][name], inner = pack(value, folded, f"{prefix}{name}/")
            arrays |= inner
        elif isinstance(value, np.ndarray):
            arrays[prefix + name] = storable(name, value)
        else:
            node["values"][name] = encode(value)
    return node, arrays


def common_fields(model, codec):
    """Return what any estimator may have: features, and the kind of frame that ``set_output`` made it give."""
    output = getattr(model, "_sklearn_output_config", {}).get("transform")  # scikit-learn has no public name for it
    names = ("n_features_in_", "feature_names_in_") if codec.made_of is None else ()
    return {name: getattr(model, name, None) for name in names} | {"transform_output": output}


def encoded_params(model, codec):
    """Return what a manifest can hold of the parameters, and the names of the others."""
    params, lost = {}, []
    for name, value in model.get_params(deep=False).items():
        if name == codec.made_of or is_others_default(model, name, value):
            continue
        try:
            if name in codec.never_stored and value is not None:
                raise NotStorable(f"{name} is of use on this machine only")
            params[name] = encoded_param(name, value)
        except (NotStorable, RecursionError):
            lost.append(name)
    return params, lost


def is_others_default(model, name, value):
    """Say whether it is a parameter of scikit-learn's that was left as it is.

    Such are not written, because an older scikit-learn may not know all of them.
    """
    if not type(model).__module__.startswith("sklearn."):
        return False
    default = inspect.signature(type(model)).parameters[name].default
    return type(value) is type(default) and value == default


def encoded_param(name, value):
    coded = encode(value)
    if len(json.dumps(coded)) > MAX_PARAMETER_BYTES:
        raise NotStorable(f"{name} is too long")
    return coded


def not_stored(node, prefix=""):
    """Return the names of the parameters that a file does not hold, of the model and its parts."""
    own = [prefix + name for name in node["not_stored"]]
    inner = [not_stored(part, f"{prefix}{key}.") for key, part in node["parts"].items()]
    return sum(inner, own)


def check_restorable(model, node, arrays):
    """Refuse to write what could not be read, or would be read as another model."""
    check_derived(model, unpack(node, arrays))


def check_derived(model, restored):
    """Demand that weights which a file may leave out are the same again, in the model and in its steps."""
    codec = codec_of(model)
    for name in codec.derived:
        same = np.array_equal(getattr(model, name), getattr(restored, name))
        demand(same, f"{name} is not what its parts give; save it with folded=True")
    if codec.made_of is not None:
        fields, restored_fields = codec.fields(model), codec.fields(restored)
        for name, part in fields.items():
            if isinstance(part, BaseEstimator):
                check_derived(part, restored_fields[name])


# ------------------------------------------------------------ node and arrays -> estimator


def unpack(node, arrays):
    """Return the estimator of a node, if it has a use for everything there is."""
    left = dict(arrays)
    try:
        model = unpack_node(left, node)
    except ModelFileError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(f"its parts do not make a model ({error!r})") from error
    demand(not left, f"it holds unknown arrays: {', '.join(sorted(left))}")
    return model


def unpack_node(left, node, prefix="", class_names=()):
    """Return the estimator of a node and take its arrays out of those that are ``left``.

    It must be of one of the named classes, if any are named.
    """
    check_node(node)
    name, allowed = node["class"], class_names or CODECS
    demand(name in CODECS, f"its class {name!r} is unknown; known are {', '.join(CODECS)}")
    demand(name in allowed, f"{prefix} is of class {name}, not {' or '.join(allowed)}")
    codec = codec_named(name)
    model = codec.make(**decoded_params(codec, node))
    values = {key: decode(value) for key, value in node["values"].items()}
    stored = StoredFields(values, dict(node["parts"]), left, prefix, partial(unpack_node, left))
    restore_common(model, codec, stored)
    codec.restore(model, stored)
    unknown = sorted([*stored.values, *stored.parts])
    demand(not unknown, f"{name} holds unknown fields: {', '.join(unknown)}")
    if not all(hasattr(model, derived) for derived in codec.derived):
        codec.derive(model)
    return model


def check_node(node):
    """Demand that a node has the entries that it must have, in their order."""
    complete = isinstance(node, dict) and list(node) == list(NODE)
    complete = complete and all(isinstance(node[key], kind) for key, kind in NODE.items())
    demand(complete, "its manifest describes no model")


def restore_common(model, codec, stored):
    """Restore what :func:`common_fields` returns."""
    if codec.made_of is None:
        model.n_features_in_ = stored.integer("n_features_in_")
    if codec.made_of is None and stored.has("feature_names_in_"):
        shape = (model.n_features_in_,)
        model.feature_names_in_ = stored.array("feature_names_in_", STRINGS, shape, finite=False)
    if stored.has("transform_output"):
        output = stored.value("transform_output", str)
        demand(output in ("default", "pandas", "polars"), f"no transform_output is called {output!r}")
        model.set_output(transform=output)


def decoded_params(codec, node):
    """Return the parameters for the constructor. Their values are for ``fit`` to judge, as in scikit-learn."""
    known = codec.make().get_params(deep=False).keys() - {codec.made_of}
    unknown = [name for name in (*node["params"], *node["not_stored"]) if name not in known]
    demand(not unknown, f"{codec.cls.__name__} has no parameter {', '.join(map(repr, unknown))}")
    params = {name: decode(value) for name, value in node["params"].items()}
    n_jobs = params.get("n_jobs")
    is_number = isinstance(n_jobs, int | np.integer)
    demand(n_jobs is None or is_number, f"n_jobs={n_jobs!r} is no number of threads")
    return params
