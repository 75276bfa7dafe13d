import pytest
from sample_records import sample

from isrht.datasets.registry import describe
from isrht.report._takeaways import gains_of, takeaways
from isrht.report.aggregate import Records


def with_accuracies(accuracies, sets=("digits", "mushrooms")):
    """Return records in which every run of a method has the accuracy that is given, and the others 0.8."""
    records = sample(sets)
    for record in records:
        if record["kind"] == "accuracy" and record["status"] == "ok":
            record["accuracy"] = record["best_accuracy"] = accuracies.get(record["method"], 0.8) + 1e-4 * record["seed"]
    return Records(records)


def test_the_sentences_are_those_of_the_numbers():
    records = with_accuracies({"SRHT": 0.7, "ISRHT-supervised": 0.85, "Boosted ISRHT": 0.95, "All features": 0.951})
    choosing, boosted, agreement = takeaways(records)
    assert "on all 2 sets, by +15.0 points (on 2 of 2 more than chance" in choosing
    assert "within half a point of all features, or exceed them, on all 2 sets" in boosted
    assert "the difference is -0.1 to +0.0 points" in boosted or "the difference is -0.1 points" in boosted
    assert "on 0 of 2" in boosted
    assert agreement.endswith("on 0 of 1 sets.")  # the paper has mushrooms, and its SRHT is far from 70 %


def test_what_is_worse_is_not_called_better():
    records = with_accuracies({"SRHT": 0.9, "ISRHT-supervised": 0.8, "Boosted ISRHT": 0.6, "All features": 0.9})
    choosing, boosted, _ = takeaways(records)
    assert "on 0 of 2 sets, by -10.0 points" in choosing
    assert "on 0 of 2 sets" in boosted


def test_gains_are_at_the_r_of_each_set():
    records = with_accuracies({"SRHT": 0.7, "ISRHT-supervised": 0.85})
    gains = gains_of(records, "ISRHT-supervised", "SRHT")
    assert [gain.set for gain in gains] == [name for name in records.sets if describe(name).r]
    assert [gain.points for gain in gains] == pytest.approx([15, 15])


def test_stand_ins_are_named_and_nothing_is_said_of_nothing():
    assert takeaways(with_accuracies({}, ("gisette-like",)))[-1].startswith("gisette-like stands in")
    assert takeaways(Records([])) == []
    blobs = Records(sample(("blobs",)))
    assert takeaways(blobs) == []
