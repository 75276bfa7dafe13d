import pytest
from sample_records import sample

from isrht.experiments.methods import METHODS
from isrht.report._answer import Candidate, answer_of, are_apart, python_of
from isrht.report.aggregate import Records


def with_accuracies(accuracies, n_test):
    """Return records of digits with given accuracies at the largest r; other methods, and smaller r, are at 0.6."""
    records = [record for record in sample(("digits",)) if record["kind"] != "projection"]
    runs = [record for record in records if record["kind"] == "accuracy" and record["status"] == "ok"]
    largest = max(record["r"] for record in runs if record["method"] == "SRHT")
    for record in runs:
        at_largest = record["r"] == largest or record["method"] == "All features"
        record["accuracy"] = accuracies.get(record["method"], 0.6) if at_largest else 0.6
        record["shape"] = [700, n_test, 64]
        record["total_seconds"] = 1.0 if record["method"] == "PCA" else 2.0
        record["model_bytes"] = 1000
    return Records(records), largest


def test_the_most_accurate_is_the_answer_and_the_rest_is_worse():
    records, r = with_accuracies({"Boosted ISRHT": 0.95}, n_test=1000)
    answer = answer_of(records, "digits")
    first, cost, sure, how = answer.sentences()
    assert first == f"Use Boosted ISRHT with r = {r}: it was right on 95.0 % of 1,000 test rows."
    assert cost == "It took 2.00 CPU seconds and its model has 1 kB."
    assert sure.startswith("That is more than chance: all ")
    assert answer.equals == []
    assert how == f'In Python: isrht.ISRHTClassifier({r}, selection="boosted")'


def test_what_cannot_be_told_apart_is_said_and_the_quickest_of_it_named():
    records, r = with_accuracies({"Boosted ISRHT": 0.95, "PCA": 0.94}, n_test=1000)
    answer = answer_of(records, "digits")
    sentences = list(answer.sentences())
    assert [candidate.method for candidate in answer.equals] == ["PCA"]
    assert "1 of the" in sentences[2]
    assert sentences[3].startswith(f"The quickest within that margin is PCA with r = {r}: 94.0 %, 1.00 CPU seconds")
    few, _ = with_accuracies({"Boosted ISRHT": 0.7}, n_test=20)
    assert "None of the others can be told apart" in list(answer_of(few, "digits").sentences())[2]


def test_what_is_far_but_uncertain_is_not_recommended():
    records, _ = with_accuracies({"Boosted ISRHT": 0.95}, n_test=1000)
    runs = [record for record in records.runs if record["method"] == "PCA"]
    uncertain = [run | {"seed": seed, "accuracy": (0.95, 0.65)[seed]} for seed in (0, 1) for run in runs]
    answer = answer_of(Records([record for record in records.all if record not in runs] + uncertain), "digits")
    assert "PCA" in {candidate.method for candidate in answer.equals}
    assert answer.cheapest is None


def test_all_features_are_there_once_and_can_win():
    records, _ = with_accuracies({"All features": 0.99}, n_test=1000)
    answer = answer_of(records, "digits")
    assert answer.best.r is None
    assert sum(candidate.method == "All features" for candidate in answer.candidates) == 1
    assert list(answer.sentences())[-1] == "In Python: isrht.LinearSVMCV()"


def test_no_runs_no_answer():
    assert answer_of(Records([]), "digits") is None


def candidate(accuracy, n_test, std=None):
    return Candidate("SRHT", 16, accuracy, std, 1.0, 1.0, n_test, 3, "")


def test_apart_is_what_chance_makes_in_one_of_twenty_cases():
    assert are_apart(candidate(90, 1000), candidate(87, 1000))
    assert not are_apart(candidate(90, 1000), candidate(88, 1000))
    assert not are_apart(candidate(90, 1000, std=3), candidate(87, 1000, std=3))
    assert not are_apart(candidate(100, 10), candidate(90, 10))  # no errors in ten rows is no certainty


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_written_down_and_runs(name):
    from sklearn.pipeline import make_pipeline  # noqa: F401 - what is written down uses it

    import isrht  # noqa: F401

    model = eval(python_of(Candidate(name, 4, 90, None, 1, 1, 10, 1, "")))
    assert hasattr(model, "fit")
