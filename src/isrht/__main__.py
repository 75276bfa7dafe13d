"""``python -m isrht info``: what is installed, and which kernels serve."""

from __future__ import annotations

import argparse
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from isrht import __version__, _kernels


def information():
    """The facts a bug report needs, as (name, value) pairs."""
    yield "isrht", __version__
    yield "kernel", _kernels.active()
    yield "kernels available", ", ".join(_kernels.available())
    yield "processor", f"{platform.machine()}: {', '.join(_kernels.processor_features()) or 'features unknown'}"
    yield "python", platform.python_version()
    for package in ("numpy", "scipy", "scikit-learn"):
        try:
            yield package, version(package)
        except PackageNotFoundError:
            yield package, "not installed"
    yield "system", platform.platform()


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="isrht", description=__doc__.partition(": ")[2])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="version, chosen kernel, processor features, versions of what it builds on")
    parser.parse_args(arguments)
    for name, value in information():
        print(f"{name:18} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
