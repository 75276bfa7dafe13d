"""What the workers of a cluster do with a piece of the rows, and with the values that belong to its rows.

Each task is given what is kept of one piece. ``opened`` makes a :class:`~isrht.rows.workers.pieces.Piece` of it, or the
list of the values of its blocks.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, column_or_1d

from isrht.rows.blocks import RowBlocks, pairs_of
from isrht.rows.labels import CODE, codes_in, different
from isrht.rows.values import ranks
from isrht.rows.weights import check_not_negative
from isrht.rows.workers._facts import Partition
from isrht.rows.workers.pieces import applied
from isrht.rows.workers.tree import TreeSum
from isrht.support.matrices import without_duplicates
from isrht.support.threads import one_blas_thread
from isrht.support.validation import checked_block


def checked(X, number):
    """Check a block of rows, and return what is to be known of it."""
    try:
        X = checked_block(X, ensure_min_samples=0)
    except (ValueError, TypeError) as error:
        raise ValueError(f"block {number}: {error}") from error
    if not sp.issparse(X):
        return Partition(*X.shape, X.dtype, False, X.size, 0.0)
    X = without_duplicates(X)
    return Partition(*X.shape, X.dtype, True, X.nnz, pairs_of(X))


def converted(X, number, dtype):
    """Return a block as an array or CSR array of this precision, or of its own if ``dtype`` is None."""
    try:
        X = checked_block(X, ensure_all_finite=dtype is None, ensure_min_samples=0)
    except (ValueError, TypeError) as error:
        raise ValueError(f"block {number}: {error}") from error
    return without_duplicates(X).astype(X.dtype if dtype is None else dtype, copy=False)


def facts_of_blocks(opened, *kept):
    """Check the blocks of a piece, and return what is to be known of each."""
    return [checked(X, number) for number, X in opened(*kept)]


def held(opened, *kept):
    """Load all blocks of a piece, to be kept in memory."""
    piece = opened(*kept)
    return piece.numbers, [X for _, X in piece]


def sum_blocks(function, block_rows, opened, *kept):
    """Return the sum of a function of blocks over the rows of a piece; the last three kept are what belongs to them."""
    *kept, y, weights, values = kept
    piece, total = opened(*kept), TreeSum()
    beside = zip(*(_by_block(some, len(piece.numbers)) for some in (y, weights, values)), strict=True)
    with one_blas_thread():
        for (number, X), (its_y, its_weights, its_values) in zip(piece, beside, strict=True):
            if X.shape[0]:
                blocks = RowBlocks(X, its_y, its_weights, values=its_values, block_rows=block_rows)
                total.add(number, blocks.sum(function))
                del blocks
            else:
                total.add(number, None)
            del X
    return total


def _by_block(values, count):
    return [None] * count if values is None else values


def projected(functions, opened, *kept):
    """Return what each of several functions makes of all blocks of a piece, which are loaded once."""
    piece, results = opened(*kept), [[] for _ in functions]
    with one_blas_thread():
        for _, X in piece:
            for function, result in zip(functions, results, strict=True):
                result.append(applied(function, X))
            del X
    return [(piece.numbers, result) for result in results]


def nth(number, several):
    """Return one of several things that were made together."""
    return several[number]


def collected(function, opened, *kept):
    """Return what a function makes of each block of a piece."""
    with one_blas_thread():
        return [applied(function, X) for _, X in opened(*kept)]


# Labels and weights that are on the workers come block by block as lists of numbered parts, because a block may be put
# together from several partitions of the user's, by whose numbers errors are named.


def different_labels(blocks):
    """Return the different labels of every part, in the order in which they appear, of the blocks of a piece."""
    return [[_different(y, number) for number, y in parts] for parts in blocks]


def _different(y, number):
    try:
        return different(column_or_1d(y, warn=True))
    except ValueError as error:
        raise ValueError(f"block {number}: {error}") from error


def codes(classes, blocks):
    """Return the number of each label in ``classes``, block by block."""
    none = [np.zeros(0, dtype=CODE)]
    return [joined([codes_in(classes, column_or_1d(y)) for _, y in parts] or none) for parts in blocks]


def checked_weights(blocks):
    """Return weights in float64, checked, block by block."""
    return [joined([_checked_weights(values, number) for number, values in parts]) for parts in blocks]


def _checked_weights(values, number):
    try:
        weights = check_array(
            values, ensure_2d=False, dtype=np.float64, input_name="sample_weight", ensure_min_samples=0
        )
        check_not_negative(weights)
    except ValueError as error:
        raise ValueError(f"block {number}: {error}") from error
    return weights


def lengths(blocks):
    """Return how many values the parts of the blocks of a piece have."""
    return [[len(values) for _, values in parts] for parts in blocks]


def joined(parts):
    """Return parts of rows, or of their values, as one."""
    if len(parts) == 1:
        return parts[0]
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def largest(weights):
    """Return the largest of the weights of a piece, or 0 if there are none."""
    return max((float(some.max(initial=0.0)) for some in weights), default=0.0)


def of_values(function, opened, *kept):
    """Return what a function makes of the values of each block."""
    return [function(*values) for values in opened(*kept)]


def sum_of_values(function, opened, numbers, *kept):
    """Return the sum of what a function makes of the values of each block."""
    total = TreeSum()
    for number, values in zip(numbers, opened(*kept), strict=True):
        total.add(number, function(*values) if len(values[0]) else None)
    return total


def of_ranks(function, before, codes):
    """Return what a function makes of the codes and ranks of rows, block by block."""
    return [function(part, ranks(part, earlier)) for part, earlier in zip(codes, before, strict=True)]


def where_ranks(function, before, codes):
    """Return the numbers, in their block, of the rows for which a function of codes and ranks is true."""
    return [np.flatnonzero(found) for found in of_ranks(function, before, codes)]


def code_counts(length, codes):
    """Return how often each code below ``length`` occurs in every block."""
    return [np.bincount(part, minlength=length) for part in codes]


def taken(values, rows):
    """Return some of the values of each block."""
    return [part[chosen] for part, chosen in zip(values, rows, strict=True)]


def same(values):
    """Return what is kept as it is."""
    return values


def widened(parts):
    """Return numbers in the types that they had before :func:`compact` made them small to travel."""
    return [values.astype(dtype, copy=False) for values, dtype in parts]


def compact(values):
    """Return the same numbers in as few bytes as hold them, if they are whole and not negative, to be sent."""
    if values.size == 0 or values.dtype.kind not in "iuf" or values.min() < 0:
        return values
    for smaller in (np.uint8, np.uint16, np.uint32):
        if values.itemsize > np.dtype(smaller).itemsize and values.max() <= np.iinfo(smaller).max:
            small = values.astype(smaller)
            return small if np.array_equal(small, values) else values
    return values
