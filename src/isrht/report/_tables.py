"""The tables of the page: results of every set, an overview of all sets, and the measured complexity."""

from __future__ import annotations

import numpy as np

from isrht.datasets.registry import describe
from isrht.experiments.methods import METHODS
from isrht.report._published import difference_from_published, paper, published
from isrht.report._table import NOTHING, Cell, Table
from isrht.report._text import bytes_text, seconds_text


def results_tables(records):
    """Return one table for every set."""
    return [results_table(records, name) for name in records.sets if name != "blobs"]


def results_table(records, set_name):
    """Return the table of one set: of every method the accuracy, the published one, their difference, time and size."""
    description = describe(set_name)
    table = Table(
        f"results-{set_name}",
        f"{set_name}, r = {description.r}",
        [
            "method",
            "published",
            "accuracy (C by CV)",
            "best over C",
            "difference",
            "p",
            "CPU seconds",
            "model bytes",
            "runs",
        ],
        notes=list(notes_on(records, set_name)),
    )
    groups = {method: by_r.get(description.r) for method, by_r in records.of_set(set_name).items()}
    groups = {method: group for method, group in groups.items() if group}
    best = max((group.accuracy.mean for method, group in groups.items() if METHODS[method].projects), default=None)
    for method, group in groups.items():
        table.rows.append(_results_row(description, method, group, best))
    return table.without_empty_fields()


def _results_row(description, method, group, best):
    theirs = published(METHODS[method].published, description.paper_name)
    ours = group.best_accuracy or group.accuracy
    difference = theirs and difference_from_published(ours, theirs, group.records[0]["shape"][1])
    return [
        Cell(method, method, title=METHODS[method].about),
        NOTHING if theirs is None else Cell(_with_std(*theirs), theirs[0], title="Lei & Lan 2020, results table"),
        _mean_cell(group.accuracy, group.id, strong=METHODS[method].projects and group.accuracy.mean == best),
        _mean_cell(group.best_accuracy, group.id),
        NOTHING if not difference else Cell(difference.text, difference.points, group.id, _which(group)),
        NOTHING if not difference else Cell(_p_text(difference.p), difference.p, group.id, difference.test),
        Cell(seconds_text(group.seconds.mean), group.seconds.mean, group.id, _stages(group)),
        Cell(bytes_text(group.model_bytes.mean), group.model_bytes.mean, group.id),
        Cell(str(len(group.records)), len(group.records), group.id),
    ]


def comparison_table(set_name, answer):
    """Return the table of a set of the user's own: every method at every r, the most accurate first."""
    fields = ["method", "r", "accuracy, %", "beside the best", "CPU seconds", "model bytes", "runs"]
    table = Table(f"results-{set_name}", f"{set_name}: all methods, the most accurate first", fields)
    for candidate in answer.candidates:
        is_best = candidate is answer.best
        beside = "the best" if is_best else "cannot be told apart" if candidate in answer.equals else "worse"
        table.rows.append(
            [
                Cell(candidate.method, candidate.method, title=METHODS[candidate.method].about),
                NOTHING if candidate.r is None else Cell(str(candidate.r), candidate.r),
                Cell(_with_std(candidate.accuracy, candidate.std), candidate.accuracy, candidate.group, strong=is_best),
                Cell(beside, answer.best.accuracy - candidate.accuracy),
                Cell(seconds_text(candidate.seconds), candidate.seconds, candidate.group),
                Cell(bytes_text(candidate.bytes), candidate.bytes, candidate.group),
                Cell(str(candidate.n_runs), candidate.n_runs, candidate.group),
            ]
        )
    return table


OVERVIEW = ("set", "r", "SRHT published", "SRHT the same way", "ISRHT-supervised published",
            "ISRHT-supervised the same way", "ISRHT-supervised", "Boosted ISRHT", "All features")  # fmt: skip


def overview_table(records):
    """Return the overview, with one row for every set: published accuracies, ours, and those of boosted columns."""
    title = "Published against ours against boosted: accuracy in percent"
    table = Table("overview", title, list(OVERVIEW))
    for name in records.sets:
        if name != "blobs":
            table.rows.append(_overview_row(records, describe(name)))
    table.notes.append(
        "'The same way' is as the published numbers were made: best over C on the test rows (after --protocol paper), "
        "and on sparse data a count sketch of size 2r in front. The other columns are ours: C by cross-validation, "
        "exact on sparse data."
    )
    return table.without_empty_fields()


def _overview_row(records, description):
    groups = {method: by_r.get(description.r) for method, by_r in records.of_set(description.name).items()}
    label = description.name
    if description.stands_for:
        label += f" (stand-in for {description.stands_for})"
    return [
        Cell(label, label),
        Cell(str(description.r), description.r),
        _published_cell("SRHT", description),
        _the_same_way(groups, "SRHT", description),
        _published_cell("ISRHT-supervised", description),
        _the_same_way(groups, "ISRHT-supervised", description),
        _group_cell(groups.get("ISRHT-supervised")),
        _group_cell(groups.get("Boosted ISRHT")),
        _group_cell(groups.get("All features")),
    ]


def _the_same_way(groups, method, description):
    group = groups.get(f"{method}, sketch 2r" if description.sparse else method)
    return NOTHING if group is None else _mean_cell(group.best_accuracy, group.id)


def complexity_table(records):
    """Return Table 1: what the paper says, and as measured the bytes of R and how the time of a projection grows."""
    table = Table(
        "complexity",
        "Table 1, measured: bytes of R, and how seconds to fit and project grow with n, d and r (dense data)",
        [
            "method",
            "space (paper)",
            "bytes of R",
            "time (paper)",
            "seconds",
            "exponent of n",
            "exponent of d",
            "exponent of r",
        ],
    )
    for method, theirs in paper()["complexity"].items():
        points = _projection_points(records, method)
        if points:
            table.rows.append(_complexity_row(method, theirs, points))
    if table.rows:
        base = base_point(_projection_points(records, next(iter(paper()["complexity"]))))
        table.notes.append(
            f"Bytes and seconds at n={base[0]:,}, d={base[1]:,}, r={base[2]}; exponents are slopes of log seconds "
            "along one size, the others fixed: about 1 for n everywhere, 1 for d (slightly more with a log d), 0 for r "
            "where r does not enter. Best of three, one thread."
        )
    return table


def _complexity_row(method, theirs, points):
    base = base_point(points)
    record = points[base]
    slopes = [_slope(points, base, axis) for axis in range(3)]
    return [
        Cell(method, method),
        Cell(theirs["space"], theirs["space"]),
        Cell(bytes_text(record["bytes"]["projection"]), record["bytes"]["projection"], title=record["key"]),
        Cell(theirs["time"], theirs["time"]),
        Cell(seconds_text(record["total_seconds"]), record["total_seconds"], title=record["key"]),
        *(NOTHING if slope is None else Cell(f"{slope:.2f}", slope) for slope in slopes),
    ]


def base_point(points):
    """Return the sizes (n, d, r) from which one at a time was changed: of each, the value that most points have."""
    values = list(points)
    return tuple(
        max({point[axis] for point in values}, key=lambda v, a=axis: sum(p[a] == v for p in values))
        for axis in range(3)
    )


def _projection_points(records, method):
    """Return the fastest record of a method for every size (n, d, r)."""
    points = {}
    for record in records.projections:
        if record["method"] == method:
            where = (record["shape"][0], record["shape"][2], record["r"])
            if where not in points or record["total_seconds"] < points[where]["total_seconds"]:
                points[where] = record
    return points


def _slope(points, base, axis):
    along = sorted((where[axis], record["total_seconds"]) for where, record in points.items()
                   if all(where[other] == base[other] for other in range(3) if other != axis))  # fmt: skip
    if len(along) < 2:
        return None
    sizes, seconds = np.log(np.array(along)).T
    return float(np.polyfit(sizes, seconds, 1)[0])


def notes_on(records, set_name):
    """Yield what a reader must know beside the numbers of this set."""
    description = describe(set_name)
    if description.stands_for:
        yield f"Stand-in for {description.stands_for}, which was not available: {description.about}."
    else:
        yield f"{description.about[0].upper()}{description.about[1:]}."
    record = next(record for record in records.runs if record["set"] == set_name)
    n_train, n_test, d = record["shape"]
    yield f"{n_train:,} training and {n_test:,} test rows, {d:,} features, {_scaling(description)}."
    for skip in records.skips:
        if skip["set"] == set_name and skip["method"]:
            yield f"{skip['method']} skipped: {skip['reason']}."
    yield from (told_failure(failed) for failed in records.failed if failed["set"] == set_name)


def told_failure(failed):
    """Return what is said of a run that failed."""
    return f"{failed['method']}, r={failed['r']}, seed {failed['seed']} failed: {failed['error']}."


def _scaling(description):
    scalings = {
        "minmax": "features scaled to [-1, 1]",
        "largest": "divided by the largest absolute value (an affine map would destroy sparsity)",
        None: "not scaled",
    }
    return scalings[description.scale]


def _published_cell(method, description):
    theirs = published(method, description.paper_name)
    return NOTHING if theirs is None else Cell(_with_std(*theirs), theirs[0])


def _group_cell(group):
    return NOTHING if group is None else _mean_cell(group.accuracy, group.id)


def _mean_cell(mean, group, strong=False):
    return NOTHING if mean is None else Cell(mean.text(), mean.mean, group, f"mean of {mean.n} runs", strong)


def _with_std(mean, std):
    return f"{mean:.2f}" + ("" if std is None else f" ± {std:.2f}")


def _which(group):
    what = "best over C (the paper's protocol)" if group.best_accuracy else "accuracy with C by CV"
    return f"{what} minus published; * where p < 0.01"


def _p_text(p):
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _stages(group):
    names = group.records[0]["seconds"]
    means = {name: np.mean([record["seconds"][name] for record in group.records]) for name in names}
    return ", ".join(f"{name} {seconds_text(value)}" for name, value in means.items())
