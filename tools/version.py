"""Compare the places that have the version: the package, the citation, the changelog and, for a release, the tag.

``src/isrht/__init__.py`` is the source; ``pyproject.toml`` reads it. ``python tools/version.py --tag v1.2.3`` ends with
an error unless a release of that name may be made: its version is everywhere, and the changelog has a section for it.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def of_package():
    return _found("src/isrht/__init__.py", r'^__version__ = "(.+)"$')


def of_citation():
    return _found("CITATION.cff", r"^version: (.+)$")


def sections_of_changelog():
    """Return the versions that the changelog has sections of, the newest first."""
    return re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def problems(tag=None):
    """Return what is wrong, in words: nothing, or why a release of this tag may not be made."""
    version = of_package()
    found = []
    if of_citation() != version:
        found.append(f"CITATION.cff says {of_citation()}, src/isrht/__init__.py says {version}")
    if tag is not None and tag != f"v{version}":
        found.append(f"the tag is {tag}, but the version is {version}")
    if tag is not None and version not in sections_of_changelog():
        found.append(f"CHANGELOG.md has no section [{version}]")
    return found


def _found(path, pattern):
    return re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)[1]


def main():
    """End with an error that says what is wrong, or say that all is well."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tag")
    found = problems(parser.parse_args().tag)
    if found:
        raise SystemExit("\n".join(found))
    print(of_package())


if __name__ == "__main__":
    main()
