"""The SVM of a run: the package's own, on few columns and on all features.

On few columns it is solved exactly for every C. Only "All features" has many: there the folds are solved to a tolerance
that does not change accuracies, as LIBLINEAR's own default does. If there are fewer dense rows than features, the rows
are first rotated into the space that they span. This changes nothing, because the solution is a sum of training rows,
and it leaves few columns.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isrht.linear.costs import DEFAULT_CS

N_FOLDS = 5
# With at most so many columns the exact Hessian of the Newton path is small enough to be factored.
WIDE = 2500
# The relative error of the weights from which on accuracies change by hundredths of a point at most.
WIDE_TOL = 1e-2


def is_wide(Z):
    return Z.shape[1] > WIDE


def into_their_span(Z, Z_test):
    """Return all rows in an orthonormal basis of the training rows, if these are dense and fewer than the features."""
    if sp.issparse(Z) or Z.shape[0] >= Z.shape[1] or not is_wide(Z):
        return Z, Z_test
    basis = np.linalg.qr(Z.T)[0]
    return Z @ basis, Z_test @ basis


def cross_validated(Z, y, folds=N_FOLDS, Cs=DEFAULT_CS):
    """Return the mean accuracy for every C over folds, which are given by their number or as pairs (train, test)."""
    from isrht import LinearSVMCV

    tol = WIDE_TOL if is_wide(Z) else 1e-6
    return LinearSVMCV(Cs, cv=folds, refit=False, tol=tol).fit(Z, y).mean_scores_


def trained(Z, y, C):
    """Return an SVM trained on all rows with one C."""
    from isrht import LinearSVM

    return LinearSVM(C).fit(Z, y)


def accuracies_on_test(Z, y, Z_test, y_test):
    """Return the accuracy on the test rows for every C."""
    both = sp.vstack([Z, Z_test], format="csr") if sp.issparse(Z) else np.vstack([Z, Z_test])
    rows = np.arange(len(y) + len(y_test))
    return cross_validated(both, np.concatenate([y, y_test]), [(rows[: len(y)], rows[len(y) :])])
