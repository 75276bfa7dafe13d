"""The figures of the page: the paper's three, and two of our own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

import numpy as np

from isrht.datasets.registry import describe
from isrht.experiments.plan import STABILITY_METHODS, STABILITY_SETS, stability_rs
from isrht.linear.costs import DEFAULT_CS
from isrht.report._text import bytes_text
from isrht.report.aggregate import mean_of
from isrht.report.chart import Axis, Chart, marker
from isrht.report.styles import Style, style_of


@dataclass
class Figure:
    """Charts that belong together, their legend, and notes for the reader below them."""

    name: str
    title: str
    charts: list = field(default_factory=list)
    legend: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)

    def html(self):
        charts = "".join(
            f'<div class="panel"><h3>{escape(title)}</h3>{chart.svg()}</div>' for title, chart in self.charts
        )
        keys = "".join(
            f'<li><button type="button" data-series="{escape(name)}">{marker(style)}{escape(name)}</button></li>'
            for name, style in self.legend.items()
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        saving = "".join(
            f'<button type="button" data-save="{kind}" aria-label="Save {escape(self.title)} as {kind.upper()}">'
            f"{kind.upper()}</button>"
            for kind in ("svg", "png", "pdf")
        )
        return (
            f'<figure class="charts" id="{escape(self.name)}"><figcaption>{escape(self.title)}</figcaption>'
            f'<p class="save" hidden>Save as {saving}</p>'
            f"{f'<ul class=legend>{keys}</ul>' if keys else ''}<div class=panels>{charts}</div>"
            f"{f'<ul class=notes>{notes}</ul>' if notes else ''}</figure>"
        )


@dataclass(frozen=True)
class Cost:
    """What a method costs, and how a figure of accuracy against it shows it.

    ``value_of`` returns the cost of a group of runs, and ``text_of`` writes such a value.
    """

    name: str
    title: str
    label: str
    value_of: Callable
    text_of: Callable
    note: str


TIME = Cost(
    "accuracy-time",
    "Accuracy against total time (fit + project + tune + train + predict)",
    "CPU seconds",
    lambda group: group.seconds.mean,
    lambda seconds: f"{seconds:.3g} s",
    "CPU seconds of one core, BLAS on one thread. Down to the right is worse.",
)
BYTES = Cost(
    "accuracy-bytes",
    "Accuracy against model bytes (projection + SVM)",
    "model bytes",
    lambda group: group.model_bytes.mean,
    bytes_text,
    "What must be kept to predict a new row as the method does it. Any of these linear models can also be folded into "
    "one weight per feature, as 'All features' is.",
)


def all_figures(records):
    """Return the figures for which there are records."""
    paper = (figure_1(records), figure_2(records), figure_3(records))
    ours = (against(TIME, records), against(BYTES, records))
    return [figure for figure in (*paper, *ours) if figure is not None and figure.charts]


def figure_1(records):
    """Return Figure 1: blobs, rotated blobs, and how well one column of SRHT tells them apart in 15 draws."""
    from isrht.datasets import load

    if "blobs" not in records.sets:
        return None
    blobs = load("blobs")
    figure = Figure("figure-1", "Figure 1: the limitation of uniform sampling", notes=[describe("blobs").about + "."])
    signs = np.array([1, -1])
    rotated = (blobs.X * signs) @ np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    figure.charts.append(("(a) original data X", _scatter(blobs.X, blobs.y, "feature")))
    figure.charts.append(("(b) rotated data XDH, D = diag(1, -1)", _scatter(rotated, blobs.y, "column")))
    chart = Chart(
        Axis("run", 0, 16, ticks=[1, 5, 10, 15]), Axis("accuracy (%)", 40, 104), "accuracy of one column, by run"
    )
    for method in ("SRHT", "ISRHT-supervised"):
        group = records.group("blobs", method, 1)
        style = style_of(method)
        figure.legend[method] = style
        for record in group.records if group else ():
            accuracy = 100 * record["accuracy"]
            title = f"{method}, run {record['seed'] + 1}: {accuracy:.1f} % [{record['key']}]"
            beside = -0.15 if method == "SRHT" else 0.15  # or equal points would hide one another
            chart.point(record["seed"] + 1 + beside, accuracy, style, title, method, group.id)
    figure.charts.append(("(c) accuracy with r = 1 in 15 runs", chart))
    figure.notes.append("The paper's text calls (c) both a real-life and this synthetic set; drawn is this one.")
    return figure


def figure_2(records):
    """Return Figure 2: accuracy against r, for every method and set."""
    own = any(describe(name).source for name in records.sets)
    title = "Accuracy against the number of columns r" if own else "Figure 2: accuracy against r"
    figure = Figure("figure-2", title, notes=["Mean of the runs with C chosen by CV; hover for n and deviation."])
    for name in records.sets:
        curves = records.of_set(name)
        if len({r for by_r in curves.values() for r in by_r}) < 2:
            continue
        chart = _against_r(name, curves, figure.legend)
        figure.charts.append((_label(name), chart))
    return figure


def _against_r(name, curves, legend):
    rs = sorted({r for method, by_r in curves.items() for r in by_r if method != "All features"})
    levels = [group.accuracy.mean for by_r in curves.values() for group in by_r.values()]
    chart = Chart(
        Axis.around("r", rs, log=True, ticks=rs), Axis.around("accuracy (%)", levels), f"accuracy against r on {name}"
    )
    for method, by_r in curves.items():
        style = legend.setdefault(method, style_of(method))
        if method == "All features":
            (group,) = list(by_r.values())[:1]
            chart.line([(rs[0], group.accuracy.mean), (rs[-1], group.accuracy.mean)], style, method)
            chart.point(rs[-1], group.accuracy.mean, style, _title(method, group), method, group.id)
            continue
        chart.line([(r, group.accuracy.mean) for r, group in by_r.items()], style, method)
        for r, group in by_r.items():
            chart.point(r, group.accuracy.mean, style, _title(method, group), method, group.id)
    return chart


def figure_3(records):
    """Return Figure 3: for every C and r, the mean accuracy of ISRHT against that of SRHT."""
    name = next((name for name in STABILITY_SETS if name in records.sets), None)
    if name is None:
        return None
    grids = {method: _accuracies_by_C(records, name, method) for method in STABILITY_METHODS}
    figure = Figure("figure-3", f"Figure 3: accuracy of ISRHT against SRHT over all C and r, on {name}")
    for method in STABILITY_METHODS[1:]:
        shared = sorted(set(grids[method]) & set(grids["SRHT"]))
        if shared:
            figure.charts.append((f"{method} against SRHT", _stability(grids, method, shared, name)))
            above = sum(grids[method][key].mean > grids["SRHT"][key].mean for key in shared)
            figure.notes.append(
                f"{method} is better than SRHT (above the line) for {above} of {len(shared)} pairs of C and r."
            )
    if name != "mushrooms":
        figure.notes.append("The paper shows mushrooms, which was not available here.")
    return figure


def _stability(grids, method, shared, name):
    values = [grid[key].mean for grid in (grids[method], grids["SRHT"]) for key in shared]
    axis = {"low": min(values) - 1, "high": min(100.5, max(values) + 1)}
    chart = Chart(Axis("SRHT accuracy (%)", **axis), Axis(f"{method} accuracy (%)", **axis), f"{method} against SRHT")
    chart.rule([(axis["low"], axis["low"]), (axis["high"], axis["high"])])
    for r, c in shared:
        ours, srht = grids[method][r, c], grids["SRHT"][r, c]
        title = f"r={r}, C=2^{int(np.log2(DEFAULT_CS[c]))}: {method} {ours.mean:.2f}, SRHT {srht.mean:.2f} (n={ours.n})"
        chart.point(srht.mean, ours.mean, style_of(method), title, method, f"{name}|{method}|{r}|paper")
    return chart


def _accuracies_by_C(records, name, method):
    """Return the mean accuracy in percent for every pair of r and the number of a C."""
    means = {}
    for r in stability_rs(name):
        group = records.groups.get((name, method, r, "paper"))
        for c in range(len(DEFAULT_CS)) if group else ():
            means[r, c] = mean_of([100 * record["by_C"][c] for record in group.records])
    return means


def against(cost, records):
    """Return a figure of accuracy against what methods cost, with one chart for every set."""
    figure = Figure(cost.name, cost.title, notes=[cost.note])
    for set_name in records.sets:
        if set_name == "blobs":
            continue
        r = describe(set_name).r
        groups = {method: by_r[r] for method, by_r in records.of_set(set_name).items() if r in by_r}
        if len(groups) >= 2:
            chart = _against_cost(cost, set_name, groups, figure.legend)
            figure.charts.append((f"{_label(set_name)}, r = {r}", chart))
    return figure


def _against_cost(cost, set_name, groups, legend):
    x = Axis.around(cost.label, [cost.value_of(group) for group in groups.values()], log=True)
    y = Axis.around("accuracy (%)", [group.accuracy.mean for group in groups.values()])
    chart = Chart(x, y, f"{cost.title} on {set_name}")
    for method, group in groups.items():
        style = legend.setdefault(method, style_of(method))
        value, mean = cost.value_of(group), group.accuracy
        if mean.std is not None:
            chart.error_bar(value, mean.mean - mean.std, mean.mean + mean.std, style, method)
        title = f"{_title(method, group)}, {cost.text_of(value)}"
        chart.point(value, mean.mean, style, title, method, group.id)
    return chart


def _scatter(points, labels, name):
    chart = Chart(
        Axis.around(f"{name} 1", points[:, 0]),
        Axis.around(f"{name} 2", points[:, 1]),
        f"two classes, {name} 1 and {name} 2",
    )
    for (x, y), label in zip(points, labels, strict=True):
        style = Style("var(--c-blue)", "cross") if label else Style("var(--c-orange)", "circle")
        chart.point(x, y, style, f"class {'+' if label else '•'}: ({x:.2f}, {y:.2f})")
    return chart


def _title(method, group):
    return f"{method}, {group.set}, r={group.r}: {group.accuracy.text()} % (n={group.accuracy.n})"


def _label(name):
    stands_for = describe(name).stands_for
    return f"{name} (stand-in for {stands_for})" if stands_for else name
