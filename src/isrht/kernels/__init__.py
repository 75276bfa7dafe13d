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

try:
    from isrht.kernels import _core  # type: ignore[attr-defined]  # it is compiled, and may not be there
except ImportError:
    _core = None  # type: ignore[assignment]  # Where nothing was compiled, there is no module.

NUMPY = "numpy"


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
        raise ValueError(f"ISRHT_KERNEL={name!r} is not available here: choose one of {', '.join(available())}")
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
        warnings.warn(
            "isrht was installed without its compiled kernels (no C++17 compiler was found then): NumPy serves, "
            "much slower. Install a compiler and reinstall, or set ISRHT_KERNEL=numpy to silence this.",
            RuntimeWarning,
            stacklevel=2,
        )


engine = _core or _numpy_twins()
_choose()
