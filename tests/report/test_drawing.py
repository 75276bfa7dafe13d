import pytest
from sample_records import sample

pytest.importorskip("matplotlib")

from isrht.report._drawing import draw, write_figures
from isrht.report._figures import all_figures
from isrht.report.aggregate import Records
from isrht.report.chart import Point


@pytest.fixture(scope="module")
def records():
    return Records(sample(("digits",)))


def test_every_figure_is_written_in_three_kinds(records, tmp_path):
    paths = write_figures(records, tmp_path / "new" / "folder")
    names = [figure.name for figure in all_figures(records)]
    assert [path.name for path in paths] == [f"{name}.{kind}" for name in names for kind in ("svg", "pdf", "png")]
    starts = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG"}
    for path in paths:
        assert path.read_bytes().startswith(starts[path.suffix[1:]])


def test_drawings_have_the_points_of_the_page_and_are_the_same_again(records, tmp_path):
    for figure in all_figures(records):
        drawn = sum(line.get_marker() not in ("None", "") for panel in draw(figure).axes for line in panel.lines)
        assert drawn == sum(isinstance(part, Point) for _, chart in figure.charts for part in chart.parts)
    first, again = (write_figures(records, tmp_path / name) for name in ("first", "again"))
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
