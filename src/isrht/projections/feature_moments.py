"""Feature moments: what boosting asks of every feature, as sums over rows.

Mean and deviation before the first round; then, round by round, how the residuals g pull at a feature: the sums
``X'g``, ``X'g^2`` and ``(X*X)'g^2``, from which its gradient and the standard error of that follow. Any number of
problems (candidates, folds, classes) share a pass: each is a column of factors per row. Rows stored by feature
(:mod:`isrht.rows.by_feature`) sum the moments of a slice of features when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from isrht import kernels
from isrht.kernels.records import csr_rows
from isrht.rows.blocks import RowBlocks, RowsElsewhere, default_block_rows, is_sparse
from isrht.rows.by_feature import ByFeature
from isrht.support.matrices import as_float64, contiguous_rows
from isrht.support.threads import in_threads, job_count
from isrht.support.validation import check_size_of_sums

# A feature is constant, or its standard error zero, when what remains of a sum of squares is this small a part of it.
CONSTANT = 1e-10
# Features worked on at once: few enough for a few columns of them to stay in the cache, and for threads to share them.
CHUNK = 2**13
# Sparse blocks are so large that their work outweighs adding up their totals by this factor.
WORK_PER_TOTAL = 20
# They have at least so many entries, whose work outweighs what it takes to go from block to block.
LEAST_ENTRIES = 2**17
# A thread takes at least so many problems: fewer cost nearly as much, for they are as many lanes of a vector.
LEAST_PROBLEMS = 4


@dataclass(frozen=True)
class Features:
    """Mean and standard deviation (1 where constant) of every feature, in every fold: arrays (n_features, n_folds).

    ``metrics`` are what follows from these for products of gradients, once it has been asked for.
    """

    mean: np.ndarray
    deviation: np.ndarray
    varies: np.ndarray
    total: np.ndarray
    metrics: dict = field(default_factory=dict, repr=False, compare=False)

    def mean_squared_row(self, diagonal, fold):
        """Return the mean squared norm of centred rows, in the metric in which the columns are orthonormal."""
        varies = self.varies[:, fold]
        size = np.count_nonzero(varies) if diagonal == "standard" else self.deviation[:, fold].sum(where=varies)
        return float(size) if size > 0 else 1.0


def measure_features(X, rows, weigh, n_folds=1, n_jobs=None):
    """Return the :class:`Features` of the training rows of every fold.

    ``weigh(some rows)`` are the weights of rows in the training of each fold: an array (rows, n_folds).
    """
    totals_of, total, _ = moments(X, rows, lambda rows: (weigh(rows),) * 2, n_folds, n_jobs)
    mean, deviation = np.empty((2, X.shape[1], n_folds))
    varies = np.empty((X.shape[1], n_folds), dtype=bool)

    def measure(chunk):
        _, sums, squares = np.moveaxis(totals_of(chunk), 1, 0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean[chunk] = sums / total
            centred = squares - mean[chunk] * sums
            varies[chunk] = centred > CONSTANT * squares
            deviation[chunk] = np.sqrt(np.where(varies[chunk], centred, total) / total)
            return np.array([np.abs(sums).max(initial=0.0), squares.max(initial=0.0)])

    largest = np.max(list(in_threads(measure, chunks_of(X.shape[1]), n_jobs)), axis=0)
    check_size_of_sums(largest[:1], largest[1:], "features")
    return Features(mean, deviation, varies, total)


def moments(X, rows, sides, n_problems, n_jobs=None):
    """Return the sums over rows of ``x first``, ``x second`` and ``x**2 second``, then of first and of second.

    ``sides(some rows)`` are these two arrays, one column per problem. The sums with x are a function that returns those
    of a slice of features, (features, 3, problems): rows stored by feature sum them only when they are asked for.
    """
    if isinstance(X, ByFeature):
        factors = factors_of(sides(rows))
        return lambda chunk: X.moments(chunk, factors), *factors.sum(axis=0)

    def block_moments(block):
        first, second = sides(block.values)
        return moments_of_rows(block.X, first, second), first.sum(axis=0), second.sum(axis=0)

    blocks = RowBlocks(X, values=rows, block_rows=block_rows_for(X, 3 * X.shape[1] * n_problems))
    if isinstance(X, RowsElsewhere) or blocks.block_rows < X.shape[0]:
        totals, first, second = blocks.sum(block_moments, n_jobs)
        return totals.__getitem__, first, second
    return moments_of_problems(X, *sides(rows), n_jobs)


def moments_of_problems(X, first, second, n_jobs=None):
    """Return what :func:`moments` does of rows that are one block, of which each thread takes some of the problems."""
    most = job_count(n_jobs)
    each = max(LEAST_PROBLEMS, -(-first.shape[1] // most))
    parts = [slice(start, start + each) for start in range(0, first.shape[1], each)]
    totals = list(in_threads(lambda part: moments_of_rows(X, first[:, part], second[:, part]), parts, n_jobs))
    return lambda chunk: np.concatenate([part[chunk] for part in totals], axis=2), first.sum(axis=0), second.sum(axis=0)


def factors_of(sides):
    """Return the first and second factors of a row side by side: (rows, 2, problems)."""
    return np.ascontiguousarray(np.stack(sides, axis=1))


def moments_of_rows(X, first, second):
    """Return the moments of some rows: an array (features, 3, problems)."""
    totals = np.zeros((X.shape[1], 3, first.shape[1]))
    first, second = np.ascontiguousarray(first), np.ascontiguousarray(second)
    if sp.issparse(X):
        kernels.engine.add_csr_moments(csr_rows(X), first, second, totals)
    else:
        kernels.engine.add_moments(contiguous_rows(X), first, second, totals)
    return totals


def gradients(X, rows, weigh, n_problems, n_jobs=None):
    """Return the sums over rows of ``x first`` and of ``first`` alone, which is ``weigh(some rows)``."""
    blocks = RowBlocks(X, values=rows, block_rows=block_rows_for(X, X.shape[1] * n_problems))

    def block_gradients(block):
        first = weigh(block.values)
        return as_float64(block.X).T @ first, first.sum(axis=0)

    return blocks.sum(block_gradients, n_jobs)


def chunks_of(n_features):
    return [slice(start, min(start + CHUNK, n_features)) for start in range(0, n_features, CHUNK)]


def block_rows_for(X, totals):
    if not is_sparse(X):
        return max(4 * default_block_rows(X), 64)
    n_blocks = max(1, int(X.nnz / max(WORK_PER_TOTAL * totals, LEAST_ENTRIES)))
    return max(1, -(-X.shape[0] // n_blocks))
