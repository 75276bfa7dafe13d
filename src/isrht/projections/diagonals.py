"""Learned diagonals: of every feature how sure it is to help, ``z = gradient / standard error``, soft-thresholded.

They are made from the moments of the features (:mod:`isrht.projections.feature_moments`) by kernels, for all paths at
once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from isrht import kernels
from isrht.kernels.records import DiagonalPaths, DiagonalProblems, DiagonalResults, FeatureTable
from isrht.projections.feature_moments import CONSTANT, factors_of, gradients, measure_features, moments
from isrht.rows.blocks import add
from isrht.rows.by_feature import ByFeature
from isrht.support.matrices import without_duplicates
from isrht.support.threads import in_threads

# What a diagonal is made of, in the order in which the kernels number them.
KINDS = ("standard", "z", "signs")
# Diagonals are made in so many slices of the features, however many threads there are: each has products of its own.
LANES = 8


class Candidate(NamedTuple):
    """What a diagonal is made of: "standard", "z" or "signs", and the threshold tau."""

    diagonal: str
    threshold: float


@dataclass
class Learned:
    """The diagonals ``z[:size]`` that a candidate has learned in a fold, and room for more."""

    candidate: Candidate
    fold: int
    z: np.ndarray
    size: int = 0
    n_contrasts: int = 0


class Diagonals:
    """The new diagonals of all paths, made from the moments in several lanes, slices of the features.

    Rows stored by feature yield the products with the new diagonals, of which columns are made, in the same go.
    """

    def __init__(self, features, paths, owner):
        self.features, self.paths, self.owner = features, paths, owner
        ends = np.searchsorted(owner, np.arange(len(paths) + 1))
        self.mine = [slice(first, last) for first, last in pairwise(ends)]
        self.signals = np.empty((len(features.mean) if any(path.n_contrasts for path in paths) else 0, len(owner)))
        self.matrix, self.products = None, None
        pairs = list(zip(paths, self.mine, strict=True))
        # The number, in its path, of the diagonal of each problem, and how many diagonals its path will have.
        self._row = np.concatenate([np.arange(mine.stop - mine.start) + path.size for path, mine in pairs])
        sizes = [path.size + mine.stop - mine.start for path, mine in pairs]
        self._rows = np.array(sizes, dtype=np.int64)[owner]

    def make(self, X, rows, sides, n_jobs):
        """Make the diagonals from the moments of the rows; ``sides`` is what :func:`moments` takes."""
        if isinstance(X, ByFeature):
            lanes, make_lane = X.lanes(LANES), self._by_feature(X, sides(rows))
        else:
            measured = moments(X, rows, sides, len(self.owner), n_jobs)
            lanes, make_lane = lanes_of(X.shape[1]), self._from_moments(*measured)
        self.offsets, grams, products = reduce(add, in_threads(make_lane, lanes, n_jobs))
        self.norms = np.sqrt(grams[np.arange(len(self.owner)), self._row])
        self.grams = [grams[mine, : self._rows[mine.start]].T for mine in self.mine]
        self.products = products if isinstance(X, ByFeature) else None

    def _from_moments(self, totals_of, *pulls):
        self.matrix = np.empty((len(self.features.mean), len(self.owner)))
        problems, paths = self._problems(*pulls), self._paths()

        def make_lane(lane):
            features, results = self._table(lane), self._results(lane)
            kernels.engine.make_diagonals(totals_of(lane), features, problems, paths, results, self.matrix[lane])
            return results.offsets, results.grams, 0

        return make_lane

    def _by_feature(self, X, sides):
        factors = factors_of(sides)
        problems, paths = self._problems(*factors.sum(axis=0)), self._paths()

        def make_lane(lane):
            features, results = self._table(lane), self._results(lane)
            products = np.zeros((X.shape[0], len(self.owner)))
            kernels.engine.diagonals_of_features(
                X.csr_rows(lane), factors, features, problems, paths, results, products
            )
            return results.offsets, results.grams, products

        return make_lane

    def _problems(self, first_sum, second_sum):
        """Return the problems as the kernels take them, with the sums over rows of their factors."""
        paths = [self.paths[p] for p in self.owner]
        folds = np.array([path.fold for path in paths])
        kinds = np.array([KINDS.index(path.candidate.diagonal) for path in paths])
        thresholds = np.array([path.candidate.threshold for path in paths])
        return DiagonalProblems(folds, kinds, thresholds, first_sum, second_sum, CONSTANT)

    def _paths(self):
        """Return where the kernels write the new diagonals."""
        return DiagonalPaths([path.z for path in self.paths], self.owner, self._row, self._rows)

    def _table(self, lane):
        """Return the features of a lane as the kernels take them."""
        features = self.features
        return FeatureTable(features.mean[lane], features.deviation[lane], features.varies[lane], lane.start)

    def _results(self, lane):
        """Return sums of a lane's own, to be added up, and the signals of its features."""
        n_problems = len(self.owner)
        return DiagonalResults(np.zeros(n_problems), np.zeros((n_problems, self._rows.max())), self.signals[lane])


def lanes_of(n_features):
    ends = np.linspace(0, n_features, LANES + 1).astype(int)
    return [slice(first, last) for first, last in pairwise(ends.tolist()) if first < last]


def class_grams(X, rows, weigh, n_classes, features, paths, n_jobs=None):
    """Return how alike the classes pull at the features, for each path: products of gradients, (classes, classes).

    ``weigh(some rows, numbers)`` are weights times residuals of some of the paths: (rows, paths times classes). Rows
    stored by feature need no array of all gradients.
    """
    if isinstance(X, ByFeature):
        return [
            _gram_by_feature(X, weigh(rows, [number]), _metric_by_feature(X, features, path), n_jobs)
            for number, path in enumerate(paths)
        ]
    everyone = range(len(paths))
    gradient, pull = gradients(X, rows, lambda rows: weigh(rows, everyone), n_classes * len(paths), n_jobs)
    parts = zip(paths, np.split(gradient, len(paths), axis=1), np.split(pull, len(paths)), strict=True)
    return [_gram_of(part, pull, *_centre_and_factor(features, path)) for path, part, pull in parts]


def _centre_and_factor(features, learned):
    """Return of every feature the mean, and by how much it counts: by its metric, or not at all if it is constant."""
    fold = learned.fold
    deviation = features.deviation[:, fold]
    metric = deviation**2 if learned.candidate.diagonal == "standard" else deviation
    return np.ascontiguousarray(features.mean[:, fold]), np.where(features.varies[:, fold], 1 / metric, 0)


def _gram_of(gradient, pull, mean, factor):
    gradient = gradient - np.outer(mean, pull)
    return gradient.T @ (gradient * factor[:, None])


class _Metric(NamedTuple):
    """How the features of rows stored by feature count in products of gradients: the same in every round.

    Half of the words of a text occur in it once. The gradient of a feature that one row alone has is a multiple of the
    residual of that row, less its mean times the sum of all residuals, so the products of all such features of a row
    are three numbers times products of these two.

    Parameters
    ----------
    mean, factor : arrays of shape (n_features,)
        The factor is 0 for features that are constant, or that one row alone has.
    squares, crosses : arrays of shape (n_samples,)
        Of the latter, summed over the features of each row: factor times squared value, and times value times mean.
    constant : float
        Their factor times squared mean, summed.
    """

    mean: np.ndarray
    factor: np.ndarray
    squares: np.ndarray
    crosses: np.ndarray
    constant: float


def _metric_by_feature(X, features, learned):
    """Return the :class:`_Metric` of a path, which is kept with the features."""
    key = learned.fold, learned.candidate.diagonal == "standard"
    if key not in features.metrics:
        mean, factor = _centre_and_factor(features, learned)
        some, rows, values = X.singles
        own, centre, factor[some] = factor[some], mean[some], 0
        squares, crosses = (np.bincount(rows, own * values * other, X.shape[0]) for other in (values, centre))
        features.metrics[key] = _Metric(mean, factor, squares, crosses, float(own @ centre**2))
    return features.metrics[key]


def _gram_by_feature(X, residuals, metric, n_jobs):
    n_classes = residuals.shape[1]
    padded = np.zeros((len(residuals), -(-n_classes // 8) * 8))
    padded[:, :n_classes], pull = residuals, residuals.sum(axis=0)

    def of_lane(lane):
        gram = np.zeros((n_classes, n_classes))
        kernels.engine.add_class_gram(X.csr_rows(lane), padded, pull, metric.mean[lane], metric.factor[lane], gram)
        return gram

    crosses = np.outer(metric.crosses @ residuals, pull)
    singles = residuals.T @ (residuals * metric.squares[:, None]) + metric.constant * np.outer(pull, pull)
    return reduce(add, in_threads(of_lane, X.lanes(LANES), n_jobs)) + (singles - crosses - crosses.T)


def leading_directions(gram, count):
    """Return the combinations of classes along which their gradients are largest: an array (classes, count)."""
    leading = np.linalg.eigh(gram)[1][:, ::-1][:, :count]
    largest = np.abs(leading).argmax(axis=0)
    return leading * np.where(leading[largest, np.arange(leading.shape[1])] < 0, -1, 1)


def first_diagonal(X, labels, candidate):
    """Return what every feature says of the classes by itself: z of the labels around their mean, in float32."""
    X = without_duplicates(X)
    residual = _centred_labels(labels)
    features = measure_features(X, residual, lambda rows: np.ones((len(rows), 1)))
    learned = Learned(candidate, 0, np.empty((1, X.shape[1]), dtype=np.float32))
    direction = np.ones((1, 1))
    if residual.shape[1] > 1:
        grams = class_grams(X, residual, lambda rows, _: rows, residual.shape[1], features, [learned])
        direction = leading_directions(grams[0], 1)
    new = Diagonals(features, [learned], np.zeros(1, dtype=np.int64))
    new.make(X, residual, lambda rows: _once_and_squared(rows @ direction), None)
    return learned.z[0] if new.norms[0] > 0 else np.zeros(X.shape[1], dtype=np.float32)


def _centred_labels(labels):
    """Return labels +1/-1 less their mean: one column for two classes, else one per class against the rest."""
    positive = np.arange(1, 2) if labels.n_classes == 2 else np.arange(labels.n_classes)
    means = 2 * labels.counts / len(labels) - 1
    return np.where(labels.codes[:, None] == positive, 1.0, -1.0) - means[positive]


def _once_and_squared(pull):
    return pull, pull * pull
