"""A codec keeps an estimator in a model file and makes it again, from fields that are checked as they are read.

What a model file holds of an estimator are its *fields*: arrays, plain values and other estimators, each under a name.
Every class has a :class:`Codec` in a file beside its own, ``isrht_codec.py`` beside ``isrht.py``, which says what the
fields of a fitted model are, and how they become a model again. Only the codec knows the private attributes of the
class. The room ``models`` has the list of all codecs, and turns fields into the bytes of a file and back.

A file may come from a stranger. A codec therefore takes every field from :class:`StoredFields`, which hand out only
what has the right type and shape, and checks with :func:`demand` that the fields fit each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# Types of arrays as a file names them: little-endian, as NumPy writes it.
FLOATS = ("<f4", "<f8")
STRINGS = "|O"

REALS = (int, float, np.integer, np.floating)


class ModelFileError(ValueError):
    """A file is no whole, consistent model of this package, or a model cannot become one; the message says why."""


def demand(condition, otherwise):
    """Raise a :class:`ModelFileError` that says ``otherwise``, unless the condition holds."""
    if not condition:
        raise ModelFileError(otherwise)


def little_endian(dtype):
    """Return the name of a type in a file, whatever the byte order of this machine is."""
    # NumPy's newer types have no byte order to ask for, and no place in a file.
    return dtype.newbyteorder("<").str if dtype.kind in "biufUO" else dtype.str


@dataclass(frozen=True)
class Codec:
    """A way for fitted estimators of one class to become fields of a model file, and models again.

    Parameters
    ----------
    cls : type
        The class. Its subclasses are not kept: they may have learned more than the codec knows.
    fields : callable
        ``fields(model)`` returns what is stored of a fitted model beside its parameters and the number and names of
        its features: a dict of arrays, estimators and plain values by name. None stands for what the model lacks.
    restore : callable
        ``restore(model, stored)`` takes every field from ``stored``, which are :class:`StoredFields`, checks that they
        fit each other, and makes the unfitted ``model`` a fitted one. Parameters and features are set before.
    derived : tuple of str
        Names of fields that may be left out of a file, because they follow from the others.
    derive : callable or None
        ``derive(model)`` computes and sets the derived fields.
    made_of : str or None
        The parameter that holds a list of estimators, for a class that is made of such: "steps" of a pipeline. The
        estimators are fields, and the features of the first one are those of the whole.
    never_stored : tuple of str
        Parameters that mean something only on the machine that the model was trained on.
    """

    cls: type
    fields: Callable
    restore: Callable
    derived: tuple[str, ...] = ()
    derive: Callable | None = None
    made_of: str | None = None
    never_stored: tuple[str, ...] = ()

    def make(self, **params):
        """Return an unfitted estimator of the class with these parameters."""
        return self.cls(**params) if self.made_of is None else self.cls(**{self.made_of: []}, **params)


@dataclass
class StoredFields:
    """The fields of one estimator in a file, each handed out once, and only as what it should be.

    Parameters
    ----------
    values : dict
        Plain values by name.
    parts : dict
        What the file says of the estimators inside, by name.
    arrays : dict
        All arrays of the file that were not handed out yet, those of other estimators too.
    prefix : str
        What the names of this estimator's arrays begin with: ``"projection_/"``, for a projection inside a classifier.
    restore_part : callable
        ``restore_part(node, prefix, class_names)`` returns the estimator of which the file says ``node``, if it is of
        one of these classes.
    """

    values: dict
    parts: dict
    arrays: dict
    prefix: str
    restore_part: Callable

    def has(self, name):
        """Say whether there is a field of this name."""
        return self.has_value(name) or self.has_part(name) or self.prefix + name in self.arrays

    def has_value(self, name):
        """Say whether there is a plain value of this name."""
        return name in self.values

    def has_part(self, name):
        """Say whether there is an estimator of this name."""
        return name in self.parts

    def part(self, name, *classes):
        """Return an estimator of one of these classes, or of any class that has a codec if none are given."""
        node = self._take(self.parts, name)
        return self.restore_part(node, f"{self.prefix}{name}/", [cls.__name__ for cls in classes])

    def value(self, name, *kinds):
        """Return a plain value of one of these types. A truth value is a number only where ``bool`` is among them."""
        value = self._take(self.values, name)
        is_one = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        demand(is_one, f"{self.prefix}{name} is {value!r}, which is of the wrong type")
        return value

    def integer(self, name):
        """Return a positive integer."""
        value = self.value(name, int, np.integer)
        demand(1 <= value < 2**62, f"{self.prefix}{name} is {value!r}, not a positive integer")
        return value

    def number(self, name, missing=None):
        """Return a positive, finite number, or ``missing`` where there is no such field and ``missing`` is not None."""
        if missing is not None and not self.has(name):
            return missing
        value = self.value(name, *REALS)
        demand(0 < value < math.inf, f"{self.prefix}{name} is {value!r}, not a positive number")
        return value

    def array(self, name, dtypes, shape, finite=True):
        """Return an array.

        Parameters
        ----------
        name : str
        dtypes : str or tuple of str
            The type that it must have, or one of several.
        shape : tuple
            The shape that it must have; None in it is any length.
        finite : bool, default=True
            Whether all of its values must be finite.

        Returns
        -------
        ndarray
        """
        array = self._take(self.arrays, name, self.prefix)
        dtypes = (dtypes,) if isinstance(dtypes, str) else dtypes
        dtype = little_endian(array.dtype)
        demand(dtype in dtypes, f"{self.prefix}{name} is of type {dtype}, not {' or '.join(dtypes)}")
        fits = len(array.shape) == len(shape) and all(map(lambda n, m: m in (None, n), array.shape, shape))
        demand(fits, f"{self.prefix}{name} has shape {array.shape}, not {shape}".replace("None", "any"))
        demand(not finite or np.isfinite(array).all(), f"{self.prefix}{name} is not finite")
        return array

    def optional_array(self, name, dtypes, shape, *, required=False):
        """Return an array as :meth:`array` does, or None where there is none, unless it is required."""
        return self.array(name, dtypes, shape) if required or self.has(name) else None

    def labels(self, name):
        """Return two or more different labels of any type, in order."""
        labels = self._take(self.arrays, name, self.prefix)
        demand(labels.ndim == 1 and len(labels) >= 2, f"{self.prefix}{name} are not two or more labels")
        demand(labels.dtype.kind != "f" or np.isfinite(labels).all(), f"{self.prefix}{name} are not finite")
        demand((labels[:-1] < labels[1:]).all(), f"{self.prefix}{name} are not different labels in order")
        return labels

    def signs(self, name, size):
        """Return so many signs, +1 and -1, that :func:`packed_signs` has packed."""
        bits = np.unpackbits(self.array(name, "|u1", (-(-size // 8),))).astype(np.int8)
        demand(not bits[size:].any(), f"{name} are for another number of features")
        return 2 * bits[:size] - 1

    def _take(self, store, name, prefix=""):
        demand(prefix + name in store, f"{self.prefix}{name} is missing")
        return store.pop(prefix + name)


def packed_signs(signs, name="signs_"):
    """Return signs, +1 and -1, as bits, eight to a byte."""
    demand((np.abs(signs) == 1).all(), f"{name} are not all +1 or -1")
    return np.packbits(signs > 0)


def check_range(name, indices, stop):
    """Demand that there are indices, and that all of them lie between 0 and ``stop - 1``."""
    demand(len(indices), f"{name} are missing")
    demand(indices.min() >= 0 and indices.max() < stop, f"{name} are out of range")


def check_increasing(name, indices, stop, *, repeated):
    """Demand that indices are in range and in increasing order, where some may be ``repeated`` or not."""
    steps = np.diff(indices)
    demand((steps >= 0 if repeated else steps > 0).all(), f"{name} are not in increasing order")
    check_range(name, indices, stop)
