"""What several tests of boosting share: data, what is held out by default, and rows with learned columns."""

import numpy as np
from sklearn.datasets import make_classification

from isrht.boosting._path import Assignment, Path
from isrht.boosting._places import learned_rows
from isrht.boosting._roles import Roles
from isrht.boosting._rows import FiledRows, LearnedRows
from isrht.projections.diagonals import Candidate
from isrht.projections.feature_moments import measure_features
from isrht.rows.folds import held_out_fifths
from isrht.rows.labels import in_memory


def two_classes(n_samples=120, seed=20200207):
    """Return labels 0 and 1, and rows of 19 features, of which one is large, one constant and one not centred."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 19)) * (rng.random((n_samples, 19)) < 0.5)
    X[:, 5] *= 100
    X[:, 7] = 3.0
    X[:, 8] += 2
    signal = X[:, 0] - X[:, 1] + 0.02 * X[:, 5] + 0.5 * X[:, 8] + 0.5 * rng.standard_normal(n_samples)
    return X, (signal > np.median(signal)).astype(int)


def three_classes(n_samples=150):
    """Return rows of 12 features and labels 0, 1 and 2."""
    return make_classification(
        n_samples, 12, n_informative=6, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=1
    )


def fifths(y, seed):
    """Return what is held out by default, as a list of (train, test)."""
    seed = np.random.RandomState(seed).randint(2**31 - 1)
    counts = held_out_fifths(in_memory(y), seed).counts()
    return [tuple(map(np.flatnonzero, fold)) for fold in zip(*(side.T for side in counts), strict=True)]


def some_rows(rng, kind=FiledRows, n_samples=300, n_classes=3, n_columns=4):
    """Return rows with random columns of three paths, of which two are of the second of two folds."""
    codes = rng.integers(0, n_classes, n_samples)
    training = rng.integers(0, 3, (n_samples, 2)).astype(np.uint8)
    folds, weights = np.array([0, 1, 1]), rng.random(n_samples)
    values = rng.standard_normal((n_columns, len(folds), n_samples))
    roles = Roles(codes, n_classes, training, 1 - np.minimum(training, 1), weights)
    if kind is LearnedRows:
        return LearnedRows(roles, folds, values)
    rows = FiledRows(roles, folds, n_columns)
    rows.reserve(n_columns)
    rows.columns[:] = values
    return rows


def new_path(X, y, diagonal="z", threshold=0.0, n_columns=4, n_contrasts=0):
    """Return a path that has learned nothing yet, with the rows and features that it learns from: all rows of X."""
    labels = in_memory(y)
    roles = Roles(labels.codes, labels.n_classes, None, None).all_training()
    rows = learned_rows(X, roles, np.zeros(1, dtype=np.int64), n_columns)
    features = measure_features(X, rows, LearnedRows.all_training_weights)
    assignment = Assignment(0, Candidate(diagonal, threshold), 0, roles.mean_label(0))
    return Path(assignment, features, n_columns, n_contrasts), rows, features
