import xml.etree.ElementTree as ET

import pytest

from isrht.report.chart import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, Chart, marker
from isrht.report.styles import BASES, Style


@pytest.mark.parametrize(("low", "high"), [(0, 1), (57.3, 99.2), (-4, 4), (0.001, 0.0012)])
def test_linear_ticks_are_few_and_within(low, high):
    ticks = Axis("x", low, high).tick_values()
    assert 2 <= len(ticks) <= 8
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)


@pytest.mark.parametrize(("low", "high"), [(1, 1000), (0.03, 0.9), (2, 6), (10, 1e9)])
def test_logarithmic_ticks_are_few_and_within(low, high):
    ticks = Axis("x", low, high, log=True).tick_values()
    assert 1 <= len(ticks) <= 13
    assert all(low <= tick <= high for tick in ticks)


def test_limits_leave_room_around_the_values():
    assert Axis.around("x", [1, 2]).low < 1
    assert Axis.around("x", [5, 5]).low < 5 < Axis.around("x", [5, 5]).high
    assert 0 < Axis.around("x", [1, 100], log=True).low < 1
    assert Axis.around("x", [7], log=True).high > 7


def test_a_chart_is_well_formed_and_its_points_are_inside_and_named():
    chart = Chart(Axis.around("r & s", [1, 64], log=True), Axis.around("accuracy <%>", [50, 99]), 'a "chart"')
    style = Style("red", "cross", "2 2")
    chart.line([(1, 50), (64, 99)], style, "a & b")
    for x, y in ((1, 50), (64, 99)):
        chart.point(x, y, style, f"<{x}>", "a & b")
        chart.error_bar(x, y - 100, y + 100, style)
    chart.rule([(1, 50), (64, 99)])
    root = ET.fromstring(chart.svg())
    points = [part for part in root if part.get("class").startswith("pt ")]
    assert [point.find("title").text for point in points] == ["<1>", "<64>"]
    for point in points:
        x, y = map(float, point.get("transform")[10:-1].split(","))
        assert LEFT < x < WIDTH - RIGHT
        assert TOP < y < HEIGHT - BOTTOM


def test_markers_of_all_methods_differ():
    assert len({(style.color, style.marker) for style in BASES.values()}) == len(BASES)
    for style in BASES.values():
        ET.fromstring(marker(style))
