"""Fit a model as the options of ``isrht train`` ask for, judge it, write it, and say what happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from isrht.cli._reading import model_options
from isrht.support.stopwatch import Stopwatch


@dataclass(frozen=True)
class ModelOptions:
    """The options of ``isrht train`` that make a model, as the user has given them."""

    components: int | None
    selection: str
    cost: str
    scale: str
    seed: int
    bias: float
    free_bias: bool
    balanced: bool
    jobs: int


@dataclass(frozen=True)
class Job:
    """What is to be done with a model: where it is written, with what about its data, and which rows judge it.

    ``tell`` is called with every line for the user, and ``watch`` measures the seconds of the stages.
    """

    path: Path
    known: dict
    test: str | None
    tell: Callable
    watch: Stopwatch


def is_cost(text):
    """Say whether a text can be the value of ``-C``: a number, or cv."""
    try:
        return text == "cv" or float(text) is not None
    except ValueError:
        return False


def make_model(asked):
    """Return the classifier that the :class:`ModelOptions` ask for, not fitted, its parameters checked."""
    from isrht import ISRHTClassifier

    if not is_cost(asked.cost):
        raise ValueError(f"-c must be a number or cv, got {asked.cost!r}")
    model = ISRHTClassifier(
        "auto" if asked.components is None else asked.components,
        selection=asked.selection,
        C="cv" if asked.cost == "cv" else float(asked.cost),
        scale=None if asked.scale == "none" else asked.scale,
        class_weight="balanced" if asked.balanced else None,
        fit_intercept=asked.bias >= 0,
        penalize_intercept=not asked.free_bias,
        random_state=asked.seed,
        n_jobs=asked.jobs,
    )
    model.check_parameters()
    return model


def what_to_know(data, facts, label):
    """Return what ``isrht predict`` must know of the data, and what a reader of the model may want to know."""
    from isrht.files.urls import shown

    return {
        "label_type": facts.label_type,
        "index_base": facts.index_base,
        "label": label,
        "trained_on": {
            "files": [Path(shown(str(name))).name for name in data],
            "rows": facts.n_samples,
            "features": facts.n_features,
            "nonzeros": facts.nnz,
        },
    }


def learn(model, X, y, job):
    """Fit the model, write it and judge it; say what happens and return it for ``--json``."""
    from isrht.files.labels import label_text
    from isrht.models.model_file import save

    with job.watch.stage("fit"):
        model.fit(X, y)
    for line in describe_choice(model):
        job.tell(line)
    with job.watch.stage("write"):
        save(model, job.path, about=job.known)
    judgement = None
    if job.test is not None:
        with job.watch.stage("test"):
            judgement = judge(model, job.known, job.test, job.tell)
    size = job.path.stat().st_size if job.path.is_file() else None  # a pipe has none
    job.tell(f"seconds: {', '.join(f'{name} {seconds:.2f}' for name, seconds in job.watch.seconds.items())}")
    job.tell(f"{job.path}: {'written' if size is None else f'{size:,} bytes'}")
    return {
        "model": str(job.path),
        "bytes": size,
        "classes": [label_text(label) for label in model.classes_.tolist()],
        "C": model.C_,
        "cv": None if model.C != "cv" else dict(zip(model.Cs_.tolist(), model.mean_scores_.tolist(), strict=True)),
        "test": None if judgement is None else judgement.as_json(),
        "seconds": job.watch.seconds,
    }


def describe_choice(model):
    """Yield lines that say how C was chosen, and of boosted columns also everything else."""
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
    """Predict the rows of a file, say how good that is, and return the judgement."""
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
    """Say how good such a model is on rows that it has not seen, as LIBLINEAR's ``-v`` does."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    shuffled = StratifiedKFold(folds, shuffle=True, random_state=model.random_state)  # files are often sorted by class
    scores = cross_val_score(model, X, y, cv=shuffled)
    tell(f"Cross Validation Accuracy = {100 * scores.mean():.4f}% (± {100 * scores.std():.4f} over {folds} folds)")
    return {"cross_validation_accuracy": float(scores.mean()), "folds": scores.tolist()}
