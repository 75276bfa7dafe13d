"""``isrht train``: from a file to a model, in the grammar of LIBLINEAR's ``train``."""

from __future__ import annotations

import os
import re
import sys
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand

from isrht.cli._reading import Format, IndexBase, Label, MaxFeatures

FLAG = re.compile("-q*C")
MOST_COLUMNS = 256
TABLES = ("csv", "tsv", "parquet", "npy")
NO_LABELS = "there are no labels to learn from; --label names the column of a table"

FILES_HELP = (
    "DATA [MODEL]: the file to train on, or a quoted pattern such as 'part-*.svm', and the model to write, by default "
    "DATA.isrht. With --out all of them are data. '-' is standard input."
)
Files = Annotated[list[str], typer.Argument(help=FILES_HELP, metavar="DATA [MODEL]")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The model to write.")]
COMPONENTS_HELP = f"The number of columns; default: {MOST_COLUMNS}, or as many as there are where that is less."
Components = Annotated[int | None, typer.Option("--components", "-r", min=1, help=COMPONENTS_HELP)]
SELECTION_HELP = "boosted, supervised, top, importance or uniform."
Selection = Annotated[str, typer.Option("--selection", help=SELECTION_HELP)]
COST_HELP = (
    "The C of the SVM, or cv: by cross-validation, which -C alone means, too. With boosted columns a number is a "
    "multiple of the chosen C."
)
Cost = Annotated[str, typer.Option("-C", "-c", help=COST_HELP)]
SCALE_HELP = "maxabs (keeps zeros), minmax (dense data) or none."
Scale = Annotated[str, typer.Option("--scale", help=SCALE_HELP)]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Draws what is random.")]
Test = Annotated[str | None, typer.Option("--test", help="A file of rows to judge the model by.")]
FOLDS_HELP = "Only cross-validate, in so many folds, everything chosen anew in each; no model is written."
Folds = Annotated[int | None, typer.Option("-v", min=2, help=FOLDS_HELP)]
BIAS_HELP = "Negative: no intercept. Otherwise, and by default, there is one, penalised as LIBLINEAR's with -B 1."
Bias = Annotated[float, typer.Option("-B", help=BIAS_HELP)]
BALANCED_HELP = "Weigh classes by the inverse of their sizes."
Balanced = Annotated[bool, typer.Option("--balanced", help=BALANCED_HELP)]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1: one for each core. The model is the same.")]
OUT_OF_CORE_HELP = "Read the rows block by block in every pass, for data larger than memory; the model is the same."
OutOfCore = Annotated[bool, typer.Option("--out-of-core", help=OUT_OF_CORE_HELP)]
SCHEDULER_HELP = "Fit on the Dask cluster of this scheduler, tcp://...; its workers read the files, one block each."
Scheduler = Annotated[str | None, typer.Option("--scheduler", help=SCHEDULER_HELP)]
LOCAL_HELP = "The same on a Dask cluster of so many processes on this machine."
LocalCluster = Annotated[int | None, typer.Option("--local-cluster", min=1, help=LOCAL_HELP)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print what was learned as JSON.")]


class TrainCommand(TyperCommand):
    """To LIBLINEAR, ``-C`` is a flag: its ``train -C data model`` must not take the data for a C."""

    def parse_args(self, context, arguments):
        return super().parse_args(context, with_costs(arguments))


def with_costs(arguments):
    """The arguments, where ``-C`` has a value in every case: cv, unless a number or cv follows.

    >>> with_costs(["-C", "data", "model"]), with_costs(["-C", "4", "data"])
    (['-C', 'cv', 'data', 'model'], ['-C', '4', 'data'])
    """
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    found = []
    for argument, following in pairwise([*options, ""]):
        is_flag = FLAG.fullmatch(argument) and not is_cost(following)
        found += [argument, "cv"] if is_flag else [argument]
    return found + arguments[len(options) :]


def is_cost(text):
    try:
        return text == "cv" or float(text) is not None
    except ValueError:
        return False


def train(
    files: Files,
    out: Out = None,
    components: Components = None,
    selection: Selection = "boosted",
    cost: Cost = "cv",
    scale: Scale = "maxabs",
    seed: Seed = 0,
    test: Test = None,
    folds: Folds = None,
    bias: Bias = 1.0,
    balanced: Balanced = False,
    format: Format = None,
    label: Label = None,
    index_base: IndexBase = "auto",
    max_features: MaxFeatures = None,
    out_of_core: OutOfCore = False,
    scheduler: Scheduler = None,
    local_cluster: LocalCluster = None,
    jobs: Jobs = -1,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Train a linear classifier on few columns and write it to a file."""
    from isrht.cli._messages import give_json, say
    from isrht.cli._reading import describe_facts, training_options
    from isrht.transform.hadamard import next_power_of_two

    tell = (lambda _: None) if quiet else say
    data, path = data_and_model(files, out)
    check_inputs(data, format, label, test)
    check_places(out_of_core, scheduler, local_cluster, folds)
    if folds is None:
        check_replaceable(path)
    model = make_model(components, selection, cost, scale, seed, bias, balanced, jobs)
    watch = Watch()
    options = training_options(format, index_base, label, max_features)
    with rows_where_they_are(data, options, out_of_core, scheduler, local_cluster, quiet, watch) as (X, y, facts):
        for line in describe_facts(facts):
            tell(line)
        if components is None:
            model.set_params(n_components=min(MOST_COLUMNS, next_power_of_two(facts.n_features)))
        if folds is not None:
            result = cross_validate(model, X, y, folds, tell)
        else:
            known = what_to_know(data, facts, label)
            result = learn(model, X, y, known, path, test, tell, watch)
    if as_json:
        give_json(result)


def check_inputs(data, format, label, test):
    """What can be known to be wrong before anything is read."""
    from isrht.files.opening import find, format_of

    if test is not None:
        find(test)
    if (format or format_of(find(data))) in TABLES and label is None:
        raise ValueError(f"{' '.join(data)}: {NO_LABELS}")


def check_places(out_of_core, scheduler, local_cluster, folds):
    places = {"--out-of-core": out_of_core, "--scheduler": scheduler, "--local-cluster": local_cluster}
    given = [name for name, value in places.items() if value]
    if len(given) > 1:
        raise ValueError(f"rows are read in one place: choose one of {' and '.join(given)}")
    if given and folds is not None:
        raise ValueError(f"-v takes rows at random, so it needs them in memory: leave out {given[0]}")


@contextmanager
def rows_where_they_are(data, options, out_of_core, scheduler, local_cluster, quiet, watch):
    """``(X, y, facts)`` of rows in memory, in their files, or on the workers of a cluster."""
    if scheduler is None and local_cluster is None:
        with watch.stage("scan" if out_of_core else "read"):
            rows = scan(data, options, quiet) if out_of_core else read(data, options)
        yield rows
        return
    from isrht.cli._cluster import cluster, rows_on_workers

    with cluster(scheduler, local_cluster):
        with watch.stage("scan"):
            X, y, facts = rows_on_workers(data, options)
        check_facts(data, facts)
        yield X, y, facts


def data_and_model(files, out):
    """Which files are data and which is the model."""
    if out is not None:
        return files, out
    if len(files) > 2:
        raise ValueError(f"which of these {len(files)} files is the model? Name it with --out")
    if len(files) == 2:
        return files[:1], Path(files[1])
    name = Path(files[0]).name
    if name == "-" or any(sign in name for sign in "*?["):
        raise ValueError(f"{files[0]} gives the model no name: name it, or use --out")
    return files, Path(f"{name}.isrht")


def check_replaceable(path):
    """A file that is not a model, say a second data file, is not overwritten; devices and pipes are written to."""
    from isrht.models.model_file import ModelFileError, read_about

    folder = path.resolve().parent
    if path.is_dir() or not folder.is_dir():
        raise ValueError(f"{path} cannot be written: it is a folder, or its folder is not there")
    if path.exists() and not path.is_file():
        return
    if not os.access(folder, os.W_OK):  # better now than after the fit
        raise PermissionError(f"{path} cannot be written: a new file cannot be made in {folder}")
    if not path.exists():
        return
    try:
        read_about(path)
    except ModelFileError:
        raise ValueError(f"{path} is there and is no model of isrht: it is not overwritten") from None


def make_model(components, selection, cost, scale, seed, bias, balanced, jobs):
    from isrht import ISRHTClassifier

    if not is_cost(cost):
        raise ValueError(f"-c must be a number or cv, got {cost!r}")
    model = ISRHTClassifier(
        MOST_COLUMNS if components is None else components,
        selection=selection,
        C="cv" if cost == "cv" else float(cost),
        scale=None if scale == "none" else scale,
        class_weight="balanced" if balanced else None,
        fit_intercept=bias >= 0,
        random_state=seed,
        n_jobs=jobs,
    )
    model.check_parameters()
    return model


def read(data, options):
    from isrht.cli._reading import named
    from isrht.files.density import smaller_form
    from isrht.files.opening import open_rows

    rows = open_rows(data, **options)
    X, y, facts = rows.read()
    check_facts(data, facts)
    return named(smaller_form(X), rows.feature_names), y, facts


def scan(data, options, quiet):
    """Rows that stay where they are; their labels come with them."""
    from isrht import RowSource
    from isrht.cli._reading import check_read_again
    from isrht.files.opening import find, open_rows

    check_read_again(find(data), "--out-of-core reads the rows in every pass")
    rows = open_rows(data, **options)
    facts = rows.scan()
    check_facts(data, facts)
    return RowSource(rows, progress=None if quiet else show_pass), None, facts


def show_pass(number, rows_read, n_samples):
    """How far the pass over the rows is: for a terminal, in one line that changes."""
    if sys.stderr.isatty():
        share = "" if not n_samples else f" of {n_samples:,}"
        end = "\n" if rows_read == n_samples else "\r"
        print(f"pass {number}: {rows_read:,}{share} rows", end=end, file=sys.stderr, flush=True)


def check_facts(data, facts):
    if not facts.n_samples:
        raise ValueError(f"{' '.join(data)}: there are no rows in it")
    if facts.label_type is None:
        raise ValueError(f"{' '.join(data)}: {NO_LABELS}")


def what_to_know(data, facts, label):
    """What ``predict`` must know of the data, and what a reader of the model may want to."""
    return {
        "label_type": facts.label_type,
        "index_base": facts.index_base,
        "label": label,
        "trained_on": {
            "files": [Path(name).name for name in data],
            "rows": facts.n_samples,
            "features": facts.n_features,
            "nonzeros": facts.nnz,
        },
    }


def learn(model, X, y, known, path, test, tell, watch):
    """Fit, judge, write; say what happens; return it."""
    from isrht.files.labels import label_text
    from isrht.models.model_file import save

    with watch.stage("fit"):
        model.fit(X, y)
    for line in describe_choice(model):
        tell(line)
    with watch.stage("write"):
        save(model, path, about=known)
    judgement = None
    if test is not None:
        with watch.stage("test"):
            judgement = judge(model, known, test, tell)
    size = path.stat().st_size if path.is_file() else None  # a pipe has none
    tell(f"seconds: {', '.join(f'{name} {seconds:.2f}' for name, seconds in watch.seconds.items())}")
    tell(f"{path}: {'written' if size is None else f'{size:,} bytes'}")
    return {
        "model": str(path),
        "bytes": size,
        "classes": [label_text(label) for label in model.classes_.tolist()],
        "C": model.C_,
        "cv": None if model.C != "cv" else dict(zip(model.Cs_.tolist(), model.mean_scores_.tolist(), strict=True)),
        "test": None if judgement is None else judgement.as_json(),
        "seconds": watch.seconds,
    }


def describe_choice(model):
    """How C, and with boosted columns everything else, was chosen."""
    projection = model.projection_
    if model.selection == "boosted":
        chosen = f"{projection.rounds_} rounds, diagonal {projection.diagonal_}, threshold {projection.threshold_:g}"
        given = "" if model.C == "cv" else f"; times {model.C:g}, as asked for"
        yield f"chosen on held-out rows: {chosen}, C = {projection.C_:g} where the mean squared row is 1{given}"
        yield f"held-out accuracy {100 * projection.held_out_score_:.2f} %"
        if not projection.has_signal_:
            yield "the labels look like noise: one cautious round was made"
    elif model.C == "cv":
        yield f"{'C':>10}  cross-validated accuracy"
        for C, mean, std in zip(model.Cs_, model.mean_scores_, model.std_scores_, strict=True):
            yield f"{C:10g}  {100 * mean:6.2f} ± {100 * std:.2f}{'  chosen' if model.C_ == C else ''}"
    yield f"{projection.n_components_} columns of {projection.n_features_padded_:,}, C = {model.C_:g}"


def judge(model, known, test, tell):
    from isrht.cli._reading import model_options
    from isrht.cli.predict import predictions
    from isrht.files.opening import open_rows

    rows = open_rows(test, label_type="text", **model_options([test], model, known))
    judgement, blocks = predictions(model, rows)
    for _ in blocks:
        pass
    tell(f"{test}: {judgement.n_rows:,} rows")
    for line in judgement.lines():
        tell(line)
    return judgement


def cross_validate(model, X, y, folds, tell):
    """LIBLINEAR's ``-v``: how good such a model is on rows it has not seen."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    shuffled = StratifiedKFold(folds, shuffle=True, random_state=model.random_state)  # files are often sorted by class
    scores = cross_val_score(model, X, y, cv=shuffled)
    tell(f"Cross Validation Accuracy = {100 * scores.mean():.4f}% (± {100 * scores.std():.4f} over {folds} folds)")
    return {"cross_validation_accuracy": float(scores.mean()), "folds": scores.tolist()}


class Watch:
    """Seconds by stage, as a clock on the wall shows them."""

    def __init__(self):
        self.seconds = {}

    @contextmanager
    def stage(self, name):
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)
