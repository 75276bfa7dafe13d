"""Write the files of a report, each of them whole or not at all: ``index.html``, ``tables.md`` and ``records.csv``."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from isrht.datasets.own import register_all
from isrht.datasets.registry import describe
from isrht.experiments.journal import Journal
from isrht.report._answer import answer_of
from isrht.report._drawing import write_figures
from isrht.report._page import DEVIATIONS, current_set_skips, page
from isrht.report._tables import comparison_table, complexity_table, overview_table, results_tables
from isrht.report._takeaways import takeaways
from isrht.report.aggregate import Records
from isrht.support.atomic_writes import replaced_when_whole
from isrht.support.visible import visible_lines


def write_report(journal_path, folder, figures=None):
    """Read a journal and write a report of it.

    Parameters
    ----------
    journal_path : path
        The journal, which may be compressed (``.xz``).
    folder : path
        Where to write; the folder is made if it is not there.
    figures : path, default=None
        A folder for the figures as SVG, PDF and PNG, which need matplotlib; without it there are none.

    Returns
    -------
    paths : dict
        The paths of the files by name.
    """
    records = records_of(journal_path)
    texts = {"index.html": page(records), "tables.md": markdown(records), "records.csv": as_csv(records)}
    paths = {name: write_whole(Path(folder) / name, text) for name, text in texts.items()}
    drawn = write_figures(records, figures) if figures else []
    return paths | {path.name: path for path in drawn}


def records_of(journal_path):
    """Return the :class:`~isrht.report.aggregate.Records` of a journal, and make its sets known."""
    contents = Journal(journal_path).read()
    register_all(contents.records)
    return Records(contents.records, contents.damaged)


def markdown(records):
    """Return all tables and their notes as Markdown; of the user's own sets the answers, too."""
    own = [name for name in records.sets if describe(name).source]
    # On the page names are escaped anyway; this file may be read in a terminal, which obeys control characters.
    return visible_lines("\n".join(_markdown_on_own(records, own) if own else _markdown_on_paper(records)))


def _markdown_on_own(records, own):
    for name in own:
        answer = answer_of(records, name)
        yield f"### {name}: the answer\n\n" + "\n".join(f"- {line}" for line in answer.sentences()) + "\n"
        yield comparison_table(name, answer).markdown()


def _markdown_on_paper(records):
    complexity = complexity_table(records)
    tables = [overview_table(records), *results_tables(records), *([complexity] if complexity.rows else [])]
    parts = [table.markdown() for table in tables]
    skipped = [f"- {skip['set']} skipped: {skip['reason']}" for skip in current_set_skips(records)]
    if words := "\n".join(f"- {line}" for line in takeaways(records)):
        parts.insert(0, f"### At a glance\n\n{words}\n")
    if skipped:
        parts.insert(0, "\n".join(skipped) + "\n")
    deviations = "\n".join(f"- {line}" for line in DEVIATIONS)
    return [*parts, f"### Deviations from the paper\n\n{deviations}\n"]


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
