"""Write docs/coverage.md: how much of Python and C++ the tests run, and why the rest is not run.

``make coverage`` counts and calls it. Every line that no test runs is listed with the reason that
``tools/coverage_reasons.toml`` gives for its file or its function; a line without a reason is a test that is missing.
Reasons know no line numbers, so that they stay true while a file grows.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import defaultdict
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "coverage.md"
REASONS = ROOT / "tools" / "coverage_reasons.toml"
NO_REASON = "**no reason: a test is missing**"
# What is in no function.
MODULE = "module"


def of_python(report):
    """Return how many lines count, and those of each function that were not run, by file, of coverage.py's report."""
    files = {}
    for name, file in report["files"].items():
        places = {place or MODULE: part["missing_lines"] for place, part in file["functions"].items()}
        files[name.split("site-packages/")[-1].removeprefix("src/")] = (
            len(file["executed_lines"]) + len(file["missing_lines"]),
            {place: missing for place, missing in places.items() if missing},
        )
    return files


def of_cpp(report):
    """Return the same of gcovr's report. A line of a template is run if one of its instances has run it."""
    files = {}
    for file in report["files"]:
        counts = defaultdict(int)
        for line in file["lines"]:
            if not line.get("gcovr/noncode"):
                counts[line["line_number"]] += line["count"]
        missing = sorted(number for number, count in counts.items() if not count)
        files[file["file"]] = (len(counts), {MODULE: missing} if missing else {})
    return files


def share(files):
    total = sum(count for count, _ in files.values())
    missing = sum(len(lines) for _, places in files.values() for lines in places.values())
    return f"{100 * (total - missing) / max(1, total):.1f} % ({total - missing:,} of {total:,} lines)"


def ranges(lines):
    """Return line numbers as text, consecutive ones as a range: "3, 7-9"."""
    runs = [list(run) for _, run in groupby(enumerate(lines), lambda pair: pair[1] - pair[0])]
    return ", ".join(str(run[0][1]) if len(run) == 1 else f"{run[0][1]}-{run[-1][1]}" for run in runs)


class Reasons:
    """Why lines are not run: a text for a whole file, or a table of texts by function, whose names may be patterns."""

    def __init__(self, table):
        self.table = {file: {"*": entry} if isinstance(entry, str) else entry for file, entry in table.items()}
        self.needed = set()

    def of(self, file, place):
        """Return why lines of a function are not run."""
        for pattern, reason in self.table.get(file, {}).items():
            if fnmatchcase(place, pattern):
                self.needed.add((file, pattern))
                return reason
        return NO_REASON

    def idle(self):
        """Return the reasons that nothing has been asked for: their lines are run, or gone."""
        return sorted({(file, pattern) for file, entry in self.table.items() for pattern in entry} - self.needed)


def page(python, cpp, reasons):
    """Return the text of the page."""
    rows = [
        f"| `{name}` | {'' if place == MODULE else f'`{place}`'} | {ranges(missing)} | {reasons.of(name, place)} |"
        for name, (_, places) in sorted({**python, **cpp}.items())
        for place, missing in places.items()
    ]
    return "\n".join(
        [
            "# Coverage",
            "",
            "How much of the code the tests run, as `make coverage` counts it: coverage.py for Python, in all",
            "processes that tests start; gcov for C++, where a line of a template has run if one instance has run it.",
            "",
            f"- Python: {share(python)}",
            f"- C++: {share(cpp)}",
            "",
            "## Lines that no test runs, and why",
            "",
            "| file | function | lines | why |",
            "|---|---|---|---|",
            *rows,
            "",
            MUTANTS,
        ]
    )


MUTANTS = """\
## Mutants

Whether a line is run says nothing of whether a test would notice a fault in it. [Mutation testing](mutants.md) does.
"""


def main():
    """Read the two reports in the folder that is given, and write the page and a summary beside the reports."""
    folder = Path(sys.argv[1])
    python = of_python(json.loads((folder / "python.json").read_text()))
    cpp = of_cpp(json.loads((folder / "cpp.json").read_text()))
    reasons = Reasons(tomllib.loads(REASONS.read_text()))
    text = page(python, cpp, reasons)
    PAGE.write_text(text)
    (folder / "summary.md").write_text(f"- Python: {share(python)}\n- C++: {share(cpp)}\n")
    print((folder / "summary.md").read_text(), end="")
    missing = text.count(NO_REASON)
    print(f"{missing} functions have lines without a reason" if missing else "every line has run, or has a reason")
    for file, pattern in reasons.idle():
        print(f"the reason for {pattern} of {file} is not needed any more")


if __name__ == "__main__":
    main()
