"""The facts a bug report needs: versions, kernels, processor."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version


def information():
    """Yield the facts as pairs (name, value)."""
    from isrht import __version__, kernels

    yield "isrht", __version__
    yield "kernel", kernels.active()
    yield "kernels available", ", ".join(kernels.available())
    if kernels.FAULT:
        yield "compiled kernels", f"cannot be loaded: {kernels.FAULT}"
    yield "processor", f"{platform.machine()}: {', '.join(kernels.processor_features()) or 'features unknown'}"
    yield "python", platform.python_version()
    for package in ("numpy", "scipy", "scikit-learn"):
        try:
            yield package, version(package)
        except PackageNotFoundError:
            yield package, "not installed"
    yield "system", platform.platform()
