"""Learned columns, grown round by round: ``R = [D_1 H S_1 | ... | D_T H S_T] A`` with diagonals that have seen labels.

A round takes the residual g of a small SVM on the columns so far and asks every feature how sure it is to help:
``z_k = v_k / se_k``, the gradient ``v = X'g`` (features centred) over its standard error. The diagonal is z,
soft-thresholded at tau, so that column 0 of H, which adds up all features, points along what is still unexplained; no
random sign cancels it. The rows are never rotated for this: a round is two passes over them, one for the moments
``X'g, X'g^2, (X*X)'g^2`` and one for the new column.

The small SVM must not prefer a feature for its units or its company, so its ridge ``|w|^2`` is to be a ridge on the
weights of the features, in a metric S: ``sd_k`` for the diagonal "z" (features as they are), ``sd_k^2`` for "standard"
(every feature counts the same). That is what A is for: it makes the learned columns orthonormal in S.

Several :class:`Path`\\ s (candidates for the diagonal, folds of a cross-validation) grow side by side and share every
pass. A fold is a column of row weights, zero where rows are held out: no row is copied.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isrht import _kernels
from isrht.blocks import RowBlocks, Rows, default_block_rows, is_sparse, job_count
from isrht.hadamard import next_power_of_two, transform_cube
from isrht.newton import as_float64
from isrht.rotation import csr_parts
from isrht.selection import comparable
from isrht.small_svm import SmallSVMs

# What a diagonal is made of, in the order in which the kernels number them.
KINDS = ("standard", "z", "signs")
# The C of the SVM whose residual the next round works on, in units in which the mean squared row is 1.
INNER_C = 1.0
# A feature is constant, or its standard error zero, when what remains of a sum of squares is this small a part of it.
CONSTANT = 1e-10
# A diagonal of which less than this is new adds no column.
SMALLEST_REMAINDER = 1e-6
# The residual is gone when its mean square is less than this.
NO_RESIDUAL = 1e-10
# Features worked on at once: few enough for a few columns of them to stay in the cache, and for threads to share them.
CHUNK = 2**15
# Sparse blocks are so large that their work outweighs adding up their totals by this factor.
WORK_PER_TOTAL = 20


class Candidate(NamedTuple):
    """What the diagonal of a path is made of: "standard", "z" or "signs", and the threshold tau."""

    diagonal: str
    threshold: float


@dataclass(frozen=True)
class Features:
    """Mean and standard deviation (1 where constant) of every feature, in every fold: arrays (n_features, n_folds)."""

    mean: np.ndarray
    deviation: np.ndarray
    varies: np.ndarray
    total: np.ndarray

    def mean_squared_row(self, diagonal, fold):
        """Of centred rows, in the metric in which the columns are orthonormal."""
        varies = self.varies[:, fold]
        size = varies.sum() if diagonal == "standard" else self.deviation[varies, fold].sum()
        return float(size) if size > 0 else 1.0


def measure_features(X, weights, n_jobs=None):
    """The :class:`Features` of the rows of X under each column of ``weights`` (n_samples, n_folds)."""
    totals = np.concatenate(moments(X, np.zeros_like(weights), weights, n_jobs), axis=2)
    _, sums, squares = np.moveaxis(totals, 1, 0)
    if not np.isfinite(squares).all():
        raise ValueError(
            "the sums of squares of the features overflow: X has values too large; scale X (for example by its largest "
            "absolute value)"
        )
    total = weights.sum(axis=0)
    mean = sums / total
    centred = squares - mean * sums
    varies = centred > CONSTANT * squares
    deviation = np.sqrt(np.where(varies, centred, total) / total)
    return Features(mean, deviation, varies, total)


def moments(X, first, second, n_jobs=None):
    """Sums over rows of ``x first``, ``x second`` and ``x**2 second``, for each of their columns.

    A list of arrays (n_features, 3, some of the columns). Where there are so many features that the rows make up one
    block, threads share the columns instead of the rows.
    """
    n_columns = first.shape[1]
    block_rows = _block_rows(X, 3 * X.shape[1] * n_columns)
    one_block = block_rows >= X.shape[0] and not isinstance(X, Rows)
    n_groups = min(job_count(n_jobs), n_columns) if one_block else 1
    groups = np.array_split(np.arange(n_columns), n_groups)

    def group_moments(group):
        one, two = np.ascontiguousarray(first[:, group]), np.ascontiguousarray(second[:, group])
        blocks = RowBlocks(X, one, two, block_rows=block_rows)
        return blocks.sum(lambda block: moments_of_rows(block.X, block.y, block.sample_weight), n_jobs)

    return list(in_threads(group_moments, groups, n_jobs))


def moments_of_rows(X, first, second):
    if sp.issparse(X):
        totals = np.zeros((X.shape[1], 3, first.shape[1]))
        _kernels.engine.add_csr_moments(*csr_parts(X), first, second, totals)
        return totals
    X = as_float64(X)
    with np.errstate(over="ignore", invalid="ignore"):  # measure_features tells
        return np.stack([X.T @ first, X.T @ second, (X * X).T @ second], axis=1)


def gradients(X, first, n_jobs=None):
    """The first moments alone."""
    blocks = RowBlocks(X, first, block_rows=_block_rows(X, X.shape[1] * first.shape[1]))
    return blocks.sum(lambda block: as_float64(block.X).T @ block.y, n_jobs)


class Path:
    """The columns learned so far by one candidate in one fold, and the residual for the next."""

    def __init__(self, candidate, fold, features, Y, weights, n_columns, n_contrasts=0):
        self.candidate, self.fold = candidate, fold
        self.Y, self.weights = Y, weights
        self.row_scale = 1 / np.sqrt(features.mean_squared_row(candidate.diagonal, fold))
        self.z = np.empty((n_columns, len(features.mean)), dtype=np.float32)
        self.norms = np.empty(n_columns)
        self.mixing = np.zeros((n_columns, n_columns))
        self.columns = np.empty((len(Y), n_columns), order="F")
        self.size, self.done = 0, False
        self.residual = Y - weights @ Y / weights.sum()
        self.solutions = np.zeros((Y.shape[1], 1))
        self.n_contrasts, self.contrasts = n_contrasts, []

    def room(self, per_round):
        return min(per_round, len(self.norms) - self.size, self.Y.shape[1])

    def directions(self, gradient, features, per_round):
        """The classes' residuals, combined along the leading directions of their gradients: (classes, directions)."""
        if self.Y.shape[1] == 1:
            return np.ones((1, 1))
        gradient = gradient - np.outer(features.mean[:, self.fold], self.weights @ self.residual)
        gradient[~features.varies[:, self.fold]] = 0
        deviation = features.deviation[:, self.fold, None]
        metric = deviation**2 if self.candidate.diagonal == "standard" else deviation
        leading = np.linalg.eigh(gradient.T @ (gradient / metric))[1][:, ::-1][:, : self.room(per_round)]
        largest = np.abs(leading).argmax(axis=0)
        return leading * np.where(leading[largest, np.arange(leading.shape[1])] < 0, -1, 1)

    def extend(self, norms, grams, raw_columns):
        """Make the new diagonals orthonormal to the others, and their columns with them. Return those that are new.

        ``grams[:, i]`` are the products of new diagonal i with all diagonals, the new ones last, before scaling.
        """
        before, kept = self.size, list(range(self.size))
        for i, norm in enumerate(norms):
            if not norm > 0:
                continue
            t = self.size
            overlap = self.mixing[:t, :t] @ (grams[kept, i] / (self.norms[:t] * norm))
            remainder = np.sqrt(max(0.0, 1 - overlap @ overlap))
            if remainder < SMALLEST_REMAINDER:
                continue
            self.z[t], self.norms[t] = self.z[before + i], norm
            self.mixing[t, :t], self.mixing[t, t] = -(overlap @ self.mixing[:t, :t]) / remainder, 1 / remainder
            self.columns[:, t] = raw_columns[:, i] * (self.row_scale / norm) - self.columns[:, :t] @ overlap
            self.columns[:, t] /= remainder
            kept.append(before + i)
            self.size += 1
        return [row - before for row in kept[before:]]

    def small_svms(self):
        counted = np.flatnonzero(self.weights)
        return SmallSVMs(self.columns[counted, : self.size], self.Y[counted], self.weights[counted])

    def train(self, C):
        """Train the small SVM of every class on the columns, from where it was, and take its residual."""
        n_problems = self.Y.shape[1]
        self.solutions = self.small_svms().solve(np.arange(n_problems), np.full(n_problems, C), self.solutions)
        scores = self.columns[:, : self.size] @ self.solutions[:, :-1].T + self.solutions[:, -1]
        self.residual = self.Y * np.maximum(0, 1 - self.Y * scores)
        if self.weights @ (self.residual**2).sum(axis=1) < NO_RESIDUAL * self.weights.sum():
            self.done = True


def grow(X, features, paths, per_round=1, n_jobs=None):
    """One round for all paths: at most ``per_round`` new columns each, and the residual that they leave."""
    paths = [path for path in paths if not path.done and path.room(per_round)]
    if not paths:
        return
    pulls = _pulls(X, features, paths, per_round, n_jobs)
    owner = np.repeat(np.arange(len(paths)), [pull.shape[1] for pull in pulls])
    g = np.hstack(pulls)
    weights = np.stack([path.weights for path in paths], axis=1)[:, owner]
    first, second = weights * g, weights * g * g
    new = Diagonals(features, paths, owner, first.sum(axis=0), second.sum(axis=0))
    new.make(moments(X, first, second, n_jobs), n_jobs)
    raw_columns = new.columns(X, n_jobs)

    def finish(p):
        mine = new.mine[p]
        kept = paths[p].extend(new.norms[mine], new.grams[p], raw_columns[:, mine])
        if paths[p].n_contrasts:
            paths[p].contrasts += [best_contrasts(new.signal[p][:, i], paths[p].n_contrasts) for i in kept]
        if kept:
            paths[p].train(INNER_C)
        else:
            paths[p].done = True

    for _ in in_threads(finish, range(len(paths)), n_jobs):
        pass


def coded(codes, n_classes):
    """Labels +1/-1: one column for two classes, else one per class against the rest."""
    wanted = np.arange(1, 2) if n_classes == 2 else np.arange(n_classes)
    return np.where(codes[:, None] == wanted, 1.0, -1.0)


def first_diagonal(X, Y, candidate):
    """What every feature says of the labels Y by itself: the z of the first round, in float32."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    weights = np.ones(X.shape[0])
    features = measure_features(X, weights[:, None])
    path = Path(candidate, 0, features, Y, weights, 1)
    grow(X, features, [path])
    return path.z[0] if path.size else np.zeros(X.shape[1], dtype=np.float32)


def _pulls(X, features, paths, per_round, n_jobs):
    """The residuals that the new columns are to explain: one array (n_samples, new columns) per path."""
    several = [path for path in paths if path.Y.shape[1] > 1]
    if not several:
        return [path.residual for path in paths]
    weighted = np.hstack([path.weights[:, None] * path.residual for path in several])
    parts = np.split(gradients(X, weighted, n_jobs), len(several), axis=1)
    return [path.residual @ path.directions(part, features, per_round) for path, part in zip(paths, parts, strict=True)]


class Diagonals:
    """The new diagonals of all paths, made from the moments, a chunk of features at a time."""

    def __init__(self, features, paths, owner, pull, square_pull):
        self.features, self.paths, self.owner = features, paths, owner
        self.pull, self.square_pull = pull, square_pull
        self.folds = np.array([paths[p].fold for p in owner])
        self.kinds = np.array([KINDS.index(paths[p].candidate.diagonal) for p in owner])
        self.thresholds = np.array([paths[p].candidate.threshold for p in owner])
        ends = np.searchsorted(owner, np.arange(len(paths) + 1))
        self.mine = [slice(first, last) for first, last in pairwise(ends)]
        self.matrix = np.empty((len(features.mean), len(owner)))
        sizes = [mine.stop - mine.start if path.n_contrasts else 0 for path, mine in zip(paths, self.mine, strict=True)]
        self.signal = [np.empty((len(features.mean), size)) for size in sizes]

    def make(self, totals, n_jobs):
        """``totals`` lists the moments of all problems in order, some of them in each array."""
        ends = np.cumsum([0, *(part.shape[2] for part in totals)])
        groups = [(slice(first, last), part) for (first, last), part in zip(pairwise(ends), totals, strict=True)]
        d = len(self.matrix)
        chunks = [slice(start, min(start + CHUNK, d)) for start in range(0, d, CHUNK)]
        parts = list(in_threads(lambda chunk: self._make_chunk(groups, chunk), chunks, n_jobs))
        squares, self.offsets = sum(part[0] for part in parts)
        self.norms = np.sqrt(squares)
        self.grams = [sum(part[1][p] for part in parts) for p in range(len(self.paths))]

    def _make_chunk(self, groups, chunk):
        features, width = self.features, chunk.stop - chunk.start
        z, weighted = np.empty((len(self.owner), width), dtype=np.float32), np.empty((len(self.owner), width))
        sums = np.empty((2, len(self.owner)))
        for some, totals in groups:
            group_sums = np.empty((2, some.stop - some.start))
            _kernels.engine.make_diagonals(
                totals[chunk],
                features.mean[chunk],
                features.deviation[chunk],
                features.varies[chunk],
                self.folds[some],
                self.pull[some],
                self.square_pull[some],
                self.kinds[some],
                self.thresholds[some],
                CONSTANT,
                z[some],
                weighted[some],
                self.matrix[chunk, some],
                group_sums,
            )
            sums[:, some] = group_sums
        return sums, [self._join(p, chunk, groups, z, weighted) for p in range(len(self.paths))]

    def _join(self, p, chunk, groups, z, weighted):
        """Hand a path its new diagonals; their products with all of its diagonals."""
        path, mine = self.paths[p], self.mine[p]
        rows = path.z[: path.size + mine.stop - mine.start, chunk]
        rows[path.size :] = z[mine]
        if path.n_contrasts:
            first = np.concatenate([totals[chunk, 0] for _, totals in groups], axis=1)[:, mine]
            gradient = first - self.features.mean[chunk, path.fold, None] * self.pull[mine]
            self.signal[p][chunk] = self.matrix[chunk, mine] * gradient
        return rows.astype(np.float64) @ weighted[mine].T

    def columns(self, X, n_jobs):
        """The new columns of all rows, centred, before any scaling: (n_samples, new diagonals)."""
        out, matrix, offsets = np.empty((X.shape[0], len(self.owner))), self.matrix, self.offsets
        blocks = RowBlocks(X, block_rows=4 * default_block_rows(X))
        return blocks.fill(out, lambda block: as_float64(block.X) @ matrix - offsets, n_jobs)


def best_contrasts(signal, count):
    """The columns of H, but for column 0, along which diagonal times gradient is largest, the best first."""
    padded = np.zeros(next_power_of_two(len(signal)))
    padded[: len(signal)] = signal
    transform_cube(padded[None, :, None], 1.0, workers=1)
    size = comparable(np.abs(padded))
    size[0] = -1
    count = min(count, len(size) - 1)
    if count == 0:
        return np.empty(0, dtype=np.int64)
    smallest = np.partition(size, len(size) - count)[len(size) - count]
    among = np.flatnonzero(size >= max(smallest, 0))
    return among[np.argsort(-size[among], kind="stable")][:count]


def in_threads(function, items, n_jobs=None):
    """``map`` by ``n_jobs`` threads; results come in the order of the items."""
    workers = job_count(n_jobs)
    if workers == 1 or len(items) == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        under_way = deque(pool.submit(function, item) for item in items)
        while under_way:
            yield under_way.popleft().result()


def _block_rows(X, totals):
    if not is_sparse(X):
        return max(4 * default_block_rows(X), 64)
    n_blocks = max(1, int(X.nnz / (WORK_PER_TOTAL * totals)))
    return max(1, -(-X.shape[0] // n_blocks))
