"""Arguments for kernels: rows, chosen columns, and what diagonals are made of."""

import numpy as np

from isrht.kernels.records import (
    CsrRows,
    DiagonalPaths,
    DiagonalProblems,
    DiagonalResults,
    DualProblems,
    DualState,
    Epoch,
    FeatureTable,
    LearnedColumns,
    SvmProblems,
)
from isrht.transform.lengths import next_power_of_two

FLOATS = [np.float32, np.float64]
INDICES = [np.int32, np.int64]
WIDTHS = [1, 3, 8, 31, 100, 257, 1000, 5000, 20000]


def dense_case(rng, dtype, width, rows=11):
    """Return dense rows, a diagonal, and the length to which the rows are padded."""
    x = rng.standard_normal((rows, width)).astype(dtype)
    diagonal = rng.standard_normal(width).astype(dtype)
    return x, diagonal, next_power_of_two(width)


def choose_columns(rng, length, count, dtype):
    """Return columns, some perhaps more than once, and their scales."""
    columns = rng.integers(0, length, count)
    return columns, rng.standard_normal(count).astype(dtype)


def sparse_case(rng, dtype, index_type, width, rows=40, density=0.1):
    """Return CSR rows whose entries are unsorted and may repeat a feature; row 3 is empty."""
    per_row = rng.integers(0, max(2, int(width * density)), rows)
    per_row[3:4] = 0
    indptr = np.concatenate([[0], np.cumsum(per_row)]).astype(index_type)
    indices = rng.integers(0, width, indptr[-1]).astype(index_type)
    return CsrRows(rng.standard_normal(indptr[-1]).astype(dtype), indices, indptr)


def tolerance(dtype, width):
    """Return how much two sums of so many terms, in another order, may differ."""
    return 4 * np.finfo(dtype).eps * np.sqrt(width) * np.log2(width + 1)


def diagonal_case(rng, width, problems, folds=3):
    """Return the moments of sparse data, the features and the problems of which diagonals are made."""
    rows = rng.standard_normal((40, width)) * (rng.random((40, width)) < 0.3)
    first, second = rng.standard_normal((2, 40, problems))
    second = second**2
    moments = np.stack([rows.T @ first, rows.T @ second, (rows**2).T @ second], axis=1)
    mean, deviation = rng.standard_normal((width, folds)), rng.random((width, folds)) + 0.1
    features = FeatureTable(mean, deviation, rng.random((width, folds)) < 0.9, 2)
    fold, kind = rng.integers(0, folds, problems), rng.integers(0, 3, problems)
    threshold = rng.choice([0.0, 1.0], problems)
    return moments, features, DiagonalProblems(fold, kind, threshold, first.sum(0), second.sum(0), 1e-10)


def diagonal_outputs(width, problems, signals=True):
    """Return where diagonals go, behind four that each of three paths has, and room for what is told of them."""
    owner = np.sort(np.arange(problems) % 3)
    z = [np.random.default_rng(i).standard_normal((4 + problems, width + 5)).astype(np.float32) for i in range(3)]
    row = 4 + np.concatenate([np.arange(np.count_nonzero(owner == path)) for path in range(3)])
    rows = 4 + np.bincount(owner, minlength=3)[owner]
    signals = np.full((width if signals else 0, problems), np.nan)
    return DiagonalPaths(z, owner, row, rows), DiagonalResults(
        np.ones(problems), np.ones((problems, rows.max())), signals
    )


def svm_case(rng, n_samples, width, n_classes, Cs):
    """Return rows with learned columns, of which some weigh nothing; problems of all classes and Cs; and a start."""
    codes = rng.integers(0, n_classes, n_samples).astype(np.int32)
    memory = rng.standard_normal((width, 2, n_samples)) + 0.5 * rng.standard_normal((width, 2, n_classes))[..., codes]
    positive = np.arange(1 if n_classes == 2 else 0, n_classes, dtype=np.int32)
    problems = SvmProblems(np.tile(positive, len(Cs)), np.repeat(np.array(Cs), len(positive)), len(positive))
    weights = rng.integers(0, 3, n_samples) * rng.random(n_samples)
    rows = LearnedColumns(memory[:, 1], weights, codes)
    return rows, problems, rng.standard_normal((len(problems.cost), width + 1))


def descent_case(rng, norms, width, lanes, intercept, start=0.3):
    """Return the records of an epoch of coordinate descent, on its way; a share of ``start`` of the rows have begun."""
    real, count = np.float64 if lanes == 1 else np.float32, len(norms)
    labels = rng.choice([-1, 1], (count, lanes)).astype(real)
    ridge = rng.choice([0.5, 3.0, 0.01], (count, lanes)).astype(real)
    alpha = (rng.random((count, lanes)) * (rng.random((count, lanes)) < start)).astype(real)
    weights = ((rng.standard_normal((width, lanes)) * 0.2) * (start > 0)).astype(real)
    closed = (rng.integers(0, 256, count) & rng.integers(0, 256, count) & ((1 << lanes) - 1)).astype(np.uint8)
    state = DualState(alpha, weights, np.zeros(lanes if intercept else 0, real), closed)
    finished = 2 if lanes > 1 else 0
    told, tells = (np.full(lanes, 0.5, real), finished, 1.3), (np.ones(lanes), np.zeros(lanes, real))
    epoch = Epoch(rng.permutation(count), *told, *tells)
    return DualProblems(labels, ridge, np.asarray(norms).astype(real)), state, epoch
