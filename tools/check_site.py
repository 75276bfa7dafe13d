"""Check the built site: every link within it leads somewhere, every picture is there, and every public name has its
place.

``python tools/check_site.py docs/_build/html`` names what is wrong and ends with 1, or says how much was checked.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]


class Page(HTMLParser):
    """The places of a page that can be linked to, the addresses it links to, and its pictures without a description."""

    def __init__(self, text):
        super().__init__()
        self.places, self.addresses, self.undescribed = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        wanted = {"a": "href", "link": "href", "img": "src", "script": "src"}.get(tag)
        if attributes.get(wanted):
            self.addresses.append(attributes[wanted])
        if tag == "img" and "alt" not in attributes:  # an empty one says that a text beside it tells the same
            self.undescribed.append(attributes.get("src"))


@cache
def page(path):
    return Page(path.read_text(encoding="utf-8"))


def problems_of(path, site):
    """Yield what is wrong with one page."""
    for source in page(path).undescribed:
        yield f"the picture {source} has no description (alt)"
    for address in page(path).addresses:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_relative_to(site) or not target.is_file():
            yield f"{address} leads nowhere"
        elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in page(target).places:
            yield f"{address}: there is no such place on that page"


def missing_names(site):
    """Yield the public names that have no place in the reference."""
    spec = importlib.util.spec_from_file_location("public_names", ROOT / "docs" / "_ext" / "public_names.py")
    names = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(names)
    for group in names.public_names().values():
        for name in group:
            own = site / "reference" / "generated" / f"{name}.html"
            if not own.is_file() or name not in page(own).places:
                yield name


def main(folder):
    site = Path(folder).resolve()
    pages = [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    problems = [f"{path.relative_to(site)}: {problem}" for path in pages for problem in problems_of(path, site)]
    problems += [f"the reference does not have {name}" for name in missing_names(site)]
    for problem in problems:
        print(problem, file=sys.stderr)
    links = sum(len(page(path).addresses) for path in pages)
    print(f"{len(pages)} pages, {links:,} addresses: {len(problems)} problems")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
