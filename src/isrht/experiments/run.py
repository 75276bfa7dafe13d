"""One run and its record: fit the projection, project, tune C, train, predict.

Seconds are processor seconds of this process. BLAS is held to one thread, so on an idle machine they are what a clock
on the wall shows, and on a busy machine they are not disturbed. These stages make up the time of a method:

- fit: draw the projection, and measure the data if the method looks at them
- project: project the training rows
- tune: choose C by 5-fold cross-validation. If the projection uses labels, each fold fits its own, because columns
  chosen with the labels of held-out rows would make every C look too good. Boosted ISRHT tunes itself while it is
  fitted
- train: train the SVM with the chosen C
- predict: project and classify the test rows

The protocol "paper" also records the accuracy on the test rows for every C. The best of them is what the paper reports
(``paper/errata.md``, 7); it is not counted in the time.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import numpy as np

from isrht.experiments.journal import canonical, checksum
from isrht.experiments.methods import method_named
from isrht.experiments.solvers import N_FOLDS, accuracies_on_test, cross_validated, into_their_span, trained
from isrht.linear.costs import DEFAULT_CS
from isrht.support.stopwatch import Stopwatch

PROTOCOLS = ("cv", "paper")


@dataclass(frozen=True)
class Task:
    """What identifies a run: equal tasks have equal keys, and a task whose key is in the journal is not run again.

    Attributes
    ----------
    kind : "accuracy" or "projection"
        Whether the whole run is made or only a projection is measured.
    set, method : str
        The names of the set and of the method.
    r, seed : int
        The number of columns, and the seed of all randomness.
    protocol : str
        One of ``PROTOCOLS``, or "projection".
    version, data : str
        The version of the package, and the checksum of the data.
    """

    kind: str
    set: str
    method: str
    r: int
    seed: int
    protocol: str
    version: str
    data: str

    @property
    def key(self):
        return checksum(canonical(asdict(self)))

    @property
    def label(self):
        return f"{self.set}, {self.method}, r={self.r}, seed {self.seed}"


def run(task, dataset):
    """Make one run on a loaded set and return its record; an error is recorded, not raised."""
    try:
        result = {"status": "ok"} | measure(task, dataset)
    except Exception as error:
        result = failure(error)
    return record_of(task, result)


def record_of(task, result):
    """Return the record of a task that has just been finished."""
    return asdict(task) | {"key": task.key, "finished": datetime.now(UTC).isoformat(timespec="seconds")} | result


def failure(error):
    """Return the result of a run that an error has ended."""
    return {"status": "failed", "error": f"{type(error).__name__}: {error}"[:500]}


def measure(task, dataset):
    """Make one run and return its results."""
    import scipy.sparse as sp

    X, y, X_test, y_test = dataset.scaled
    method = method_named(task.method)
    watch, wall = Stopwatch(time.process_time, digits=5), time.perf_counter()
    projection = method.make(task.r, task.seed, sp.issparse(X))
    with watch.stage("fit"):
        fitted = projection and fit_projection(projection, method, X, y)
    with watch.stage("project"):
        Z = project(fitted, X)
        Z, X_test = (Z, X_test) if fitted else into_their_span(Z, X_test)
    with watch.stage("tune"):
        cv = (
            own_choice(fitted)
            if method.tunes_itself
            else tune(projection if method.uses_labels else None, method, X, Z, y)
        )
    with watch.stage("train"):
        svm = trained(Z, y, cv["C"])
    with watch.stage("predict"):
        Z_test = project(fitted, X_test)
        accuracy = float(np.mean(svm.predict(Z_test) == y_test))
    elapsed = time.perf_counter() - wall
    sizes = {
        "projection": 0 if fitted is None else projection_bytes(fitted),
        "svm": 8 * len(svm.coef_) * (svm_width(fitted, X, svm) + 1),
    }
    return {
        "accuracy": round(accuracy, 6),
        **cv,
        **(best_over_C(Z, y, Z_test, y_test) if task.protocol == "paper" else {}),
        "seconds": watch.seconds,
        "total_seconds": round(sum(watch.seconds.values()), 5),
        "wall_seconds": round(elapsed, 3),
        "bytes": sizes,
        "model_bytes": sum(sizes.values()),
        "shape": [len(y), len(y_test), X.shape[1]],
    }


def fit_projection(projection, method, X, y):
    return projection.fit(X, y) if method.uses_labels else projection.fit(X)


def project(fitted, X):
    return X if fitted is None else fitted.transform(X)


def own_choice(fitted):
    """Return the C of a projection that tunes itself: it has scaled its columns so that C = 1 is right."""
    return {"C": 1.0, "cv_accuracy": round(float(np.mean(fitted.fold_scores_)), 6)}


def tune(projection, method, X, Z, y):
    """Return the C of the best cross-validated accuracy; if a ``projection`` is given, each fold fits its own copy."""
    scores = cross_validated(Z, y) if projection is None else score_each_fold(projection, method, X, y)
    best = int(np.argmax(scores))
    return {"C": DEFAULT_CS[best], "cv_accuracy": round(float(scores[best]), 6)}


def score_each_fold(projection, method, X, y):
    """Return the mean accuracy for every C, where each fold has a projection fitted to its own training rows."""
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    scores = []
    for train, held_out in StratifiedKFold(N_FOLDS).split(np.zeros(len(y)), y):
        own = fit_projection(clone(projection), method, X[train], y[train])
        scores.append(cross_validated(own.transform(X), y, [(train, held_out)]))
    return np.mean(scores, axis=0)


def best_over_C(Z, y, Z_test, y_test):
    """Return what the paper's protocol asks for: the accuracy on the test rows for every C, and the best of them."""
    by_C = [round(float(score), 6) for score in accuracies_on_test(Z, y, Z_test, y_test)]
    return {"best_accuracy": max(by_C), "by_C": by_C}


def svm_width(fitted, X, svm):
    """Return how many weights the SVM needs to predict: one for each column, or for each feature if all are kept.

    Without a projection the SVM may have been trained in the span of its rows, which is smaller.
    """
    return X.shape[1] if fitted is None else svm.coef_.shape[1]


def projection_bytes(fitted):
    """Return how many bytes must be kept to project a new row: those of R, in the form in which the method has it."""
    if hasattr(fitted, "steps"):
        return sum(projection_bytes(step) for _, step in fitted.steps)
    if hasattr(fitted, "nbytes"):
        return int(fitted.nbytes)
    if hasattr(fitted, "get_support"):
        return int(fitted.get_support(indices=True).nbytes)
    kept = (getattr(fitted, name, None) for name in ("components_", "mean_", "signs_"))
    return int(sum(_bytes(part) for part in kept if part is not None))


def _bytes(matrix):
    parts = (matrix.data, matrix.indices, matrix.indptr) if hasattr(matrix, "indptr") else (matrix,)
    return sum(part.nbytes for part in parts)
