"""The environment that a result comes from: machine, versions and commit, without which it could not be judged."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from isrht.experiments.journal import canonical, checksum

PACKAGES = ("isrht", "numpy", "scipy", "scikit-learn")


def environment():
    """Return the environment as a record of the journal; the records of runs refer to it by its key."""
    from isrht import kernels

    facts = {
        "kind": "environment",
        "machine": platform.machine(),
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "memory_bytes": memory_bytes(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {package: installed(package) for package in PACKAGES},
        "kernel": kernels.active(),
        "commit": commit(),
    }
    return facts | {"key": checksum(canonical(facts))}


def processor_name():
    """Return the name of the processor, or what there is to know of it where there is no ``/proc``."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def memory_bytes():
    """Return how much memory the machine has, or None where the system does not tell, as Windows does not."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def installed(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def commit():
    """Return the commit of the source tree that this package is imported from, or None if it comes from no such tree.

    A "+" follows if files differ from those of the commit. A package that is installed below somebody's repository
    comes from no such tree: this file must be known to the repository, at the place that it has in ours.
    """
    file = Path(__file__).resolve()
    folder = file.parent
    try:
        top = Path(_git(folder, "rev-parse", "--show-toplevel"))
        if (top / "src" / "isrht" / "experiments" / file.name).resolve() != file:
            return None
        _git(folder, "ls-files", "--error-unmatch", file.name)
        head = _git(folder, "rev-parse", "--short=12", "HEAD")
        return head + ("+" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder, *arguments):
    command = ["git", "--no-optional-locks", *arguments]  # without the option it would write to the repository's index
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()
