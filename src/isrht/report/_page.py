"""The page of a report: one HTML file that needs no network, fits a phone, can be printed, and is light or dark."""

from __future__ import annotations

import json
from html import escape

from isrht.datasets.registry import describe
from isrht.report._answer import answer_of
from isrht.report._figures import all_figures
from isrht.report._frame import framed, style_file
from isrht.report._tables import (
    comparison_table,
    complexity_table,
    notes_on,
    overview_table,
    results_tables,
    told_failure,
)
from isrht.report._takeaways import takeaways

# The fields of a record that the page shows.
FIELDS = (
    "key", "set", "method", "r", "protocol", "seed", "accuracy", "best_accuracy", "cv_accuracy", "C", "total_seconds",
    "model_bytes", "data", "environment", "finished",
)  # fmt: skip

DEVIATIONS = (
    "C is chosen by 5-fold cross-validation on the training rows; where columns are chosen with labels, every fold "
    "chooses its own. The published numbers are the best accuracy on the test rows over all C (errata 7): compare them "
    "with the column 'best over C', which is there after --protocol paper.",
    "ISRHT-supervised takes the r columns of smallest b; the paper's text says largest (errata 1).",
    "The split is drawn once (stratified, seed 0) and repetitions differ in the projection: methods without randomness "
    "run once. The paper says 70 % training rows; its data table says 6,000 of 8,124 mushrooms and 67 % elsewhere, "
    "which is used here.",
    "ISRHT-nps draws with replacement and rescales, and norms are of data that are not centred, as the text says; the "
    "authors' code centres the data, and draws without replacement and without rescaling (errata 5 and 6). The rows "
    "'authors' code' do as it does, on dense sets.",
    "usps-b is odd against even digits; the paper does not define it, and its 'All features' and PCA fit the ten-class "
    "task (errata 9).",
    "On sparse data 'sketch 2r' is the paper's text and 'sketch 8192' the authors' code (errata 8); without a sketch "
    "the projection is exact, which is ours.",
    "Sparse sets are divided by their largest absolute value instead of mapped to [-1, 1] (errata 12). Dividing each "
    "feature by its own was compared on the test rows of one seed before this was chosen.",
    "DLSS ranks features by leverage in the best rank-10 approximation (rank r where that is less); the paper does not "
    "give its rank, and it matters: on the test rows ranks 2, 5, 10, 16, 50 and 256 gave 91.9, 97.2, 96.3, 96.4, 97.3 "
    "and 51.5 on gisette-like, and between 72.9 and 81.6 on usps-b for ranks up to 16. 10 was fixed before looking.",
    "Seconds are CPU seconds of one core, tuning included; the paper's are those of another machine without saying "
    "what is included, so times are not compared.",
)


MEASURED = (
    "Every method learned from the same training rows and was judged by the same test rows, which none had seen.",
    "C was chosen by 5-fold cross-validation on the training rows; where columns are chosen with labels, every fold "
    "chose its own. Methods with randomness ran several times with other seeds.",
    "Seconds are CPU seconds of one core, for fitting, projecting, choosing C, training and predicting. Bytes are what "
    "must be kept to predict as the method does it; any of these can also be folded into one weight per feature.",
    "Whether two accuracies can be told apart is judged by a z-test of two proportions on the test rows, at 1 in 20. "
    "More test rows (--test) make it sharper, more runs (-n) do so for methods with randomness.",
)


def page(records):
    """Return the page as text: about the user's own data if there are such, else about the paper."""
    own = [name for name in records.sets if describe(name).source]
    shown = [section for section in (_sections_on_own(records, own) if own else _sections(records)) if section[2]]
    navigation = " ".join(f'<a href="#{name}">{escape(title)}</a>' for name, title, _ in shown)
    body = "".join(
        f'<section id="{name}"><h2>{escape(title)}</h2>{content}</section>' for name, title, content in shown
    )
    return framed(
        title=f"Which method for {', '.join(own)}?" if own else "The paper on improved SRHT, run again",
        header=f'{_intro_on_own(records) if own else _intro(records)}\n<nav aria-label="Sections">{navigation}</nav>',
        main=f"{_warnings(records)}\n{body}",
        after=BEHIND.format(records=embedded_json(records), js=style_file("page.js")),
    )


def _sections(records):
    """Return the sections of a page about the paper: their names, titles and contents."""
    tables = results_tables(records)
    of_paper = [table for table in tables if describe(table.name.removeprefix("results-")).paper_name]
    others = [table for table in tables if table not in of_paper]
    complexity = complexity_table(records)
    summary = (
        _list(takeaways(records), "takeaways") + overview_table(records).html() if tables else "<p>No results yet.</p>"
    )
    return [
        ("summary", "At a glance", summary),
        ("results", "Results table, beside the published one", _results_legend() + _join(of_paper) if of_paper else ""),
        ("embedded", "Embedded sets", _join(others)),
        ("figures", "Figures", _join(all_figures(records))),
        ("complexity-section", "Table 1 (complexity), measured", complexity.html() if complexity.rows else ""),
        ("deviations", "Deviations from the paper", _list(DEVIATIONS)),
        ("sources", "Where these numbers come from", _sources(records)),
    ]


def _sections_on_own(records, own):
    """Return the sections of a page about the user's own data, which begins with an answer."""
    answers = {name: answer_of(records, name) for name in own}
    words = "".join(
        (f"<h3>{escape(name)}</h3>" if len(own) > 1 else "") + _list(list(answer.sentences()), "answer")
        for name, answer in answers.items()
    )
    tables = [_with_notes(records, name, comparison_table(name, answer)) for name, answer in answers.items()]
    return [
        ("summary", "The answer", words),
        ("results", "All methods", _join(tables)),
        ("figures", "Figures", _join(all_figures(records))),
        ("measured", "How it was measured", _list(MEASURED)),
        ("sources", "Where these numbers come from", _sources(records)),
    ]


def _with_notes(records, name, table):
    table.notes += notes_on(records, name)
    return table


# What a click fills: the tip under the pointer, and the records behind a number.
BEHIND = """<div id="tip" aria-hidden="true"></div>
<dialog id="behind" aria-labelledby="behind-title"><form method="dialog">
<h2 id="behind-title">Records</h2><div class="scroll" tabindex="0"></div><p><button>Close</button></p>
</form></dialog>
<script type="application/json" id="records">{records}</script>
<script>
{js}</script>
"""


def embedded_json(records):
    """Return the records for the script of the page, in which no text may look like the end of an HTML element."""
    rows = [[record.get(name) for name in FIELDS] for record in records.runs]
    text = json.dumps({"columns": FIELDS, "rows": rows}, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _intro(records):
    finished = max((record["finished"] for record in records.runs), default="")
    return (
        '<p class="lead">Lei &amp; Lan, <cite>Improved Subsampled Randomized Hadamard Transform for Linear SVM</cite>, '
        f"AAAI 2020. {len(records.runs):,} runs on {len(records.sets)} sets"
        f"{f', the last finished {escape(finished)}' if finished else ''}. Click a number for the records behind it, a "
        "column to sort by it, a method in a legend to hide it.</p>"
    )


def _intro_on_own(records):
    finished = max(record["finished"] for record in records.runs)
    return (
        f'<p class="lead">{len(records.runs):,} runs of <code>isrht compare</code>, the last finished '
        f"{escape(finished)}. Click a number for the runs behind it, a column to sort by it, a method in a legend "
        "to hide it.</p>"
    )


def _warnings(records):
    """Return what is said before any number: stand-ins, skipped sets, failures and damage."""
    lines = [
        f"{name} stands in for {describe(name).stands_for}: {describe(name).about}."
        for name in records.sets
        if describe(name).stands_for
    ]
    lines += [f"{skip['set']} skipped: {skip['reason']}." for skip in current_set_skips(records)]
    if records.failed:
        lines.append(f"{len(records.failed)} runs failed; they are named under their tables and in records.csv.")
        lines += [f"{failed['set']}, which has no table: {told_failure(failed)}" for failed in _without_table(records)]
    if records.damaged:
        lines.append(f"{len(records.damaged)} damaged lines of the journal were left out: {records.damaged[:20]}.")
    return f'<div class="warn"><strong>Read with care</strong>{_list(lines)}</div>' if lines else ""


def _without_table(records):
    """Return a failed run of each method and set of which no run succeeded, so that there is no table to name it."""
    failed = (record for record in records.failed if record["set"] not in records.sets)
    return {(record["set"], record["method"]): record for record in failed}.values()


def current_set_skips(records):
    """Return the skips of sets that have not been run since, nor a stand-in for them."""
    present = set(records.sets) | {describe(name).stands_for for name in records.sets}
    last = {skip["set"]: skip for skip in records.skips if skip["method"] is None}
    return [skip for name, skip in last.items() if name not in present]


def _results_legend():
    return (
        "<p>Accuracy in percent, mean ± standard deviation over the runs. <em>Difference</em> is ours minus published, "
        "of the best over C where it was recorded (like with like), else of the cross-validated accuracy. <em>p</em> "
        "is Welch's t-test from means and deviations (15 published runs), or, where there is one run, a z-test of two "
        "proportions on the test rows; * marks p &lt; 0.01. The best projection of a set is bold.</p>"
    )


def _sources(records):
    facts = []
    for here in records.environments:
        versions = ", ".join(f"{name} {number}" for name, number in here["versions"].items())
        facts.append(
            f"<dt>{escape(here['key'])}</dt><dd>{escape(here['processor'] or here['machine'])}, {here['cores']} cores, "
            f"{escape(here['system'])}, Python {escape(here['python'])}, {escape(versions)}, kernel "
            f"{escape(here['kernel'])}, commit {escape(here['commit'] or 'unknown')}</dd>"
        )
    data = {(record["set"], record["data"]) for record in records.runs}
    facts += [f"<dt>{escape(name)}</dt><dd>data checksum {escape(digest)}</dd>" for name, digest in sorted(data)]
    return (
        "<p>Every run is one line of the journal with its own checksum; records.csv holds the same. Runs name their "
        f'environment and data by these keys:</p><dl class="facts">{"".join(facts)}</dl>'
    )


def _join(parts):
    return "".join(part.html() for part in parts)


def _list(lines, kind=""):
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="{kind}">{items}</ul>' if kind else f"<ul>{items}</ul>"
