import pytest
from sample_records import sample

from isrht.report._figures import all_figures, figure_1, figure_2, figure_3
from isrht.report.aggregate import Records
from isrht.report.chart import Point


@pytest.fixture(scope="module")
def records():
    return Records(sample())


def points(figure):
    return sum(isinstance(part, Point) for _, chart in figure.charts for part in chart.parts)


def test_figure_1_has_both_blobs_and_every_run(records):
    figure = figure_1(records)
    assert len(figure.charts) == 3
    assert points(figure) == 2 * 400 + 2 * 3
    assert "not positive semi-definite" in figure.notes[0]


def test_figure_2_has_a_point_for_every_method_and_r(records):
    figure = figure_2(records)
    assert [title for title, _ in figure.charts] == ["digits", "mushrooms", "gisette-like (stand-in for gisette)"]
    expected = sum(1 if method == "All features" else len(by_r) for name in ("digits", "mushrooms", "gisette-like")
                   for method, by_r in records.of_set(name).items())  # fmt: skip
    assert points(figure) == expected


def test_figure_3_has_a_point_for_every_C_and_r(records):
    figure = figure_3(records)
    assert "mushrooms" in figure.title
    assert len(figure.charts) == 5
    assert points(figure) == 5 * 6 * 11
    assert all("of 66 pairs" in note for note in figure.notes)
    assert "not available here" in figure_3(Records(sample(("digits",)))).notes[-1]


def test_all_figures_name_their_points(records):
    for figure in all_figures(records):
        assert figure.html().count("<title>") == points(figure) > 0


def test_no_records_no_figures():
    assert all_figures(Records([])) == []
