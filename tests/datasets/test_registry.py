import pytest

from isrht.datasets.registry import DATASETS, EMBEDDED, PAPER, describe, stand_in_for
from isrht.report._published import paper


def test_every_set_says_what_is_needed():
    for name, description in DATASETS.items():
        assert description.name == name
        assert len(description.facts) == len(description.files)
        assert not description.urls or len(description.urls) == len(description.files)
        assert description.r in description.r_grid
        assert (description.split == "given") == (len(description.files) == 2 or name == "photographs")


def test_the_papers_six_have_its_sizes():
    assert set(PAPER) == set(paper()["datasets"])
    for name, theirs in paper()["datasets"].items():
        ours = describe(name)
        assert (ours.n_features, ours.r) == (theirs["features"], theirs["r"])
        assert sum(facts.rows for facts in ours.facts) == theirs["train"] + theirs["test"]
        assert ours.split in ("given", theirs["train"])


def test_stand_ins_and_embedded_sets():
    assert stand_in_for("gisette") == "gisette-like"
    assert stand_in_for("mushrooms") is None
    assert EMBEDDED == ("digits", "photographs", "zipf", "blobs")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="unknown set 'usps': choose one of digits"):
        describe("usps")
