import pytest

from isrht.report._published import difference_from_published, paper, published
from isrht.report.aggregate import Mean

SETS = ("mushrooms", "usps-b", "gisette", "real-sim", "rcv1-binary", "news20-binary")


def test_every_number_of_the_results_table():
    """There are ten rows of six numbers, without that of PCA on news20; their sum would show a typing error."""
    cells = [(method, name) for method in paper()["results"] for name in SETS if published(method, name)]
    assert len(cells) == 59
    assert sum(published(*cell)[0] for cell in cells) == pytest.approx(5039.01, abs=0.005)
    assert published("DLSS", "rcv1-binary") == (91.43, None)  # errata 14
    assert published("PCA", "news20-binary") is None
    assert published("ISRHT-supervised", "mushrooms") == (96.25, 1.22)
    assert published(None, "mushrooms") is None
    assert all(
        (std is None) == (method in ("All features", "PCA", "DLSS"))
        for method, name in cells
        for _, std in [published(method, name)]
    )


def test_the_split_of_the_text_is_not_that_of_the_data_table():
    """The text says 70 % for all sets (errata 15)."""
    sizes = paper()["datasets"]
    shares = {name: round(sizes[name]["train"] / (sizes[name]["train"] + sizes[name]["test"]), 2) for name in SETS}
    assert shares["mushrooms"] == 0.74
    assert {shares[name] for name in ("real-sim", "rcv1-binary", "news20-binary")} == {0.67}


def test_claims_of_the_text_that_its_table_does_not_bear_out():
    """These are errata 16 to 18."""
    mean = {
        (method, name): cell[0] for method in paper()["results"] for name in SETS if (cell := published(method, name))
    }
    blind = ("Gaussian", "Achlioptas", "Sparse Embedding", "SRHT")
    assert [name for name in SETS if any(mean["ISRHT-top-r", name] <= mean[other, name] for other in blind)] == [
        "real-sim"
    ]
    assert [name for name in SETS if mean["ISRHT-nps", name] <= mean["SRHT", name]] == ["gisette", "news20-binary"]
    assert [name for name in SETS[:-1] if mean["PCA", name] <= mean["ISRHT-supervised", name]] == [
        "mushrooms",
        "usps-b",
    ]


def test_two_series_are_compared_by_welch():
    difference = difference_from_published(Mean(92.0, 2.0, 15), (90.0, 2.0), 1000)
    assert difference.test == "Welch t"
    assert difference.points == 2.0
    assert difference.p == pytest.approx(0.0107, abs=5e-4)
    assert difference.text == "+2.00"
    assert difference_from_published(Mean(95.0, 0.0, 15), (95.0, 0.0), 1000).p == 1.0
    assert difference_from_published(Mean(99.0, 0.5, 15), (90.0, 2.0), 1000).text == "+9.00*"


def test_single_runs_are_compared_as_proportions_of_the_test_rows():
    few, many = (difference_from_published(Mean(96.0, None, 1), (97.0, None), n_test) for n_test in (100, 10_000))
    assert few.test == "z of proportions"
    assert not few.significant
    assert many.significant
    assert difference_from_published(Mean(100.0, None, 1), (100.0, None), 10).p == 1.0
