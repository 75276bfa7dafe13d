"""``isrht predict``: labels or scores for rows, as they come; from files larger than memory, or from a pipe."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from isrht.cli.reading import Format, ModelIndexBase, ModelLabel, NoLabel

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
    from isrht.cli.messages import give, give_json, say
    from isrht.cli.reading import describe_unseen, errors_in_words, model_options
    from isrht.files import open_rows

    with errors_in_words("predict"):
        if as_json and out is None:
            raise ValueError("--json prints to standard output, where the predictions go: give OUT")
        classifier, known = load_classifier(model)
        rows = open_rows(data, **model_options(data, classifier, known, format, index_base, label, no_label))
        judgement, blocks = predictions(classifier, rows, scores)
        with opened(out) as file:
            if scores:
                file.write(f"labels {' '.join(texts(classifier.classes_))}\n")
            for lines in blocks:
                file.writelines(lines)
        report = [f"{judgement.n_rows:,} rows", *describe_unseen(rows.n_unseen, classifier.n_features_in_)]
        if as_json:
            give_json(judgement.as_json() | {"unseen_values": rows.n_unseen})
        elif not quiet:
            # What goes to standard output must not be mixed with predictions.
            for line in (*report, *judgement.lines()):
                (say if out is None else give)(line)


def load_classifier(path):
    """A model that predicts, and what its file tells of it."""
    from isrht.persistence import load, read_about

    classifier = load(path)
    if not hasattr(classifier, "predict"):
        raise ValueError(f"{path} holds a {type(classifier).__name__}, which does not predict: use isrht transform")
    return classifier, read_about(path)


def predictions(classifier, rows, with_scores=False):
    """A judgement that grows, and the lines of block after block."""
    from isrht.cli.judgement import Judgement

    judgement = Judgement(classifier.classes_)

    def blocks():
        for X, y in rows:
            decision = classifier.decision_function(X)
            predicted = labels_of(classifier, decision)
            judgement.add(y, predicted)
            yield lines_of(texts(predicted), decision if with_scores else None)

    return judgement, blocks()


def labels_of(classifier, decision):
    """As the classifier's own ``predict`` decides."""
    best = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
    return classifier.classes_[best]


def lines_of(labels, decision):
    if decision is None:
        return [f"{label}\n" for label in labels]
    columns = [(-decision).tolist(), decision.tolist()] if decision.ndim == 1 else decision.T.tolist()
    return [f"{label} {' '.join(map(repr, row))}\n" for label, *row in zip(labels, *columns, strict=True)]


def texts(labels):
    from isrht.files.labels import as_written

    return as_written(labels).tolist()


@contextmanager
def opened(path):
    """Standard output, or a file that is there once it is whole."""
    if path is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    import io

    from isrht.archive import replaced_when_whole

    with replaced_when_whole(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()
