import pytest

from isrht import ISRHT, BoostedISRHT, LeverageScoreSelection
from isrht.datasets.registry import describe
from isrht.experiments.methods import BOOSTED, METHODS, method_named
from isrht.report._published import paper


def test_the_papers_ten_rows_and_more():
    rows = [method.name for method in METHODS.values() if method.name in paper()["results"]]
    assert rows == list(paper()["results"])
    assert len(METHODS) == 10 + 2 * 4 + 2 + 1


def test_only_rows_of_the_paper_are_compared_with():
    assert all(method.published in (None, *paper()["results"]) for method in METHODS.values())
    assert METHODS["ISRHT-nps, sketch 8192"].published == "ISRHT-nps"
    assert METHODS[BOOSTED].published is None


@pytest.mark.parametrize("sparse", [False, True])
def test_every_method_makes_its_projection(sparse):
    for method in METHODS.values():
        projection = method.make(8, 3, sparse)
        if not method.projects:
            assert projection is None
        elif method.sketch_size:
            assert isinstance(projection[1], ISRHT)
        else:
            assert projection.n_components == 8
            assert projection.random_state == 3
    assert METHODS["ISRHT-top-r, sketch 2r"].make(8, 0, sparse)[0].n_components == 16
    assert METHODS["SRHT, sketch 8192"].make(8, 0, sparse)[0].n_components == 8192
    assert isinstance(METHODS["SRHT"].make(8, 0, sparse), ISRHT)
    assert isinstance(METHODS["DLSS"].make(8, 0, sparse), LeverageScoreSelection)
    assert isinstance(METHODS[BOOSTED].make(8, 0, sparse), BoostedISRHT)


def test_what_uses_labels_and_what_is_random():
    assert {name for name, method in METHODS.items() if method.deterministic} == {"All features", "PCA", "DLSS"}
    assert all(method.uses_labels == ("supervised" in name or name == BOOSTED) for name, method in METHODS.items())


@pytest.mark.parametrize(
    ("method", "name", "why"),
    [
        ("PCA", "news20-binary", "could not complete"),
        ("DLSS", "blobs", "r=4 is more than the 2 features"),
        ("PCA", "rcv1-binary", None),
        ("ISRHT-nps", "news20-binary", None),
    ],
)
def test_why_a_method_does_not_run_on_a_set(method, name, why):
    description = describe(name)
    reason = METHODS[method].why_not(description.n_features, 4)
    assert reason is None if why is None else why in reason


def test_variants_for_sparse_and_for_dense_data():
    assert not METHODS["SRHT, sketch 2r"].applies_to(describe("digits"))
    assert METHODS["SRHT, sketch 2r"].applies_to(describe("zipf"))
    assert not METHODS["ISRHT-nps, authors' code"].applies_to(describe("zipf"))
    authors = METHODS["ISRHT-nps, authors' code"].make(8, 0, sparse=False)
    assert (authors.center, authors.replace) == (True, False)
    assert all(METHODS["SRHT"].applies_to(describe(name)) for name in ("digits", "zipf"))


def test_an_unknown_method_lists_the_known_ones():
    with pytest.raises(ValueError, match="unknown method 'LDA': choose one of 'All features'"):
        method_named("LDA")
