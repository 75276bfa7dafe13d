"""``isrht predict``: write labels, scores or probabilities of rows as they are read, from files of any size or a pipe.

No file that is read here can hold labels with control characters, but a model of a stranger may have them. They are
written escaped, as they are shown: a label that ends a line would be taken for two.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from isrht.cli._messages import give, give_json, give_lines, say
from isrht.cli._reading import (
    Format,
    ModelIndexBase,
    ModelLabel,
    NoLabel,
    ReadingOptions,
    check_not_input,
    describe_unseen,
    model_options,
    named,
)

Data = Annotated[str, typer.Argument(help="The rows: a file, a quoted pattern, or '-' for standard input.")]
Model = Annotated[Path, typer.Argument(help="A model that 'isrht train' or isrht.save wrote.")]
Out = Annotated[Path | None, typer.Argument(help="Where to write; default: standard output.")]
SCORES_HELP = "After each label the score of each class: distances from its hyperplane, not probabilities."
Scores = Annotated[bool, typer.Option("--scores", help=SCORES_HELP)]
PROBA_HELP = "After each label the probability of each class, for models that have held rows out to learn them."
Proba = Annotated[bool, typer.Option("--proba", help=PROBA_HELP)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print how good the predictions are as JSON; needs OUT.")]


def predict(
    data: Data,
    model: Model,
    out: Out = None,
    scores: Scores = False,
    proba: Proba = False,
    format: Format = None,
    label: ModelLabel = None,
    no_label: NoLabel = False,
    index_base: ModelIndexBase = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Predict the labels of rows, one a line; where the rows have labels, say how good the predictions are."""
    from isrht.files.opening import open_rows

    if as_json and out is None:
        raise ValueError("--json prints to standard output, where the predictions go: give OUT")
    if scores and proba:
        raise ValueError("--scores and --proba both write a number for each class: choose one")
    if out is not None:
        check_not_input(out, data, model)
    classifier, known = load_classifier(model)
    values = probabilities_of(classifier, model) if proba else scores_by_class if scores else None
    options = model_options(data, classifier, known, ReadingOptions(format, index_base, label, no_label))
    rows = open_rows(data, label_type="text", **options)  # labels as written, because the model may not know some
    judgement, blocks = predictions(classifier, rows, values)
    with opened(out) as write:
        if values is not None:
            write([separator_for(judgement.names).join(["labels", *judgement.names]) + "\n"])
        for lines in blocks:
            write(lines)
    report = [f"{judgement.n_rows:,} rows", *describe_unseen(rows.n_unseen, classifier.n_features_in_)]
    if as_json:
        give_json(judgement.as_json() | {"unseen_values": rows.n_unseen})
    elif not quiet:
        # If predictions go to standard output, nothing else may.
        for line in (*report, *judgement.lines()):
            (say if out is None else give)(line)


def load_classifier(path):
    """Return a model that can predict, and what its file says about it."""
    from isrht.models.model_file import load, read_about

    classifier = load(path)
    if not hasattr(classifier, "predict"):
        raise ValueError(f"{path} holds a {type(classifier).__name__}, which does not predict: use isrht transform")
    return classifier, read_about(path)


def predictions(classifier, rows, values_of=None):
    """Return a judgement and an iterator over the lines of every block; as it is used, the judgement grows.

    ``values_of`` makes of the scores of a block a number for each class, (rows, classes), which follow the labels.
    """
    from isrht.cli._judgement import Judgement
    from isrht.linear.scores import predicted_codes

    judgement = Judgement(classifier.classes_)
    names, separator = judgement.names, separator_for(judgement.names)

    def blocks():
        for X, y in rows:
            decision = scores_of(classifier, named(X, rows.feature_names))
            best = predicted_codes(decision.reshape(len(decision), -1))
            judgement.add(y, best)
            values = None if values_of is None else values_of(decision)
            yield lines_of([names[k] for k in best.tolist()], values, separator)

    return judgement, blocks()


def scores_of(classifier, X):
    """Return the scores of rows.

    Rows without names, such as those of LIBSVM text and arrays, are taken by position even if the model knows names.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return classifier.decision_function(X)


def scores_by_class(decision):
    """Return a score for each class, also of two classes, which have one score together."""
    from numpy import column_stack

    return column_stack([-decision, decision]) if decision.ndim == 1 else decision


def probabilities_of(classifier, path):
    """Return a function that makes probabilities of scores, or raise an error if the model has none."""
    last = classifier[-1] if hasattr(classifier, "steps") else classifier
    calibration = getattr(last, "calibration_", None)
    if calibration is None:
        raise ValueError(
            f"{path} has no probabilities: it was trained with a given C, or by an older isrht. Train it with -C cv, "
            "or with boosted columns"
        )
    return lambda decision: calibration.probabilities(decision.reshape(len(decision), -1))


def lines_of(labels, values, separator):
    if values is None:
        return [f"{label}\n" for label in labels]
    rows = zip(labels, values.tolist(), strict=True)
    return [separator.join([label, *map(repr, row)]) + "\n" for label, row in rows]


def separator_for(labels):
    """Return a blank, as LIBLINEAR has it, or a tab if there are blanks within labels."""
    return "\t" if any(" " in label for label in labels) else " "


@contextmanager
def opened(path):
    """Give a function that writes lines to standard output, or to a file that is there once it is whole."""
    if path is None:
        yield give_lines
        give_lines([], at_once=True)
        return
    from isrht.support.atomic_writes import replaced_when_whole

    with replaced_when_whole(path) as file:
        yield lambda lines: file.write("".join(lines).encode())
