import pytest
from sample_records import sample

from isrht.report.aggregate import Records, mean_of


@pytest.fixture(scope="module")
def records():
    return Records(sample())


def test_means_know_how_many_they_are_of():
    assert mean_of([]) is None
    assert mean_of([2.0]).std is None
    mean = mean_of([1.0, 3.0])
    assert (mean.mean, mean.n) == (2.0, 2)
    assert mean.std == pytest.approx(2**0.5)
    assert mean.text() == "2.00 ± 1.41"


def test_records_are_sorted_out(records):
    assert records.sets == ["digits", "blobs", "mushrooms", "gisette-like"]
    assert len(records.failed) == 1
    assert [skip["set"] for skip in records.skips] == ["real-sim"]
    assert all(record["status"] == "ok" for record in records.runs)


def test_a_group_is_the_mean_of_its_records(records):
    group = records.group("digits", "SRHT", 16)
    assert group.accuracy.n == 3
    assert group.accuracy.mean == pytest.approx(100 * sum(record["accuracy"] for record in group.records) / 3)
    assert [record["seed"] for record in group.records] == [0, 1, 2]
    assert records.group("digits", "SRHT", 17) is None


def test_methods_come_in_the_order_of_the_paper(records):
    methods = list(records.of_set("mushrooms"))
    assert methods[:4] == ["All features", "PCA", "DLSS", "Gaussian"]
    assert list(records.of_set("mushrooms")["SRHT"]) == [2, 4, 8, 16, 32, 64]
