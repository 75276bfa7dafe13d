import json
from dataclasses import replace

import numpy as np
import pytest

from isrht.datasets import load
from isrht.experiments.methods import METHODS
from isrht.experiments.run import Task, projection_bytes, run

TASK = Task("accuracy", "digits", "SRHT", 8, 0, "cv", "0", "checksum")


@pytest.fixture(scope="module")
def digits():
    dataset = load("digits")
    dataset.train, dataset.test = dataset.train[:300], dataset.test[:200]
    return dataset


def test_a_key_is_everything_that_identifies_a_run():
    others = [
        replace(TASK, set="blobs"), replace(TASK, method="PCA"), replace(TASK, r=9), replace(TASK, seed=1),
        replace(TASK, protocol="paper"), replace(TASK, version="1"), replace(TASK, data="other"),
        replace(TASK, kind="projection"),
    ]  # fmt: skip
    assert len({TASK.key, *(other.key for other in others)}) == 9
    assert replace(TASK).key == TASK.key


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if not method.sketch_size])
def test_every_method_gives_a_full_record(method, digits):
    record = run(replace(TASK, method=method), digits)
    assert record["status"] == "ok", record
    assert 0.5 < record["accuracy"] <= 1
    assert record["total_seconds"] == pytest.approx(sum(record["seconds"].values()), abs=1e-4)
    assert set(record["seconds"]) == {"fit", "project", "tune", "train", "predict"}
    assert record["model_bytes"] == sum(record["bytes"].values()) > 0
    assert record["shape"] == [300, 200, 64]
    assert json.loads(json.dumps(record)) == record


def test_equal_tasks_give_equal_results(digits):
    first, second = run(TASK, digits), run(TASK, digits)
    assert first["accuracy"] == second["accuracy"]
    assert first["C"] == second["C"]
    assert run(replace(TASK, seed=1), digits)["accuracy"] != first["accuracy"]


def test_the_papers_protocol_is_never_below_the_honest_one(digits):
    """The paper's protocol looks at the test rows: it takes the best over C on them (errata 7)."""
    record = run(replace(TASK, protocol="paper"), digits)
    assert len(record["by_C"]) == 11
    assert record["best_accuracy"] == max(record["by_C"]) >= record["accuracy"]
    assert record["accuracy"] in record["by_C"]
    assert "best_accuracy" not in run(TASK, digits)


def test_labels_of_held_out_rows_do_not_choose_columns(digits):
    """If labels are pure noise, cross-validation must find nothing; with columns chosen by all labels it would."""
    noise = replace(digits, y=np.random.default_rng(0).integers(2, size=len(digits.y)))
    record = run(replace(TASK, method="ISRHT-supervised"), noise)
    assert record["cv_accuracy"] < 0.58


def test_a_failing_run_is_a_record_of_its_error(digits):
    record = run(replace(TASK, r=10_000), digits)
    assert record["status"] == "failed"
    assert "n_components=10000" in record["error"]
    assert record["key"] == replace(TASK, r=10_000).key


def test_a_sketch_in_front_counts_among_the_bytes_of_a_projection(digits):
    X, y, _, _ = digits.scaled
    sketch, rotation = (step for _, step in METHODS["SRHT, sketch 2r"].make(8, 0, True).fit(X, y).steps)
    record = run(replace(TASK, method="SRHT, sketch 2r"), digits)
    assert record["bytes"]["projection"] == projection_bytes(sketch) + projection_bytes(rotation)
    assert min(projection_bytes(sketch), projection_bytes(rotation)) > 0
