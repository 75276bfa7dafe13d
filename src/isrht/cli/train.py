"""``isrht train``: from files to a model, in the grammar of LIBLINEAR's ``train``."""

from __future__ import annotations

import os
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand

from isrht.cli._learning import (
    Job,
    ModelOptions,
    cross_validate,
    is_cost,
    learn,
    make_model,
    what_to_know,
)
from isrht.cli._messages import give_json, say
from isrht.cli._reading import Format, IndexBase, Label, MaxFeatures, describe_facts, training_options
from isrht.cli._training_rows import Place, check_inputs, training_rows
from isrht.support.stopwatch import Stopwatch

# The flag -C as LIBLINEAR knows it, which may also be in one word with -q.
FLAG = re.compile("-q*C")

FILES_HELP = (
    "DATA [MODEL]: the file to train on, or a quoted pattern such as 'part-*.svm', and the model to write, by default "
    "DATA.isrht. With --out all of them are data. '-' is standard input."
)
Files = Annotated[list[str], typer.Argument(help=FILES_HELP, metavar="DATA [MODEL]")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The model to write.")]
COMPONENTS_HELP = "The number of columns; default: 16 boosted ones, three for each of many classes; 256 selected ones."
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
FREE_HELP = "Do not penalise the intercept, as LIBLINEAR's -R."
FreeBias = Annotated[bool, typer.Option("-R", help=FREE_HELP)]
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
    """The command, whose ``-C`` may be a flag without a value, as in LIBLINEAR's ``train -C data model``."""

    def parse_args(self, context, arguments):
        return super().parse_args(context, with_costs(arguments))


def with_costs(arguments):
    """Return the arguments with a value after every ``-C``, which is cv unless a number or cv follows.

    >>> with_costs(["-C", "data", "model"]), with_costs(["-C", "4", "data"])
    (['-C', 'cv', 'data', 'model'], ['-C', '4', 'data'])
    """
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    found = []
    for argument, following in pairwise([*options, ""]):
        is_flag = FLAG.fullmatch(argument) and not is_cost(following)
        found += [argument, "cv"] if is_flag else [argument]
    return found + arguments[len(options) :]


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
    free_bias: FreeBias = False,
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
    tell = (lambda _: None) if quiet else say
    data, path = data_and_model(files, out)
    place = Place(out_of_core, scheduler, local_cluster)
    check_inputs(data, format, label, test)
    place.check(folds)
    if folds is None:
        check_replaceable(path)
    model = make_model(ModelOptions(components, selection, cost, scale, seed, bias, free_bias, balanced, jobs))
    watch = Stopwatch(time.perf_counter, digits=3)
    options = training_options(format, index_base, label, max_features)
    with training_rows(data, options, place, watch, quiet) as (X, y, facts):
        for line in describe_facts(facts):
            tell(line)
        if folds is not None:
            result = cross_validate(model, X, y, folds, tell)
        else:
            result = learn(model, X, y, Job(path, what_to_know(data, facts, label), test, tell, watch))
    if as_json:
        give_json(result)


def data_and_model(files, out):
    """Return which of the files are data, and the path of the model."""
    from isrht.files.urls import shown

    if out is not None:
        return files, out
    if len(files) > 2:
        raise ValueError(f"which of these {len(files)} files is the model? Name it with --out")
    if len(files) == 2:
        return files[:1], Path(files[1])
    name = Path(shown(files[0])).name
    if name == "-" or any(sign in name for sign in "*?["):
        raise ValueError(f"{shown(files[0])} gives the model no name: name it, or use --out")
    return files, Path(f"{name}.isrht")


def check_replaceable(path):
    """Refuse to overwrite a file that is not a model, say a second data file; devices and pipes are written to."""
    from isrht.models.model_file import ModelFileError, read_about

    folder = path.resolve().parent
    if path.is_dir() or not folder.is_dir():
        raise ValueError(f"{path} cannot be written: it is a folder, or its folder is not there")
    if path.exists() and not path.is_file():
        return
    if not os.access(folder, os.W_OK):  # better said now than after the fit
        raise PermissionError(f"{path} cannot be written: a new file cannot be made in {folder}")
    if not path.exists():
        return
    try:
        read_about(path)
    except ModelFileError:
        raise ValueError(f"{path} is there and is no model of isrht: it is not overwritten") from None
