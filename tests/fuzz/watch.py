"""The property that every call must have, whatever it is given.

A call returns, or raises an error of a kind that users can expect; it leaves what it was given as it was; it warns of
nothing but what users should know. :class:`Watch` sees to that, counts the outcomes, and notes every call in a file
before it is made, because a crash leaves nothing else behind.
"""

from __future__ import annotations

import faulthandler
import os
import warnings
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.linalg import LinAlgError

# A call on so little data takes milliseconds; a machine that is busy may take a while.
SECONDS_PER_CALL = 60
# LinAlgError is a ValueError, but says nothing about what was given.
ERRORS, MISLEADING = (ValueError, TypeError), (LinAlgError, RecursionError)
# All others (RuntimeWarning, SparseEfficiencyWarning, FutureWarning, ...) tell of an oversight in the package.
TELLING = (UserWarning,)


class Fault(AssertionError):
    """A call did what no call may do."""


class Refused(Exception):
    """A watched call raised a legitimate error, so there is nothing to go on with. Sessions end with it."""


class Watch:
    """Makes calls, and judges them.

    ``note`` is a file descriptor to write each call to before it is made, or None, and ``traceback`` a file for where a
    call was that did not end. ``counts`` has the number of calls by entry point and outcome.
    """

    def __init__(self, note=None, traceback=None):
        self.note, self.traceback, self.counts, self.lines = note, traceback, Counter(), []

    @property
    def calls(self):
        return self.counts.total()

    def begin(self, title):
        """Start a session: what follows until the next one is one story."""
        self.lines = [title]

    def tell(self, line):
        """Add to the story what is no call."""
        self.lines.append(line)

    def call(self, entry, function, *args, given=(), must=None, story="", **kwargs):
        """Call ``function``, and return its result; raise :class:`Refused` if it rightly raised an error.

        ``given`` are the objects that it must leave as they are, beside the arguments; ``must`` is "return" or "raise"
        where only that is right.
        """
        self.lines.append(f"{entry}{story}")
        self._write()
        objects = [*args, *kwargs.values(), *given]
        before = [picture(thing) for thing in objects]
        with self._deadline(), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result, error = _outcome(function, args, kwargs)
        self.counts[entry, "returned" if error is None else type(error).__name__] += 1
        self._judge_error(error, must)
        self._judge_warnings(told)
        changed = [k for k, (thing, old) in enumerate(zip(objects, before, strict=True)) if picture(thing) != old]
        self.demand(not changed, f"changed its arguments {changed}")
        if error is not None:
            self.lines[-1] += f"  # {type(error).__name__}: {str(error)[:200]}"
            raise Refused from error
        return result

    def demand(self, condition, complaint):
        """Raise a :class:`Fault` that tells the story, unless a condition holds."""
        if not condition:
            raise Fault(complaint + "\n  " + "\n  ".join(self.lines))

    def demand_finite(self, values, what):
        values = values.data if sp.issparse(values) else np.asarray(values)
        self.demand(values.dtype.kind != "f" or np.isfinite(values).all(), f"{what} is not finite")

    def demand_close(self, found, expected, what, tolerance):
        """``tolerance`` is what rounding may do, an array or a number."""
        with np.errstate(over="ignore", invalid="ignore"):
            apart = np.abs(np.asarray(found, dtype=np.float64) - expected)
        self.demand(np.shape(found) == np.shape(expected), f"{what}: shapes {np.shape(found)} and {np.shape(expected)}")
        self.demand((apart <= tolerance).all(), f"{what} differs from its twin by {np.max(apart, initial=0)}")

    def _write(self):
        if self.note is not None:
            text = "\n".join(self.lines).encode()
            os.pwrite(self.note, text, 0)
            os.ftruncate(self.note, len(text))

    @contextmanager
    def _deadline(self):
        """End the process, and tell where it was, if a call does not end: nothing else ends a loop in compiled code."""
        if self.note is None:
            yield
            return
        faulthandler.dump_traceback_later(SECONDS_PER_CALL, exit=True, file=self.traceback)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _judge_error(self, error, must):
        if error is None:
            self.demand(must != "raise", "returned, where only an error is right")
            return
        # A row source gives every error the number of its block, and so hides what it was.
        of_block = str(error).startswith("block ") and error.__cause__ is not None
        for one in (error, error.__cause__) if of_block else (error,):
            name = f"{type(one).__name__}: {one}"
            expected = isinstance(one, ERRORS) and not isinstance(one, MISLEADING) and bool(str(one))
            if not expected or must == "return":
                complaint = "raised, where it must return" if expected else "raised what nobody expects"
                raise Fault(f"{complaint}: {name}\n  " + "\n  ".join(self.lines)) from one

    def _judge_warnings(self, told):
        for one in told:
            where = f"{one.filename}:{one.lineno}"
            complaint = f"warned: {one.category.__name__}: {one.message} ({where})"
            self.demand(issubclass(one.category, TELLING), complaint)


def _outcome(function, args, kwargs):
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def picture(thing):
    """Return something to compare later: all memory that an object can be said to have."""
    if isinstance(thing, np.ndarray):
        return _picture_of_array(thing)
    if sp.issparse(thing):
        names = ("data", "indices", "indptr", "coords", "rows", "offsets", "_shape", "_dict")
        return [picture(getattr(thing, name, None)) for name in names]
    if isinstance(thing, pd.DataFrame | pd.Series):
        return repr(thing.to_dict()), str(getattr(thing, "dtypes", "")), str(thing.index)
    if isinstance(thing, list | tuple):
        return [picture(part) for part in thing]
    return repr(thing) if isinstance(thing, str | int | float | dict) else id(thing)


def _picture_of_array(array):
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    content = repr(whole.tolist()) if whole.dtype.hasobject else whole.tobytes()
    return array.shape, array.strides, array.dtype.str, array.flags.writeable, content
