import pytest
from sample_records import sample

from isrht.report._tables import complexity_table, overview_table, results_table
from isrht.report.aggregate import Records


@pytest.fixture(scope="module")
def records():
    return Records(sample())


def field(table, name):
    return [row[table.fields.index(name)] for row in table.rows]


def test_ours_stand_beside_published_with_the_difference(records):
    table = results_table(records, "mushrooms")
    assert field(table, "published")[0].text == "99.85"
    supervised = next(row for row in table.rows if row[0].text == "ISRHT-supervised")
    assert supervised[1].text == "96.25 ± 1.22"
    group = records.group("mushrooms", "ISRHT-supervised", 16)
    difference = supervised[table.fields.index("difference")]
    assert difference.value == pytest.approx(group.best_accuracy.mean - 96.25)
    assert sum(cell.strong for cell in field(table, "accuracy (C by CV)")) == 1
    assert all(cell.group for cell in field(table, "accuracy (C by CV)"))


def test_a_stand_in_is_compared_and_named(records):
    table = results_table(records, "gisette-like")
    assert field(table, "published")[0].text == "97.50"
    assert table.notes[0].startswith("Stand-in for gisette, which was not available")


def test_a_set_that_is_not_in_the_paper_has_nothing_published(records):
    table = results_table(records, "digits")
    assert "published" not in table.fields
    assert any("SRHT, r=16, seed 99 failed: MemoryError" in note for note in table.notes)


def test_without_the_papers_protocol_the_difference_is_of_cross_validated_accuracy():
    records = Records(sample(("gisette-like",), protocol="cv"))
    table = results_table(records, "gisette-like")
    row = next(row for row in table.rows if row[0].text == "SRHT")
    ours = records.group("gisette-like", "SRHT", 256).accuracy.mean
    assert row[table.fields.index("difference")].value == pytest.approx(ours - 91.77)


def test_the_overview_has_a_row_for_every_set(records):
    rows = [row[0].text for row in overview_table(records).rows]
    assert rows == ["digits", "mushrooms", "gisette-like (stand-in for gisette)"]


def test_measured_exponents(records):
    table = complexity_table(records)
    assert len(table.rows) == 7
    exponents = [
        cell.value for name in ("exponent of n", "exponent of d", "exponent of r") for cell in field(table, name)
    ]
    assert exponents == pytest.approx([1.0] * 14 + [0.0] * 7, abs=0.01)
    assert complexity_table(Records([])).rows == []
