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

from isrht import kernels
from isrht.kernels.records import CsrRows, csr_rows
from isrht.rows.blocks import RowBlocks
from isrht.support.matrices import contiguous_rows
from isrht.support.sparse_structure import check_sparse
from isrht.support.threads import job_count

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
CSR = (sp.csr_array, sp.csr_matrix)


def linear_scores(X, coef, intercept, n_jobs=None):
    """Return the scores of a float array or CSR matrix, and whether all of them are finite.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    coef : array of shape (n_problems, n_features)
    intercept : array of shape (n_problems,)
    n_jobs : int or None, default=None

    Returns
    -------
    scores : ndarray of shape (n_samples, n_problems), float64
    finite : bool
    """
    coef, intercept = np.asarray(coef, dtype=np.float64), np.ascontiguousarray(intercept, dtype=np.float64)
    scores = np.empty((X.shape[0], len(coef)))
    if len(coef) > 1 and sp.issparse(X) and X.nnz > X.shape[1]:
        coef = np.asfortranarray(coef)  # pays for many rows: all weights of a feature are fetched at once
    if job_count(n_jobs) == 1:
        return scores, _score(X, coef, intercept, scores)
    blocks = RowBlocks(X).map(lambda block: _score(block.X, coef, intercept, scores[block.rows]), n_jobs)
    return scores, all(list(blocks))


def quick_scores(model, X):
    """Return the scores of X if scikit-learn's validation would certainly let X pass as it is; otherwise None."""
    learned = vars(model)
    if "coef_" not in learned or "feature_names_in_" in learned or not is_plain(X, learned.get("n_features_in_")):
        return None
    scores, finite = guarded_scores(X, model.coef_, model.intercept_, model.n_jobs)
    return scores if finite else None


def guarded_scores(X, coef, intercept, n_jobs=None):
    """Return the :func:`linear_scores` of rows that have not been checked.

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


def predicted_codes(scores):
    """Return the numbers of the classes that scores decide for.

    The last axis of ``scores`` counts two-class problems: one, whose positive class is 1, or one per class. Among equal
    scores the first class is preferred.
    """
    return (scores[..., 0] > 0).astype(int) if scores.shape[-1] == 1 else scores.argmax(axis=-1)


def is_plain(X, n_features):
    """Say whether X is an array or CSR matrix of floats, with at least one row, that needs no conversion."""
    if type(X) is not np.ndarray and type(X) not in CSR:
        return False
    dtype = getattr(X, "dtype", object)  # a CSR matrix has none if its values are no array
    return X.ndim == 2 and dtype in FLOATS and X.shape[1] == n_features and X.shape[0] > 0


def _score(X, coef, intercept, out):
    """Write the scores of rows to ``out``, and say whether all of them are finite."""
    if not sp.issparse(X):
        return kernels.engine.score_rows(contiguous_rows(X), np.ascontiguousarray(coef), intercept, out)
    rows = CsrRows(*map(np.ascontiguousarray, csr_rows(X)))
    return kernels.engine.score_csr(rows, coef, intercept, out)
