"""Records of arrays that kernels take as one argument.

A record is a named tuple, which costs next to nothing to make and to read, and which the compiled kernels and their
twins in NumPy take alike. ``core/bindings`` has a struct with the same fields in the same order for each of them.
Arrays are contiguous and have the types that are named here; the kernels never convert them.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", np.float32, np.float64)
Index = TypeVar("Index", np.int32, np.int64)


class CsrRows(NamedTuple, Generic[Value, Index]):
    """Rows of a CSR matrix. The entries of a row may be unsorted, and those that repeat a feature are added."""

    data: NDArray[Value]
    indices: NDArray[Index]
    indptr: NDArray[Index]


def csr_rows(X):
    """Return the arrays of a CSR matrix: indices and pointers of one type, and no room behind the last value."""
    indptr = X.indptr if X.indptr.dtype == X.indices.dtype else X.indptr.astype(X.indices.dtype)
    stored = slice(indptr[-1])
    return CsrRows(X.data[stored], X.indices[stored], indptr)


class ArrowColumns(NamedTuple):
    """Some columns of an Arrow batch, by their ``numbers``, which compiled kernels find through two capsules.

    The capsules, which the batch exports (``__arrow_c_array__``), are made once for many calls: to export a thousand
    columns takes half a millisecond.
    """

    batch: Any
    schema: Any
    array: Any
    numbers: NDArray[np.int64]


def arrow_columns(batch, numbers):
    """Return the columns of these numbers of an Arrow batch."""
    return ArrowColumns(batch, *batch.__arrow_c_array__(), np.asarray(numbers, dtype=np.int64))


class SmallMatrix(NamedTuple):
    """A Hadamard matrix of a small order m, by which the m streams of a row are combined.

    Of Williamson's matrix the order, 12, tells all. Paley's, of order q + 1 or 2 (q + 1), are made of the squares of a
    field of q elements, which make up cycles of ``cycle`` elements each: an output adds the inputs at the distances
    ``added`` from its own place, where each cycle is laid out twice, and subtracts the others
    (:mod:`isrht.transform.paley`).
    """

    order: int
    field: int
    cycle: int
    added: NDArray[np.int64]


# What stands for no matrix: the length of a transform is a power of two.
NO_MATRIX = SmallMatrix(1, 1, 1, np.zeros(0, dtype=np.int64))
WILLIAMSON = SmallMatrix(12, 1, 1, np.zeros(0, dtype=np.int64))


class RotationSteps(NamedTuple, Generic[Value]):
    """The steps of a rotation without padding.

    Step s multiplies the values of a row from place ``starts[s]`` on by ``signs[s]``, an array (steps, length), and
    applies the orthonormal transform of that length, whose small matrix, if any, is ``matrix``.
    """

    starts: NDArray[np.int64]
    signs: NDArray[Value]
    matrix: SmallMatrix


class FeatureTable(NamedTuple):
    """Consecutive features, the first of which is feature ``start`` of all: arrays (features, folds).

    They are the mean and the standard deviation of each feature in the training rows of each fold, and whether it
    varies there.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    varies: NDArray[np.bool_]
    start: int


class DiagonalProblems(NamedTuple):
    """The problems for which diagonals are made: arrays (problems).

    A problem has a fold, the kind of its diagonal (0 is z divided by the deviations, 1 is z, 2 is the signs of z), the
    threshold by which z is shrunk, and the sums over rows of its two factors. A standard error that is less than
    ``constant`` of its parts counts as zero.
    """

    fold: NDArray[np.int64]
    kind: NDArray[np.int64]
    threshold: NDArray[np.float64]
    first_sum: NDArray[np.float64]
    second_sum: NDArray[np.float64]
    constant: float


class DiagonalPaths(NamedTuple):
    """The places where the diagonals of all problems go.

    ``z`` has, for each path, an array (diagonals, all features) to which the kernels write. Problem p belongs to path
    ``path[p]``; its diagonal becomes row ``row[p]`` and is multiplied with the first ``rows[p]`` rows.
    """

    z: list[NDArray[np.float32]]
    path: NDArray[np.int64]
    row: NDArray[np.int64]
    rows: NDArray[np.int64]


class LearnedColumns(NamedTuple):
    """Rows as small SVMs see them: learned columns, an array (columns, rows), and the weights and classes of the rows.

    Weights are not negative, and rows of weight zero are passed over.
    """

    columns: NDArray[np.float64]
    weights: NDArray[np.float64]
    codes: NDArray[np.int32]


class SvmProblems(NamedTuple):
    """Small SVMs, each of one class against all others: arrays (problems).

    Problems p and p - ``labels`` are about the same class, with neighbouring costs C. They are solved exactly if
    ``tolerance`` is 0, and otherwise until a step changes at most this part of the active rows, all by one Gram matrix.
    """

    positive: NDArray[np.int32]
    cost: NDArray[np.float64]
    labels: int
    tolerance: float = 0.0


class SvmSums(NamedTuple):
    """Sums over rows for small SVMs, to which kernels write.

    They are the weighted squared hinge (problems), the columns times label, hinge and weight (problems, width), by how
    much the Gram matrices of the active rows have changed (problems, width, width) and by how many rows (problems). The
    width is that of the columns and of a last one, which is 1 in every row.
    """

    loss: NDArray[np.float64]
    pull: NDArray[np.float64]
    gram: NDArray[np.float64]
    changed: NDArray[np.int64]


class JudgedSvms(NamedTuple):
    """What rows say of small SVMs that were not trained on them, to which kernels write.

    They are the weights of the rows whose class is guessed (models), and weighted sums over the rows (5, problems): of
    the scores, their squares, scores times labels +1/-1, labels, and the squared hinge. A model has one problem, of
    which class 1 is positive, or one for each class.
    """

    hits: NDArray[np.float64]
    sums: NDArray[np.float64]


class DiagonalResults(NamedTuple):
    """What kernels tell of new diagonals.

    To ``offsets`` (problems) they add the products of the diagonals and the means, to ``grams`` (problems, rows) those
    of z, in its metric, and the rows of its path. They set ``signals`` (features, problems) to the diagonals times the
    centred gradients, unless it has no features because nobody asks for them.
    """

    offsets: NDArray[np.float64]
    grams: NDArray[np.float64]
    signals: NDArray[np.float64]


class WeightedRows(NamedTuple):
    """Chosen rows, their weights, and whether every row has one more feature, of the value 1, for the intercept."""

    rows: NDArray[np.int64]
    weights: NDArray[np.float64]
    intercept: bool


class DualProblems(NamedTuple, Generic[Value]):
    """Linear SVMs on the same rows, to be solved side by side in their duals, one in each lane.

    One problem alone is solved in float64, and 4 or 8 lanes in float32.

    ``labels`` and ``ridge`` are arrays (rows, lanes): +1 or -1, and what a row adds to its own curvature, 1 / (2 C
    weight). ``norms`` (rows) are squared, with 1 for the intercept if there is one.
    """

    labels: NDArray[Value]
    ridge: NDArray[Value]
    norms: NDArray[Value]


class DualState(NamedTuple, Generic[Value]):
    """The state that coordinate descent has come to.

    ``alpha`` (rows, lanes) are the dual variables, which are not negative. ``weights`` (width, lanes) is the sum of the
    rows times their labels and variables, and ``intercept`` (lanes, or empty where there is none) the same sum of ones.
    Bit l of ``closed`` (rows) is set where lane l passes over the row.
    """

    alpha: NDArray[Value]
    weights: NDArray[Value]
    intercept: NDArray[Value]
    closed: NDArray[np.uint8]


class Epoch(NamedTuple, Generic[Value]):
    """What one turn through the rows is told and tells.

    It takes the rows of ``order``. A row whose variable is 0 and whose slope is steeper than ``threshold`` (lanes) is
    closed from then on. Bit l of ``finished`` is set where lane l passes over all rows. A step is ``stretch`` times as
    long as the one to the best value of its variable. ``gain`` (lanes) takes up by how much the dual objective has
    grown, and ``violation`` (lanes) is raised to the largest slope that could be followed.
    """

    order: NDArray[np.int64]
    threshold: NDArray[Value]
    finished: int
    stretch: float
    gain: NDArray[np.float64]
    violation: NDArray[Value]
