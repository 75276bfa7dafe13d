"""``isrht compare``: compare methods on the user's data, at several r: an answer in words, a table and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isrht.cli._messages import FAILED, give, give_json, say
from isrht.cli._reading import Format, IndexBase, Label, MaxFeatures, check_read_again, describe_facts, training_options
from isrht.cli._training_rows import check_facts
from isrht.cli.reproduce import JOURNAL, Jobs, Methods, Quiet, continued

Data = Annotated[list[str], typer.Argument(help="The rows: files, or a quoted pattern.")]
Test = Annotated[str | None, typer.Option("--test", help="Rows to test on; default: 30 % of the rows, drawn once.")]
RS_HELP = "A number of columns; may be repeated. Default: 16, 64 and 256, as far as there are features."
Rs = Annotated[list[int] | None, typer.Option("--components", "-r", min=1, help=RS_HELP)]
Name = Annotated[str | None, typer.Option("--name", help="What to call the set; default: the name of the file.")]
Repetitions = Annotated[int, typer.Option("--repetitions", "-n", min=1, help="Runs of each method with randomness.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="The folder for journal and report.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the table as JSON.")]

DEFAULT_RS = (16, 64, 256)


def compare(
    data: Data,
    test: Test = None,
    rs: Rs = None,
    methods: Methods = None,
    repetitions: Repetitions = 3,
    name: Name = None,
    format: Format = None,
    label: Label = None,
    index_base: IndexBase = "auto",
    max_features: MaxFeatures = None,
    out: Out = Path("isrht-compare"),
    jobs: Jobs = 0,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Compare methods on your rows, and say which to use: the paper's, boosted columns and all features.

    Like reproduce, it continues where it stopped.
    """
    from isrht.cli._progress import listener
    from isrht.experiments.methods import METHODS, method_named
    from isrht.experiments.reproduce import Settings, reproduce
    from isrht.files.opening import find, open_rows
    from isrht.report._answer import answer_of
    from isrht.report.write import records_of, write_report

    names = tuple(method_named(method).name for method in methods or METHODS)
    paths, tests = absolute(find(data)), absolute(find(test)) if test else None
    options = training_options(format, index_base, label, max_features)
    facts = open_rows(paths, **options).scan()
    if not quiet:
        for line in describe_facts(facts):
            say(line)
    check_classes(paths, facts)
    journal = out / JOURNAL
    set_name = name or Path(paths[0]).name
    options.pop("limits", None)  # the number of features, which is known now, takes their place
    options |= {} if facts.index_base is None else {"index_base": facts.index_base}
    register(journal, set_name, facts, paths, tests, options, usable(rs, facts.n_features))
    settings = Settings(journal, (set_name,), names, ("table", "radius"), repetitions, repetitions, jobs=jobs)
    with continued(journal):
        summary = reproduce(settings, listener(quiet))
        written = write_report(journal, out)
    table = accuracy_table(journal, set_name)
    answer = answer_of(records_of(journal), set_name)
    words = list(answer.sentences()) if answer else []
    if as_json:
        give_json({"answer": words, "table": table, "files": {name: str(path) for name, path in written.items()}})
    else:
        for line in (*words, "", *as_text(table)):
            give(line)
        say(f"the page: {written['index.html']}")
    if summary.failed:
        say(f"{len(summary.failed)} of {summary.done} runs failed; the page names them")
        raise typer.Exit(FAILED)


def check_classes(paths, facts):
    """Refuse rows that cannot be compared on: every one of at least two classes must have rows to train and to test."""
    check_facts(paths, facts)
    if facts.classes is None or len(facts.classes) < 2:
        raise ValueError(f"{' '.join(paths)}: there must be rows of two classes at least")
    if min(facts.classes.values()) < 2:
        raise ValueError(f"{' '.join(paths)}: a class has one row only, which cannot both train and test")


def absolute(paths):
    """Return absolute paths, because the journal may be continued from another folder."""
    from isrht.files.folders import folders_of, in_folders

    check_read_again(paths, "every process reads the rows")
    return [in_folders(str(Path(path).resolve()), folders_of(path)) for path in paths]


def usable(rs, n_features):
    """Return the numbers of columns that are asked for, or those of the default that are not more than the features."""
    return list(rs) if rs else [r for r in DEFAULT_RS if r <= n_features] or [n_features]


def register(journal_path, *description):
    """Write the record of a set into the journal, once, and make the set known."""
    from isrht.datasets.own import register_all, set_record
    from isrht.experiments.journal import Journal, canonical, checksum

    record = set_record(*description)
    record |= {"key": checksum(canonical(record))}
    journal = Journal(journal_path)
    if record["key"] not in {known.get("key") for known in journal.read().records}:
        journal.append(record)
    register_all([record])


def accuracy_table(journal_path, set_name):
    """Return the table as one dictionary per row: method, r, accuracy and its deviation, seconds and bytes."""
    from isrht.experiments.journal import Journal
    from isrht.report.aggregate import Records

    groups = Records(Journal(journal_path).read().records).of_set(set_name)
    return [
        {
            "method": method,
            "r": r if method != "All features" else None,
            "accuracy": group.accuracy.mean,
            "std": group.accuracy.std,
            "seconds": group.seconds.mean,
            "bytes": group.model_bytes.mean,
        }
        for method, by_r in groups.items()
        for r, group in by_r.items()
    ]


def as_text(table):
    """Yield the table in lines for a terminal, with a mark at the best accuracy for every r."""
    best = {row["r"]: max(other["accuracy"] for other in table if other["r"] == row["r"]) for row in table}
    yield f"{'method':32} {'r':>5}  {'accuracy, %':>15}  {'CPU s':>8}  {'model bytes':>13}"
    for row in table:
        spread = "" if row["std"] is None else f" ± {row['std']:.2f}"
        accuracy = f"{row['accuracy']:.2f}{spread:8}"
        mark = "  best" if row["r"] is not None and row["accuracy"] == best[row["r"]] else ""
        cells = f"{accuracy:>15}  {row['seconds']:8.2f}  {int(row['bytes']):13,}"
        yield f"{row['method']:32} {row['r'] or '':>5}  {cells}{mark}"
