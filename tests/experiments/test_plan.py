from collections import Counter

from isrht.experiments.plan import Grid, complexity_sizes, plan, stability_rs

CHECKSUMS = {"digits": "a", "zipf": "b"}


def test_the_table_runs_random_methods_often_and_others_once():
    tasks, skips = plan(Grid(CHECKSUMS, parts=("table",), repetitions=4))
    counts = Counter((task.set, task.method) for task in tasks)
    assert counts["digits", "SRHT"] == 4
    assert counts["digits", "PCA"] == 1
    assert counts["zipf", "ISRHT-nps, sketch 2r"] == 4
    assert ("digits", "ISRHT-nps, sketch 2r") not in counts
    assert skips == []
    assert {task.data for task in tasks if task.set == "zipf"} == {"b"}


def test_what_is_stopped_early_has_every_method():
    tasks, _ = plan(Grid({"digits": "a"}, parts=("table",), repetitions=3))
    first = [task.method for task in tasks if task.seed == 0]
    assert [task.method for task in tasks[: len(first)]] == first


def test_a_method_that_cannot_run_is_skipped_with_its_reason():
    _, skips = plan(Grid({"news20-binary": "c"}, parts=("table",), repetitions=1))
    assert [(skip.set, skip.method) for skip in skips] == [("news20-binary", "PCA")]
    assert skips[0].line.startswith("skipped news20-binary, PCA: 256 dense components")


def test_figures_share_runs_with_the_table():
    table, _ = plan(Grid(CHECKSUMS, parts=("table",), repetitions=3))
    both, _ = plan(Grid(CHECKSUMS, parts=("table", "radius"), repetitions=3))
    alone, _ = plan(Grid(CHECKSUMS, parts=("radius",), figure_repetitions=3))
    assert len({task.key for task in both}) == len(both) < len(table) + len(alone)


def test_stability_takes_all_C_at_every_r():
    tasks, _ = plan(Grid(CHECKSUMS, parts=("stability",), repetitions=2))
    assert {task.r for task in tasks} == {1, 2, 4, 8, 16, 32} == set(stability_rs("digits"))
    assert {task.protocol for task in tasks} == {"paper"}
    assert {task.set for task in tasks} == {"digits"}
    assert stability_rs("mushrooms") == [2, 4, 8, 16, 32, 64]


def test_complexity_changes_one_size_at_a_time():
    sizes = list(complexity_sizes())
    base = sizes[0]
    assert all(sum(size[axis] != base[axis] for axis in base) == 1 for size in sizes[1:])
    tasks, _ = plan(Grid({}, parts=("complexity",)))
    assert {task.kind for task in tasks} == {"projection"}
