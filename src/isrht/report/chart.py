"""Axes, lines and points as inline SVG, which needs no plotting library, and no script to be seen.

Colours are CSS variables of the page, so a chart is light or dark as the page is. Every point has a ``<title>`` that
names it; browsers show it under the mouse, and screen readers read it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape

from isrht.report.styles import Style

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 42

MARKERS = {
    "circle": "M-3.4,0a3.4,3.4 0 1,0 6.8,0a3.4,3.4 0 1,0 -6.8,0Z",
    "square": "M-3,-3H3V3H-3Z",
    "triangle": "M0,-4L3.8,3H-3.8Z",
    "diamond": "M0,-4.3L4.3,0L0,4.3L-4.3,0Z",
    "cross": "M-3.5,-1.2H-1.2V-3.5H1.2V-1.2H3.5V1.2H1.2V3.5H-1.2V1.2H-3.5Z",
}


@dataclass
class Axis:
    """The range of the data along one side of a chart, and the ticks on it."""

    label: str
    low: float
    high: float
    log: bool = False
    ticks: list | None = None

    @classmethod
    def around(cls, label, values, log=False, ticks=None, pad=0.05):
        """Return an axis that is a little longer than the values need, so that no point lies on the frame."""
        low, high = min(values), max(values)
        if log:
            spread = (high / low) ** pad if high > low else 1.5
            return cls(label, low / spread, high * spread, True, ticks)
        spread = (high - low) * pad or max(abs(high) * 0.05, 0.5)
        return cls(label, low - spread, high + spread, False, ticks)

    def place(self, value):
        """Return where a value is on the axis: 0 at the low end, 1 at the high one."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def tick_values(self):
        if self.ticks is not None:
            return [tick for tick in self.ticks if self.low <= tick <= self.high]
        if self.log:
            return _log_ticks(self.low, self.high)
        step = _nice_step((self.high - self.low) / 5)
        first = math.ceil(self.low / step - 1e-9)
        return [round(step * k, 10) for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Line:
    """A line through points, of one method."""

    points: list
    style: Style
    series: str

    def svg(self, chart):
        dash = f' stroke-dasharray="{self.style.dash}"' if self.style.dash else ""
        return (
            f'<polyline class="line" data-series="{escape(self.series)}" style="--c:{self.style.color}" '
            f'points="{chart.places(self.points)}"{dash}/>'
        )


@dataclass(frozen=True)
class Point:
    """A marker, with a title that names it and the group of records from which it was computed."""

    x: float
    y: float
    style: Style
    title: str
    series: str
    group: str

    def svg(self, chart):
        return (
            f'<path class="pt {self.style.fill}" data-series="{escape(self.series)}" data-group="{escape(self.group)}" '
            f'style="--c:{self.style.color}" '
            f'transform="translate({chart.x_of(self.x):.1f},{chart.y_of(self.y):.1f})" '
            f'd="{MARKERS[self.style.marker]}">'
            f"<title>{escape(self.title)}</title></path>"
        )


@dataclass(frozen=True)
class ErrorBar:
    """A vertical line from one value to another, cut off at the frame."""

    x: float
    low: float
    high: float
    style: Style
    series: str

    def svg(self, chart):
        top, bottom = min(self.high, chart.y.high), max(self.low, chart.y.low)
        return (
            f'<path class="err" data-series="{escape(self.series)}" style="--c:{self.style.color}" '
            f'd="M{chart.x_of(self.x):.1f},{chart.y_of(bottom):.1f}V{chart.y_of(top):.1f}"/>'
        )


@dataclass(frozen=True)
class Rule:
    """A thin line to compare points with: a diagonal, or a level."""

    points: list

    def svg(self, chart):
        return f'<polyline class="rule" points="{chart.places(self.points)}"/>'


@dataclass
class Chart:
    """A frame into which lines and points are drawn; what was drawn is kept, so that others can draw it, too."""

    x: Axis
    y: Axis
    name: str
    parts: list = field(default_factory=list)

    def line(self, points, style, series):
        self.parts.append(Line(points, style, series))

    def point(self, x, y, style, title, series="", group=""):
        self.parts.append(Point(x, y, style, title, series, group))

    def error_bar(self, x, low, high, style, series=""):
        self.parts.append(ErrorBar(x, low, high, style, series))

    def rule(self, points):
        self.parts.append(Rule(points))

    def svg(self):
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(self.name)}">'
            f"{self._frame()}{''.join(part.svg(self) for part in self.parts)}</svg>"
        )

    def _frame(self):
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        out = []
        for tick in self.y.tick_values():
            y = self.y_of(tick)
            out.append(f'<path class="grid" d="M{LEFT},{y:.1f}H{right}"/>')
            out.append(
                f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number_text(tick)}</text>'
            )
        for tick in self.x.tick_values():
            x = self.x_of(tick)
            out.append(f'<path class="grid" d="M{x:.1f},{TOP}V{bottom}"/>')
            out.append(
                f'<text class="tick" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{number_text(tick)}</text>'
            )
        middle_x, middle_y = (LEFT + right) / 2, (TOP + bottom) / 2
        out.append(
            f'<text class="axis" x="{middle_x}" y="{HEIGHT - 6}" text-anchor="middle">{escape(self.x.label)}</text>'
        )
        out.append(
            f'<text class="axis" transform="translate(13,{middle_y}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.y.label)}</text>"
        )
        return "".join(out)

    def places(self, points):
        """Return points as the attribute of a polyline."""
        return " ".join(f"{self.x_of(x):.1f},{self.y_of(y):.1f}" for x, y in points)

    def x_of(self, value):
        return LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)

    def y_of(self, value):
        return HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - TOP - BOTTOM)


def marker(style):
    """Return a marker alone, for legends."""
    dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
    return (
        f'<svg class="key" viewBox="-12 -6 24 12" style="--c:{style.color}" aria-hidden="true">'
        f'<path class="line" d="M-12,0H12"{dash}/><path class="pt {style.fill}" d="{MARKERS[style.marker]}"/></svg>'
    )


def _nice_step(raw):
    power = 10 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))


def _log_ticks(low, high):
    powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    ticks = [10.0**power for power in powers]
    if len(ticks) >= 2:
        return ticks[:: max(1, len(ticks) // 6)]
    wider = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [value for power in wider for factor in (1, 2, 5) if low <= (value := factor * 10.0**power) <= high]


def number_text(value):
    """Return the text of a tick, short for large numbers."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if suffix == 'k' else size):g}{suffix}"
    return f"{value:g}"
