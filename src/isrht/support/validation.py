"""Checks of parameters, data and weights that several estimators share; each error names what was wrong.

The compiled code of SciPy, like that of this package, follows the indices and pointers of a sparse matrix wherever they
lead. :func:`checked_data` is the one door through which data reach an estimator: it looks at indices and pointers first
(:mod:`isrht.support.sparse_structure`), and only then calls scikit-learn's validation, which converts formats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypeVar, cast

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, validate_data

from isrht.support.sparse_structure import check_sparse
from isrht.support.threads import job_count

Fit = TypeVar("Fit", bound=Callable[..., Any])
FLOATS = (np.float64, np.float32)
# n_components="auto" means this many components, where there are so many.
AUTO_COMPONENTS = 256
# Components are numbered by int32 in model files and sketches. No other integer is larger than int64 can hold.
MOST_COMPONENTS = 2**31 - 1
LARGEST_INTEGER = 2**63 - 1
# Below this, sums of squares have lost digits.
SMALLEST_SQUARE = 1e-290
SCALE = "scale X (for example by its largest absolute value)"
SCALE_IT = f"{SCALE} or convert it to float64"


def checked_data(estimator, X, y="no_validation", *, accept_sparse="csr", reset=True, ensure_all_finite=True):
    """Validate X (and y) for an estimator as scikit-learn does, after the structure of a sparse X.

    Parameters
    ----------
    estimator : object
        The number and names of its features are set, or compared with those of X.
    X : array-like or sparse matrix
    y : array-like, default="no_validation"
        Labels, which must be as many as there are rows.
    accept_sparse : str or list of str, default="csr"
        Which formats of sparse matrices stay as they are; others become the first of them.
    reset : bool, default=True
        Whether to set the features of the estimator, as ``fit`` does, or to compare them with those of X.
    ensure_all_finite : bool, default=True
        Whether values of X that are not finite are an error.

    Returns
    -------
    X, or X and y where y is given
        X is a float array or sparse matrix.
    """
    check_sparse(X)
    check_unmasked(X)
    with quiet_sums():
        checked = validate_data(
            estimator,
            X,
            y,
            accept_sparse=accept_sparse,
            dtype=FLOATS,
            reset=reset,
            ensure_all_finite=ensure_all_finite,
        )
    return (plain(checked[0]), checked[1]) if isinstance(checked, tuple) else plain(checked)


def checked_block(X, *, ensure_all_finite=True, ensure_min_samples=1):
    """Validate one block of rows as :func:`checked_data` does, but compare it with no estimator."""
    check_sparse(X)
    check_unmasked(X)
    with quiet_sums():
        checked = check_array(
            _floats_of_polars(X),
            accept_sparse="csr",
            dtype=FLOATS,
            ensure_all_finite=ensure_all_finite,
            ensure_min_samples=ensure_min_samples,
        )
    return plain(checked)


def check_unmasked(X):
    """Raise an error if values of a masked array are masked: scikit-learn would take what lies under the mask."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError("X has masked values: fill them first, by X.filled(0), say")


def _floats_of_polars(X):
    """Return a frame of polars that is all float32 as an array: scikit-learn, without knowing its types, widens it."""
    is_polars = type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "dtypes")
    return X.to_numpy(order="c") if is_polars and {str(dtype) for dtype in X.dtypes} == {"Float32"} else X


def plain(X):
    """Return checked rows as compiled code needs them.

    They are aligned in memory. Sparse ones have one of two index types, no gaps between and no room behind values.
    """
    if not sp.issparse(X):
        return X if X.flags.aligned else np.array(X)
    index = np.dtype(np.int32 if X.indices.dtype == X.indptr.dtype == np.int32 else np.int64)
    types, parts = (X.dtype, index, index), (X.data, X.indices, X.indptr)
    is_full = len(X.data) == len(X.indices) == X.indptr[-1]
    if is_full and all(_has_no_gaps(part, dtype) for part, dtype in zip(parts, types, strict=True)):
        return X
    view = X.__class__(X.shape, dtype=X.dtype)
    stored = slice(X.indptr[-1])
    view.data, view.indices, view.indptr = (
        np.require(part, dtype, ["C", "A"])
        for part, dtype in zip((X.data[stored], X.indices[stored], X.indptr), types, strict=True)
    )
    return view


def _has_no_gaps(array, dtype):
    return array.flags.c_contiguous and array.flags.aligned and array.dtype == dtype and array.dtype.isnative


def quiet_sums():
    """Let scikit-learn add up all values of X, to see whether they are finite, without a word where the sum is not."""
    return np.errstate(over="ignore", invalid="ignore")


def checked_components(Z, n_components, *, name="n_components_", ensure_all_finite=True):
    """Validate rows of components that are to be turned back into features; return a dense float array."""
    Z = checked_block(Z, ensure_all_finite=ensure_all_finite)
    if Z.shape[1] != n_components:
        raise ValueError(f"X has {Z.shape[1]} columns, but {name}={n_components} are expected")
    return Z.toarray() if sp.issparse(Z) else Z


def whole_or_unchanged(fit: Fit) -> Fit:
    """Let a method that fits leave the estimator as it was if it fails: the old model whole, or none.

    What a former ``fit`` learned is forgotten first, so that no attribute of an old model outlives it in a new one;
    unless the estimator has ``warm_start``, which begins with it.
    """

    @wraps(fit)
    def fit_or_restore(self, *args, **kwargs):
        before = dict(vars(self))
        try:
            if fit.__name__ == "fit" and not getattr(self, "warm_start", False):
                _forget_learned(self)
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Fit, fit_or_restore)


def _forget_learned(estimator):
    """Delete the attributes that a former ``fit`` has set: by scikit-learn's custom their names end in ``_``."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)


def check_positive_integer(name, value, most=LARGEST_INTEGER):
    """Raise an error that names the parameter, unless its value is an integer from 1 to ``most``."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value!r}")
    if value > most:
        raise ValueError(f"{name} must be at most {most}, got {value!r}")


def check_n_components(value):
    """Raise an error unless ``n_components`` is ``"auto"`` or a positive integer."""
    if not (isinstance(value, str) and value == "auto"):
        check_positive_integer("n_components", value, MOST_COMPONENTS)


def resolved_n_components(value, available):
    """Return how many components to make: ``"auto"`` means 256, or all that are available if these are fewer."""
    return min(AUTO_COMPONENTS, available) if isinstance(value, str) else int(value)


def check_n_jobs(n_jobs):
    """Raise an error unless ``n_jobs`` is a number of threads, even if there are too few data for more than one."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool)):
        raise TypeError(f"n_jobs must be an integer or None, got {n_jobs!r}")
    job_count(n_jobs)


def check_positive_number(name, value):
    """Raise an error that names the parameter, unless its value is a positive, finite number."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not 0 < value < np.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}")


def check_no_overflow(what, *sums):
    """Raise an error unless all sums are finite. ``what`` says whose sums they are: "features", say."""
    if not all(np.isfinite(values).all() for values in sums):
        raise ValueError(
            f"the sums of squares of the {what} overflow: X has values too large for its precision; {SCALE_IT}"
        )


def check_size_of_sums(sums, squares, what):
    """Raise an error unless sums of squares are finite, and large enough to be told from zero where there are values.

    ``what`` says whose sums they are: "features", say.
    """
    check_no_overflow(what, sums, squares)
    largest = max(np.abs(sums).max(initial=0.0) ** 2, squares.max(initial=0.0))
    if largest < SMALLEST_SQUARE and (sums.any() or squares.any()):
        raise ValueError(f"the sums of squares of the {what} underflow: X has values too small; {SCALE_IT}")


def checked_finite(projected):
    """Return projected rows if they are finite, else raise an error: finite data must not silently become infinite."""
    if not np.isfinite(projected).all():
        raise ValueError(
            f"the projection overflows {projected.dtype}: X has values too large for its precision; "
            + (SCALE if projected.dtype == np.float64 else SCALE_IT)
        )
    return projected


def check_finite_scores(finite):
    """Raise an error unless the scores of rows are finite, as the rows are."""
    if not finite:
        raise ValueError(f"the scores of some rows overflow: X has values too large; {SCALE_IT}")
