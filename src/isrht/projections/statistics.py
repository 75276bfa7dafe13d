"""Measure: what the scores need to know of every rotated column, as sums over rows.

Per class: how many rows, their sum, and the sum of squares of their rotated columns. Such sums merge by addition,
so they can be taken block by block, in any blocking, by any number of workers.

Two facts keep this cheap. Sums are linear: they are kept in the original features and rotated once. And for sparse
rows the sums of squares need no rotation either: with ``a[m] = sum_i sum_(k xor l = m) u_ik u_il`` (``u`` the row
times the diagonal), they are the Walsh-Hadamard transform of ``a``, which costs half a step per pair of nonzeros of
a row. Where rows are so full that rotating them is cheaper, they are rotated, a dense block at a time.

Everything is unnormalised (``sqrt(length)`` larger per column than with the orthonormal H): integers stay integers,
so that columns which tie, tie exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from isrht import kernels
from isrht.kernels.records import csr_rows
from isrht.rows.blocks import RowBlocks, default_block_rows, is_sparse, pairs_of
from isrht.rows.values import total
from isrht.support.matrices import BLOCK_ELEMENTS, contiguous_rows
from isrht.support.validation import check_size_of_sums

# What one step costs, in nanoseconds on one core, as benchmarked: a pair of nonzeros in the autocorrelation, and a
# column of a row that is made dense and rotated.
PAIR_COST = 1.5
ROTATED_COST = 1.0

# Sparse blocks are so large that their work outweighs adding up their totals by this factor.
WORK_PER_TOTAL = 20


@dataclass
class ColumnStatistics:
    """Sums over rows, per class: ``counts`` (K,), ``sums`` (K, n_features), ``squares`` (K, length) or None."""

    classes: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    squares: np.ndarray | None = field(default=None, repr=False)

    def merge(self, other):
        """Return the statistics of both sets of rows. Classes that only one of them has are kept."""
        classes = np.unique(np.concatenate([self.classes, other.classes]))
        mine, theirs = self._spread(classes), other._spread(classes)
        squares = None if mine.squares is None or theirs.squares is None else mine.squares + theirs.squares
        return ColumnStatistics(classes, mine.counts + theirs.counts, mine.sums + theirs.sums, squares)

    def _spread(self, classes):
        if np.array_equal(classes, self.classes):
            return self
        places = np.searchsorted(classes, self.classes)

        def spread(values):
            if values is None:
                return None
            wider = np.zeros((len(classes), *values.shape[1:]))
            wider[places] = values
            return wider

        return ColumnStatistics(classes, spread(self.counts), spread(self.sums), spread(self.squares))

    def without_fold(self, fold, n_classes):
        """Return the statistics of all rows but those of a fold, where the classes here are pairs of fold and class.

        Such a pair has the number ``fold * n_classes + class``. Classes without rows are left out.
        """
        kept = (self.classes // n_classes != fold) & (self.counts > 0)
        codes = self.classes[kept] % n_classes
        classes = np.unique(codes)

        def total(values):
            return None if values is None else np.stack([values[kept][codes == label].sum(axis=0) for label in classes])

        return ColumnStatistics(classes, total(self.counts), total(self.sums), total(self.squares))

    @property
    def n_samples(self):
        """The number of rows, each counted by its weight."""
        return float(self.counts.sum())

    @property
    def nbytes(self):
        arrays = (self.classes, self.counts, self.sums, self.squares)
        return sum(array.nbytes for array in arrays if array is not None)


def measure(X, labels, rotation, *, sample_weight=None, with_squares=True, n_jobs=None, block_rows=None):
    """Return the statistics of the rows of X by the class of their labels; a row of weight 2 counts twice.

    ``labels`` (:class:`~isrht.rows.labels.CodedLabels`) are None where all rows are of one class. Rows with other codes
    than those of the classes are left out.
    """
    codes, classes = (None, np.zeros(1, dtype=np.int64)) if labels is None else (labels.codes, labels.classes)
    n_classes = len(classes)
    by_pairs = with_squares and is_sparse(X) and pairs_are_cheaper(X, rotation.length)
    diagonal = rotation.diagonal.astype(X.dtype if sample_weight is None else np.float64)

    def measure_block(block):
        sums = np.zeros((n_classes, rotation.n_features))
        squares = np.zeros((n_classes, rotation.length if with_squares else 0))
        once, root = _weighted(block)
        for label in range(n_classes):
            rows = np.arange(block.X.shape[0]) if block.y is None else np.flatnonzero(block.y == label)
            if len(rows) == 0:
                continue
            _add_sums(once, rows, sums[label])
            if by_pairs:
                kernels.engine.add_csr_autocorrelation(csr_rows(root), rows, diagonal, squares[label])
            elif with_squares:
                _add_squares(root, rows, rotation.diagonal, squares[label])
        return sums, squares

    if block_rows is None:
        block_rows = _block_rows(X, n_classes * (rotation.n_features + rotation.length * with_squares), by_pairs)
    sums, squares = RowBlocks(X, codes, sample_weight, block_rows=block_rows).sum(measure_block, n_jobs)
    if by_pairs:
        kernels.engine.transform(squares[:, :, None], 1.0)
        np.maximum(squares, 0, out=squares)  # the transform of a true zero may be rounded below it
    check_size_of_sums(sums, squares, "rotated columns")
    counts = _total(X, sample_weight) if labels is None else labels.totals(sample_weight)
    return ColumnStatistics(classes, counts, sums, squares if with_squares else None)


def _total(X, sample_weight):
    return np.array([float(X.shape[0]) if sample_weight is None else total(np.sum, sample_weight)])


def pairs_are_cheaper(X, length):
    """Say whether the autocorrelation of these sparse rows costs less than rotating them."""
    return pairs_of(X) * PAIR_COST <= X.shape[0] * length * ROTATED_COST


def _block_rows(X, totals, by_pairs):
    if not is_sparse(X):
        return 4 * default_block_rows(X)
    work = pairs_of(X) if by_pairs else float(X.nnz)
    n_blocks = max(1, int(work / (WORK_PER_TOTAL * totals)))
    return max(1, -(-X.shape[0] // n_blocks))


def _weighted(block):
    """Return the rows times their weights, and times the roots of their weights, whose squares carry the weights."""
    if block.sample_weight is None:
        return block.X, block.X
    X, weights = block.X.astype(np.float64), block.sample_weight[:, None]
    with np.errstate(over="ignore"):  # measure tells
        if sp.issparse(X):
            return sp.csr_array(X.multiply(weights)), sp.csr_array(X.multiply(np.sqrt(weights)))
        return X * weights, X * np.sqrt(weights)


def _add_sums(X, rows, totals):
    if sp.issparse(X):
        kernels.engine.add_csr_rows(csr_rows(X), rows, totals)
    else:
        kernels.engine.add_rows(contiguous_rows(X), rows, totals)


def _add_squares(X, rows, diagonal, totals):
    if not sp.issparse(X):
        kernels.engine.add_squares(contiguous_rows(X), rows, diagonal.astype(X.dtype), totals)
        return
    step = max(1, BLOCK_ELEMENTS // X.shape[1])
    for start in range(0, len(rows), step):
        dense = X[rows[start : start + step]].toarray().astype(np.float64)
        kernels.engine.add_squares(dense, np.arange(len(dense)), diagonal.astype(np.float64), totals)
