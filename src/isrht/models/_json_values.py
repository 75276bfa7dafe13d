"""Parameters and plain values as JSON, and back with their types.

JSON knows no tuples, no infinity, no keys but strings, and no numbers of NumPy. Each of these becomes an object of one
key, which names the kind: ``{"tuple": [1, 2]}``, ``{"float": "inf"}``, ``{"dict": [[1, "a"]]}``,
``{"numpy": ["<f8", [], [0.1]]}``.
"""

from __future__ import annotations

import math

import numpy as np

from isrht.models._archive import DTYPE, MAX_MANIFEST_BYTES
from isrht.support.codec import ModelFileError, demand, little_endian


class NotStorable(ModelFileError):
    """A value that a manifest cannot hold."""


def encode(value):
    """Return a value in terms of JSON, or raise :class:`NotStorable` for one that is no plain value."""
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
    """Return the value that :func:`encode` was given, or raise a :class:`ModelFileError` if it would not write so."""
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
            return _decode_numpy(np.dtype(dtype).newbyteorder("="), shape, values)
    raise ModelFileError(f"no value is written like {coded!r}")


def _decode_numpy(dtype, shape, values):
    """Return an array, or a single number where there is no shape."""
    demand(dtype.itemsize * len(values) <= MAX_MANIFEST_BYTES, "a parameter is of absurd size")
    array = np.array(decode(values), dtype=dtype).reshape(shape)
    return array if shape else array[()]
