"""The page of a model: what its file says about it, as one HTML file that needs no network and no script.

It shows what ``isrht inspect`` prints: parameters, what was learned, held-out scores by C or by rounds, the scores of
columns, and the most telling features. A file may come from a stranger, so every text of it is escaped.
"""

from __future__ import annotations

from html import escape

from isrht.report._frame import framed
from isrht.report.chart import Axis, Chart
from isrht.report.styles import BASES
from isrht.support.visible import visible

COLORS = [style for name, style in BASES.items() if name not in ("PCA", "DLSS")]
# Widths of bars are parts of this.
WHOLE = 100


def model_page(facts):
    """Return the page, as text, of the facts that :func:`isrht.models.inspection.inspect_file` returns."""
    sections = [
        ("Most telling features", _features(facts)),
        ("Scores of held-out rows", _held_out(facts)),
        ("Scores of columns", _columns(facts["column_scores"])),
        ("What was learned", _table(_plain(facts["learned"]))),
        *((f"{name} ({part['class']})", _table(_plain(part))) for name, part in facts["parts"].items()),
        ("Parameters", _table(facts["parameters"]) + _not_stored(facts["not_stored"])),
        ("About", _table(facts["about"]) if facts["about"] else ""),
    ]
    body = "".join(f"<section><h2>{_text(title)}</h2>{content}</section>" for title, content in sections if content)
    file = facts["file"]
    intro = f"{file['path']}: {file['bytes']:,} bytes, written by isrht {file['isrht_version']}"
    return framed(visible(facts["class"]), f"<p>{_text(intro)}</p>", body)


def _features(facts):
    """Return a table of features with bars, or nothing for a model without weights."""
    rows = facts["features"]
    if not rows:
        return ""
    base = 1 if facts["about"].get("index_base") == 1 else 0
    largest = max(abs(row["weight"]) for row in rows) or 1.0
    lines = []
    for row in rows:
        name = row["feature"] + base if row["name"] is None else row["name"]
        width = WHOLE * abs(row["weight"]) / largest
        color = COLORS[2 if row["weight"] > 0 else 5].color
        bar = f'<div style="width:{width:.1f}%;height:.8em;background:{color}"></div>'
        cells = (_text(name), f"{row['weight']:+.5g}", _text(row["class"]), bar)
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    note = "A weight is per unit of its feature. A positive one speaks for the class that is named, others against it."
    head = "<tr><th>feature</th><th>weight</th><th>class</th><th style='width:50%'></th></tr>"
    return f'<p>{note}</p><div class="scroll"><table>{head}{"".join(lines)}</table></div>'


def _held_out(facts):
    """Return charts of the scores by which the model, or a part of it, was chosen."""
    found = []
    for part in (facts["learned"], *facts["parts"].values()):
        if "search" in part:
            found.append(_by_rounds(part["search"], part["rounds_"]))
        elif "cross_validation" in part and len(part["cross_validation"]["Cs_"]) > 1:
            found.append(_by_C(part["cross_validation"], part["C_"]))
    return "".join(dict.fromkeys(found))


def _by_C(found, chosen):
    points = [
        point
        for point in zip(found["Cs_"], found["mean_scores_"], found["std_scores_"], strict=True)
        if None not in point
    ]
    if not points:
        return ""
    ends = [end for _, mean, std in points for end in (mean - std, mean + std)]
    chart = Chart(Axis.around("C", found["Cs_"], log=True), Axis.around("held-out score", ends), "held-out score by C")
    style = COLORS[0]
    chart.line([(C, mean) for C, mean, _ in points], style, "mean")
    for C, mean, std in points:
        chart.error_bar(C, mean - std, mean + std, style)
        chart.point(C, mean, style, f"C = {C:g}: {mean:.4f} ± {std:.4f}{' (chosen)' if chosen == C else ''}")
    return f"<p>C = {chosen:g} was chosen.</p>{chart.svg()}"


def _by_rounds(search, chosen):
    curves = {
        name: [(rounds, best) for rounds, best in zip(search["rounds"], scores, strict=True) if best is not None]
        for name, scores in zip(search["candidates"], search["scores"], strict=True)
    }
    curves = {name: points for name, points in curves.items() if points}
    if not curves:
        return ""
    values = [value for points in curves.values() for _, value in points]
    x = Axis.around("rounds", search["rounds"], log=True, ticks=search["rounds"])
    chart = Chart(x, Axis.around("held-out score, best C", values), "held-out score by rounds")
    legend = []
    for k, (name, points) in enumerate(curves.items()):
        style = COLORS[k % len(COLORS)]
        chart.line(points, style, name)
        for rounds, value in points:
            chart.point(rounds, value, style, f"{name}, {rounds} rounds: {value:.4f}", name)
        legend.append(f'<span style="color:{style.color}">{_text(name)}</span>')
    return f"<p>{chosen} rounds were chosen. {'; '.join(legend)}</p>{chart.svg()}"


def _columns(histogram):
    """Return bars of how many columns had scores in each range, the kept ones in front."""
    if histogram is None:
        return ""
    most = max(histogram["columns"]) or 1
    lines = []
    for low, columns, kept in zip(histogram["edges"], histogram["columns"], histogram["kept"], strict=False):
        bars = "".join(
            f'<div style="width:{WHOLE * count / most:.2f}%;height:.4em;background:{COLORS[color].color}"></div>'
            for count, color in ((columns, 3), (kept, -1))
        )
        lines.append(f"<tr><td>{low:.5g}</td><td>{columns:,}</td><td>{kept:,}</td><td>{bars}</td></tr>")
    head = "<tr><th>score from</th><th>columns</th><th>kept</th><th style='width:50%'></th></tr>"
    return f'<p>Higher is better.</p><div class="scroll"><table>{head}{"".join(lines)}</table></div>'


def _plain(facts):
    """Return the facts that are no charts of their own."""
    return {name: value for name, value in facts.items() if name not in ("cross_validation", "search", "class")}


def _not_stored(names):
    return f"<p>Not stored, shown as defaults: {_text(', '.join(names))}</p>" if names else ""


def _table(values):
    rows = "".join(f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in values.items())
    return f'<div class="scroll"><table>{rows}</table></div>'


def _text(value):
    """Return anything as text of a page, which shows it and does not obey it."""
    if isinstance(value, float):
        value = f"{value:.6g}"
    if isinstance(value, list):
        value = ", ".join(f"{item:.6g}" if isinstance(item, float) else str(item) for item in value)
    return escape(visible(str(value)))
