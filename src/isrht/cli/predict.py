"""``isrht predict``: labels or scores for rows, as they come; from files larger than memory, or from a pipe.

Labels with control characters, which no file that is read here can hold, are written as they are shown, escaped: a
model may be a stranger's, and a label that ends a line would count as two.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from isrht.cli._reading import Format, ModelIndexBase, ModelLabel, NoLabel

Data = Annotated[str, typer.Argument(help="The rows: a file, a quoted pattern, or '-' for standard input.")]
Model = Annotated[Path, typer.Argument(help="A model that 'isrht train' or isrht.save wrote.")]
Out = Annotated[Path | None, typer.Argument(help="Where to write; default: standard output.")]
SCORES_HELP = "After each label the score of each class: distances from its hyperplane, not probabilities."
Scores = Annotated[bool, typer.Option("--scores", help=SCORES_HELP)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print how good the predictions are as JSON; needs OUT.")]


def predict(
    data: Data,
    model: Model,
    out: Out = None,
    scores: Scores = False,
    format: Format = None,
    label: ModelLabel = None,
    no_label: NoLabel = False,
    index_base: ModelIndexBase = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
):
    """Predict the labels of rows, one a line; where the rows have labels, say how good the predictions are."""
    from isrht.cli._messages import give, give_json, say
    from isrht.cli._reading import check_not_input, describe_unseen, model_options
    from isrht.files.opening import open_rows

    if as_json and out is None:
        raise ValueError("--json prints to standard output, where the predictions go: give OUT")
    if out is not None:
        check_not_input(out, data, model)
    classifier, known = load_classifier(model)
    options = model_options(data, classifier, known, format, index_base, label, no_label)
    rows = open_rows(data, label_type="text", **options)  # as written: some may be unknown to the model
    judgement, blocks = predictions(classifier, rows, scores)
    with opened(out) as write:
        if scores:
            write([separator_for(judgement.names).join(["labels", *judgement.names]) + "\n"])
        for lines in blocks:
            write(lines)
    report = [f"{judgement.n_rows:,} rows", *describe_unseen(rows.n_unseen, classifier.n_features_in_)]
    if as_json:
        give_json(judgement.as_json() | {"unseen_values": rows.n_unseen})
    elif not quiet:
        # What goes to standard output must not be mixed with predictions.
        for line in (*report, *judgement.lines()):
            (say if out is None else give)(line)


def load_classifier(path):
    """A model that predicts, and what its file tells of it."""
    from isrht.models.model_file import load, read_about

    classifier = load(path)
    if not hasattr(classifier, "predict"):
        raise ValueError(f"{path} holds a {type(classifier).__name__}, which does not predict: use isrht transform")
    return classifier, read_about(path)


def predictions(classifier, rows, with_scores=False):
    """A judgement that grows, and the lines of block after block."""
    from isrht.cli._judgement import Judgement
    from isrht.cli._reading import named
    from isrht.linear.scores import predicted_codes

    judgement = Judgement(classifier.classes_)
    names, separator = judgement.names, separator_for(judgement.names)

    def blocks():
        for X, y in rows:
            decision = scores_of(classifier, named(X, rows.feature_names))
            best = predicted_codes(decision.reshape(len(decision), -1))
            judgement.add(y, best)
            yield lines_of([names[k] for k in best.tolist()], decision if with_scores else None, separator)

    return judgement, blocks()


def scores_of(classifier, X):
    """Rows without names are taken by position, also where the model knows names: LIBSVM text and arrays have none."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        return classifier.decision_function(X)


def lines_of(labels, decision, separator):
    if decision is None:
        return [f"{label}\n" for label in labels]
    columns = [(-decision).tolist(), decision.tolist()] if decision.ndim == 1 else decision.T.tolist()
    rows = zip(labels, *columns, strict=True)
    return [separator.join([label, *map(repr, row)]) + "\n" for label, *row in rows]


def separator_for(labels):
    """A blank, as LIBLINEAR has it, unless there are blanks within labels."""
    return "\t" if any(" " in label for label in labels) else " "


@contextmanager
def opened(path):
    """What writes lines: to standard output, or to a file that is there once it is whole."""
    if path is None:
        from isrht.cli._messages import give_lines

        yield give_lines
        give_lines([], at_once=True)
        return
    from isrht.support.atomic_writes import replaced_when_whole

    with replaced_when_whole(path) as file:
        yield lambda lines: file.write("".join(lines).encode())
