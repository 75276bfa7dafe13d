"""The scores of rows under linear models, ``X @ coef.T + intercept``: what prediction comes down to.

The kernels add in a fixed order, so that a row has the same score whichever batch it comes in and however many threads
share the rows. They widen float32 as they read, release the GIL for large batches, and need no BLAS, whose number of
threads takes milliseconds to set.

scikit-learn's validation costs more than the score of a row. For an array that needs no conversion all it finds out is
the number of features and whether a value is not finite. A value that is not finite is multiplied by every weight and
shows in the scores: finite scores prove finite rows, and only others are looked at again (:func:`quick_scores`).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht import _kernels
from isrht.blocks import RowBlocks, job_count
from isrht.rotation import contiguous_rows, csr_parts
from isrht.sparse_structure import check_sparse

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
CSR = (sp.csr_array, sp.csr_matrix)


def linear_scores(X, coef, intercept, n_jobs=None):
    """Scores (n_samples, n_problems) in float64 of a float array or CSR matrix, and whether all of them are finite."""
    coef, intercept = np.asarray(coef, dtype=np.float64), np.ascontiguousarray(intercept, dtype=np.float64)
    scores = np.empty((X.shape[0], len(coef)))
    if len(coef) > 1 and sp.issparse(X) and X.nnz > X.shape[1]:
        coef = np.asfortranarray(coef)  # pays for many rows: all weights of a feature are fetched at once
    if job_count(n_jobs) == 1:
        return scores, _score(X, coef, intercept, scores)
    blocks = RowBlocks(X).map(lambda block: _score(block.X, coef, intercept, scores[block.rows]), n_jobs)
    return scores, all(list(blocks))


def quick_scores(model, X):
    """The scores of X, where it is certain that scikit-learn's validation would let X pass as it is; otherwise None."""
    learned = vars(model)
    if "coef_" not in learned or "feature_names_in_" in learned or not is_plain(X, learned.get("n_features_in_")):
        return None
    scores, finite = guarded_scores(X, model.coef_, model.intercept_, model.n_jobs)
    return scores if finite else None


def guarded_scores(X, coef, intercept, n_jobs=None):
    """Return the :func:`linear_scores` of rows that nobody has checked.

    The kernel looks at indices and pointers itself. They are checked before only where SciPy is to cut out rows, or the
    pointers have to be converted, and after the kernel has refused them, to name the row.
    """
    if not sp.issparse(X):
        return linear_scores(X, coef, intercept, n_jobs)
    try:
        if X.indptr.dtype != X.indices.dtype or job_count(n_jobs) > 1:
            check_sparse(X)
        return linear_scores(X, coef, intercept, n_jobs)
    except (AttributeError, IndexError, TypeError, ValueError):
        check_sparse(X)
        raise


def is_plain(X, n_features):
    """Whether X is an array or CSR matrix of floats that needs no conversion: rows of the right width, and some."""
    if type(X) is not np.ndarray and type(X) not in CSR:
        return False
    return X.ndim == 2 and X.dtype in FLOATS and X.shape[1] == n_features and X.shape[0] > 0


def _score(X, coef, intercept, out):
    if not sp.issparse(X):
        return _kernels.engine.score_rows(contiguous_rows(X), np.ascontiguousarray(coef), intercept, out)
    data, indices, indptr = map(np.ascontiguousarray, csr_parts(X))
    return _kernels.engine.score_csr(data, indices, indptr, coef, intercept, out)
