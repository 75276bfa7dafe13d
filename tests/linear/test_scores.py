"""Scores of linear models: the quick way must be indistinguishable from the validated one."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from malformed_rows import malformed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.validation import validate_data

from isrht import LinearSVM, Predictor
from isrht.linear.scores import is_plain, linear_scores, quick_scores


@pytest.fixture(params=[2, 4])
def case(request, rng):
    X = rng.standard_normal((90, 17)) * (rng.random((90, 17)) < 0.6)
    y = np.arange(90) % request.param
    return X, LinearSVM().fit(X, y)


def validated(model, X):
    X = validate_data(model, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
    return linear_scores(X, model.coef_, model.intercept_)[0]


FORMS = {
    "array": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: X[::-1],
    "csr array": sp.csr_array,
    "csr matrix": sp.csr_matrix,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


@pytest.mark.parametrize("form", FORMS)
def test_quick_scores_are_the_validated_ones(kernel, case, form):
    X, model = case
    X = FORMS[form](X)
    quick = quick_scores(model, X)
    assert_array_equal(quick, validated(model, X))
    dense = X.toarray() if sp.issparse(X) else X
    assert_allclose(quick, dense @ model.coef_.T + model.intercept_, rtol=1e-6, atol=1e-12)
    assert quick.dtype == np.float64


@pytest.mark.parametrize("form", FORMS)
def test_a_row_has_the_same_score_in_any_batch_and_for_any_number_of_jobs(case, form, monkeypatch):
    X, model = case
    X = FORMS[form](X)
    all_rows, _ = linear_scores(X, model.coef_, model.intercept_)
    monkeypatch.setattr("isrht.rows.blocks.BLOCK_ELEMENTS", 100)
    assert_array_equal(linear_scores(X, model.coef_, model.intercept_, n_jobs=3)[0], all_rows)
    assert_array_equal(linear_scores(X[5:6], model.coef_, model.intercept_)[0], all_rows[5:6])


def test_indices_of_both_widths_unsorted_and_read_only(case):
    X, model = case
    matrix = sp.csr_array(X)
    expected = quick_scores(model, matrix)
    wide = matrix.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert_array_equal(quick_scores(model, wide), expected)
    mixed = matrix.copy()
    mixed.indptr = mixed.indptr.astype(np.int64)
    assert_array_equal(quick_scores(model, mixed), expected)
    for array in (matrix.data, matrix.indices, matrix.indptr, X):
        array.flags.writeable = False
    assert_array_equal(quick_scores(model, matrix), expected)
    assert quick_scores(model, X) is not None


def test_what_validation_would_convert_or_refuse_is_left_to_it(case):
    X, model = case
    others = {
        "list": X.tolist(),
        "integers": X.astype(int),
        "half": X.astype(np.float16),
        "foreign bytes": X.astype(">f8"),
        "frame": pd.DataFrame(X),
        "csc": sp.csc_array(X),
        "matrix": X.view(np.matrix),
        "wide": np.hstack([X, X]),
        "vector": X[0],
        "no rows": X[:0],
        "sparse vector": sp.csr_array(X[0]),
        "complex": X.astype(complex),
    }
    for name, other in others.items():
        assert quick_scores(model, other) is None, name
    named = LinearSVM().fit(pd.DataFrame(X, columns=[f"f{k}" for k in range(17)]), np.arange(90) % 2)
    assert quick_scores(named, X) is None
    assert quick_scores(LinearSVM(), X) is None
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(X)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_values_that_are_not_finite_get_the_error_of_scikit_learn(case, bad, make):
    X, model = case
    X[40, 3] = bad
    model.coef_[:, 3] = 0
    with pytest.raises(ValueError, match="NaN" if np.isnan(bad) else "infinity"):
        model.predict(make(X))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_scores_that_overflow_are_an_error(case, container):
    X, model = case
    X[0] = 1e200 * np.sign(model.coef_[0])
    model.coef_ *= 1e150
    X = container(X)
    assert quick_scores(model, X) is None
    for one in (model, Predictor(model)):
        for method in (one.decision_function, one.predict):
            with pytest.raises(ValueError, match="the scores of some rows overflow: .*scale X"):
                method(X)
    row = X[[0]] if sp.issparse(X) else X[0]
    with pytest.raises(ValueError, match="the scores of some rows overflow"):
        Predictor(model).predict_one(row)


def test_a_broken_sparse_matrix_is_an_error_not_a_crash(case):
    X, model = case
    matrix = sp.csr_array(X)
    matrix.indices[3] = 17
    with pytest.raises(ValueError, match="column index"):
        model.predict(matrix)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_weights_that_do_not_fit_are_no_fault_of_the_rows(kernel, case, n_jobs):
    X, model = case
    model.set_params(n_jobs=n_jobs)
    model.intercept_ = np.zeros(len(model.coef_) + 1)
    with pytest.raises(ValueError, match="weights and intercept differ in length"):
        model.predict(sp.csr_array(X))


def test_is_plain():
    assert is_plain(np.ones((2, 3)), 3)
    assert not is_plain(np.ones((2, 3)), 4)
    assert not is_plain(np.ones((2, 3)), None)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("n_rows", [1, 6])
@pytest.mark.parametrize("name", malformed(1))
def test_malformed_sparse_rows_are_errors(kernel, name, n_rows, n_jobs, rng):
    model = LinearSVM(n_jobs=n_jobs).fit(rng.standard_normal((30, 21)), np.arange(30) % 3)
    with pytest.raises(ValueError, match="X is malformed: "):
        model.decision_function(malformed(n_rows)[name])


def test_values_that_are_no_array_are_an_error(kernel, rng):
    X = sp.csr_array(rng.standard_normal((6, 3)))
    model = LinearSVM().fit(X, [0, 1] * 3)
    X.data = X.data.tolist()
    with pytest.raises(ValueError, match="X is malformed: data must be 1-D numbers, got list"):
        model.predict(X)
