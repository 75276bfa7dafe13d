"""The figures of a report as files for papers and slides: SVG, PDF and PNG, drawn by matplotlib from the same charts.

The page draws its charts itself and needs no library; matplotlib is imported only when files are asked for.
"""

from __future__ import annotations

from pathlib import Path

from isrht.report._figures import all_figures
from isrht.report.chart import ErrorBar, Line, Point, Rule, number_text
from isrht.report.styles import plain_color
from isrht.support.atomic_writes import replaced_when_whole

KINDS = ("svg", "pdf", "png")
MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "P"}
PANEL_INCHES = 4.6, 3.2
ACROSS = 3


def write_figures(records, folder):
    """Write every figure in all kinds of files.

    Parameters
    ----------
    records : Records
        What the figures show.
    folder : path
        Where to write; the folder is made if it is not there.

    Returns
    -------
    paths : list of Path
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [path for figure in all_figures(records) for path in _write(figure, folder)]


def _write(figure, folder):
    from matplotlib import rc_context

    drawing = draw(figure)
    for kind in KINDS:
        path = folder / f"{figure.name}.{kind}"
        metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)  # equal records, equal files
        with rc_context({"svg.hashsalt": "isrht"}), replaced_when_whole(path) as file:
            drawing.savefig(file, format=kind, dpi=200, bbox_inches="tight", metadata=metadata)
        yield path


def draw(figure):
    """Return a matplotlib figure with a panel for every chart, and the legend below them."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 9, "axes.axisbelow": True}):
        across = min(len(figure.charts), ACROSS)
        down = -(-len(figure.charts) // across)
        drawing = Figure((PANEL_INCHES[0] * across, PANEL_INCHES[1] * down), layout="constrained")
        panels = drawing.subplots(down, across, squeeze=False)
        for panel in panels.flat[len(figure.charts) :]:
            panel.set_visible(False)
        for panel, (title, chart) in zip(panels.flat, figure.charts, strict=False):
            _draw_chart(panel, title, chart)
        drawing.suptitle(figure.title, fontweight="bold")
        if figure.legend:
            _draw_legend(drawing, figure.legend, columns=2 * across)
    return drawing


def _draw_chart(panel, title, chart):
    panel.set_title(title)
    for axis, set_scale, set_limits, set_ticks, set_label in (
        (chart.x, panel.set_xscale, panel.set_xlim, panel.set_xticks, panel.set_xlabel),
        (chart.y, panel.set_yscale, panel.set_ylim, panel.set_yticks, panel.set_ylabel),
    ):
        set_scale("log" if axis.log else "linear")
        set_limits(axis.low, axis.high)
        ticks = axis.tick_values()
        set_ticks(ticks, [number_text(tick) for tick in ticks])
        set_label(axis.label)
    panel.minorticks_off()
    panel.grid(color="0.88", linewidth=0.6)
    for part in chart.parts:
        _draw_part(panel, part)


def _draw_part(panel, part):
    match part:
        case Rule():
            panel.plot(*zip(*part.points, strict=True), color="0.4", linestyle="--", linewidth=0.8)
        case Line():
            panel.plot(*zip(*part.points, strict=True), linewidth=1.2, **_line_of(part.style))
        case ErrorBar():
            panel.plot(
                [part.x, part.x], [part.low, part.high], color=plain_color(part.style.color), alpha=0.5, linewidth=1
            )
        case Point():
            panel.plot(part.x, part.y, linestyle="", **_marker_of(part.style))


def _draw_legend(drawing, legend, columns):
    from matplotlib.lines import Line2D

    keys = [Line2D([], [], label=name, **_line_of(style), **_marker_of(style)) for name, style in legend.items()]
    drawing.legend(handles=keys, loc="outside lower center", ncols=columns, frameon=False)


def _line_of(style):
    dashes = tuple(float(length) for length in style.dash.split())
    return {"color": plain_color(style.color), "linestyle": (0, dashes) if dashes else "-"}


def _marker_of(style):
    color = plain_color(style.color)
    face = {"hollow": "white", "pale": (color, 0.45)}.get(style.fill, color)
    return {"marker": MARKERS[style.marker], "markersize": 4.5, "markerfacecolor": face, "markeredgecolor": color}
