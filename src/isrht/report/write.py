"""Write the files of a report, each of them whole or not at all: ``index.html``, ``tables.md`` and ``records.csv``."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from isrht.datasets.own import register_all
from isrht.experiments.journal import Journal
from isrht.report._page import DEVIATIONS, current_set_skips, page
from isrht.report._tables import complexity_table, overview_table, results_tables
from isrht.report.aggregate import Records
from isrht.support.atomic_writes import replaced_when_whole
from isrht.support.visible import visible_lines


def write_report(journal_path, folder):
    """Read a journal and write a report of it.

    Parameters
    ----------
    journal_path : path
        The journal, which may be compressed (``.xz``).
    folder : path
        Where to write; the folder is made if it is not there.

    Returns
    -------
    paths : dict
        The paths of the files by name.
    """
    contents = Journal(journal_path).read()
    register_all(contents.records)
    records = Records(contents.records, contents.damaged)
    texts = {"index.html": page(records), "tables.md": markdown(records), "records.csv": as_csv(records)}
    return {name: write_whole(Path(folder) / name, text) for name, text in texts.items()}


def markdown(records):
    """Return all tables and their notes as Markdown."""
    complexity = complexity_table(records)
    tables = [overview_table(records), *results_tables(records), *([complexity] if complexity.rows else [])]
    parts = [table.markdown() for table in tables]
    skipped = [f"- {skip['set']} skipped: {skip['reason']}" for skip in current_set_skips(records)]
    if skipped:
        parts.insert(0, "\n".join(skipped) + "\n")
    deviations = "\n".join(f"- {line}" for line in DEVIATIONS)
    # On the page names are escaped anyway; this file may be read in a terminal, which obeys control characters.
    return visible_lines("\n".join([*parts, f"### Deviations from the paper\n\n{deviations}\n"]))


def as_csv(records):
    """Return one line of CSV for every run, also for those that failed; nested fields are named ``seconds.fit``."""
    rows = [_flat(record) for record in records.all if record["kind"] in ("accuracy", "projection")]
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def write_whole(path, text):
    """Write a text to a file in one step, so that a reader never sees half of it, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced_when_whole(path) as file:
        file.write(text.encode())
    return path


def _flat(record):
    flat = {}
    for name, value in record.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": entry for inner, entry in value.items()}
        elif name == "shape":
            flat |= dict(zip(("n_train", "n_test", "n_features"), value, strict=True))
        elif isinstance(value, list):
            flat[name] = " ".join(map(str, value))
        else:
            flat[name] = value
    return flat
