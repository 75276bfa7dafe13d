"""The slow, obvious twin of every compiled kernel: the oracle of the tests, and the fallback without a compiler.

The functions have the names, arguments and effects of the compiled ones (``core/kernels.hpp``), and the files the names
of the folders there. To "rotate" a row is to multiply it by a diagonal, to pad it with zeros to ``length``, a power of
two, and to apply the unnormalised Walsh-Hadamard transform: ``z_j = sum_k x_k diagonal_k (-1)**popcount(k & j)``.

The twins add in the order in which the compiled kernels add, so that they give the same bits (:mod:`.sums`).
"""

from isrht.kernels._reference.boosting import add_class_gram, diagonals_of_features, make_diagonals
from isrht.kernels._reference.dense import (
    add_moments,
    add_rows,
    add_squares,
    interleave_arrow,
    interleave_columns,
    narrow_halves,
    project_rows,
    rotate_rows,
    transform,
    transform_streams,
    widen_halves,
)
from isrht.kernels._reference.descent import CheckedCsr, add_scaled_csr, add_scaled_rows, descend_csr, descend_rows
from isrht.kernels._reference.linear import (
    add_gram_csr,
    add_gram_product_csr,
    add_gram_product_rows,
    score_csr,
    score_rows,
)
from isrht.kernels._reference.small_svms import judge_svms, solve_svms, sum_svms
from isrht.kernels._reference.sparse import (
    add_csr_autocorrelation,
    add_csr_moments,
    add_csr_rows,
    moments_of_features,
    project_csr,
)
from isrht.kernels._reference.text import LibsvmParser

__all__ = [
    "CheckedCsr",
    "LibsvmParser",
    "add_class_gram",
    "add_csr_autocorrelation",
    "add_csr_moments",
    "add_csr_rows",
    "add_gram_csr",
    "add_gram_product_csr",
    "add_gram_product_rows",
    "add_moments",
    "add_rows",
    "add_scaled_csr",
    "add_scaled_rows",
    "add_squares",
    "descend_csr",
    "descend_rows",
    "diagonals_of_features",
    "interleave_arrow",
    "interleave_columns",
    "judge_svms",
    "make_diagonals",
    "moments_of_features",
    "narrow_halves",
    "project_csr",
    "project_rows",
    "rotate_rows",
    "score_csr",
    "score_rows",
    "solve_svms",
    "sum_svms",
    "transform",
    "transform_streams",
    "widen_halves",
]
