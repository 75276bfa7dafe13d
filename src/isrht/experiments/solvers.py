"""The SVM of a run: the fastest solver at hand for the columns that it gets.

On few columns this is the package's own Newton path over all C. Only "All features" has many: there it is LIBLINEAR's
dual coordinate descent, which minimises the same objective and is much faster. If there are fewer dense rows than
features, the rows are first rotated into the space that they span. This changes nothing, because the solution is a sum
of training rows, and it leaves few columns.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from isrht.linear.costs import DEFAULT_CS

N_FOLDS = 5
# With at most so many columns the exact Hessian of the Newton path is small enough to be factored.
WIDE = 2500
# This is LIBLINEAR's own default; that of scikit-learn is a thousandth of it, which does not change accuracies.
LIBLINEAR_TOL = 0.1


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
    if is_wide(Z):
        return np.mean([_liblinear_accuracies(Z, y, *split, Cs) for split in _splits(folds, y)], axis=0)
    from isrht import LinearSVMCV

    return LinearSVMCV(Cs, cv=folds, refit=False).fit(Z, y).mean_scores_


def trained(Z, y, C):
    """Return an SVM trained on all rows with one C."""
    from isrht import LinearSVM

    return _liblinear(Z, y, C) if is_wide(Z) else LinearSVM(C).fit(Z, y)


def accuracies_on_test(Z, y, Z_test, y_test):
    """Return the accuracy on the test rows for every C."""
    both = sp.vstack([Z, Z_test], format="csr") if sp.issparse(Z) else np.vstack([Z, Z_test])
    rows = np.arange(len(y) + len(y_test))
    return cross_validated(both, np.concatenate([y, y_test]), [(rows[: len(y)], rows[len(y) :])])


def _splits(folds, y):
    if not isinstance(folds, int):
        return folds
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(folds).split(np.zeros(len(y)), y)


def _liblinear_accuracies(Z, y, train, test, Cs):
    Z_train, Z_test = Z[train], Z[test]
    return [float(np.mean(_liblinear(Z_train, y[train], C).predict(Z_test) == y[test])) for C in Cs]


def _liblinear(Z, y, C):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    with warnings.catch_warnings():
        # With a large C the last digits of the dual take long, and they do not change accuracies.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVC(C=C, dual=True, tol=LIBLINEAR_TOL, random_state=0).fit(Z, y)
