"""The kernels that serve: the compiled ones, under one of several instruction sets, or their NumPy twins.

The best that this processor can run is chosen when the package is imported. ``ISRHT_KERNEL`` overrides the choice:
``numpy``, ``baseline``, ``avx2`` or ``avx512``. Whoever needs a kernel calls ``kernels.engine.<name>``, whose twin in
:mod:`isrht.kernels._reference` says what it does. Arrays that belong together travel as one record
(:mod:`isrht.kernels.records`).

The room uses ``support``; ``files``, ``rows``, ``transform``, ``projections``, ``boosting``, ``linear`` and ``models``
use it.
"""

from __future__ import annotations

import os
import warnings

MODULE = "isrht.kernels._core"
FAULT = None  # why the compiled kernels, which are there, cannot be loaded
try:
    import isrht.kernels._core as _core  # by ``from`` a module that is not there would be no ModuleNotFoundError
except ImportError as error:
    _core = None  # type: ignore[assignment]  # Where nothing was compiled, there is no module.
    if not (isinstance(error, ModuleNotFoundError) and error.name == MODULE):
        FAULT = str(error)

NUMPY = "numpy"
REINSTALL = "pip install --force-reinstall --no-deps --no-cache-dir isrht"  # pip keeps the wheel that it built before


def available():
    """Return the names that ``ISRHT_KERNEL`` may have on this machine, the slowest first."""
    return [NUMPY, *(_core.available_variants() if _core else ())]


def active():
    """Return the name of the kernels that serve now."""
    return _core.active_variant() if engine is _core else NUMPY


def use(name):
    """Let other kernels serve."""
    global engine
    if name not in available():
        why = f" (the compiled kernels cannot be loaded: {FAULT})" if FAULT else ""
        raise ValueError(f"ISRHT_KERNEL={name!r} is not available here: choose one of {', '.join(available())}{why}")
    if name == NUMPY:
        engine = _numpy_twins()
        return
    _core.use_variant(name)
    engine = _core


def processor_features():
    """Return the instruction sets of this processor that some kernel uses; none are known without compiled kernels."""
    return _core.processor_features() if _core else []


def _numpy_twins():
    """Import the twins, and SciPy with them, only where they serve."""
    from isrht.kernels import _reference

    return _reference


def _choose():
    asked = os.environ.get("ISRHT_KERNEL")
    if asked:
        use(asked)
    elif _core is None:
        if FAULT:
            what, remedy = f"the compiled kernels of isrht cannot be loaded ({FAULT})", f"Reinstall by `{REINSTALL}`"
        else:
            what = "isrht was installed without its compiled kernels (no C++17 compiler was found then)"
            remedy = f"Install a compiler, then reinstall by `{REINSTALL}`"
        warnings.warn(
            f"{what}: NumPy serves, much slower. {remedy}, or set ISRHT_KERNEL=numpy to silence this.",
            RuntimeWarning,
            stacklevel=2,
        )


engine = _core or _numpy_twins()
_choose()
