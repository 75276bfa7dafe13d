"""The kernels that score rows against their twins, to the bit, and the twins against the formula."""

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_cases import FLOATS, INDICES, sparse_case
from numpy.testing import assert_allclose, assert_array_equal

from isrht import kernels
from isrht.kernels import _reference
from isrht.kernels.records import CsrRows, WeightedRows, csr_rows


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("width", [1, 7, 8, 100, 2048, 5003])
@pytest.mark.parametrize("problems", [1, 2, 5])
def test_score_rows(kernel, dtype, width, problems, rng):
    x = rng.standard_normal((11, width)).astype(dtype)
    weights, intercept = rng.standard_normal((problems, width)), rng.standard_normal(problems)
    out, expected = np.full((2, len(x), problems), np.nan)
    assert kernels.engine.score_rows(x, weights, intercept, out)
    assert _reference.score_rows(x, weights, intercept, expected)
    assert_array_equal(out, expected)
    assert_allclose(out, x @ weights.T + intercept, rtol=0, atol=1e-12 * width)
    kernels.engine.score_rows(x[4:5], weights, intercept, out[:1])
    assert_array_equal(out[0], expected[4])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", INDICES)
@pytest.mark.parametrize("width", [1, 7, 300, 70000])
@pytest.mark.parametrize("problems", [1, 2, 5])
def test_score_csr(kernel, dtype, index_type, width, problems, rng):
    x = sparse_case(rng, dtype, index_type, width, density=min(0.1, 300 / width))
    weights, intercept = rng.standard_normal((problems, width)), rng.standard_normal(problems)
    expected = np.empty((len(x.indptr) - 1, problems))
    assert _reference.score_csr(x, weights, intercept, expected)
    for order in "CF":
        out = np.full_like(expected, np.nan)
        assert kernels.engine.score_csr(x, np.asarray(weights, order=order), intercept, out)
        assert_array_equal(out, expected)
    matrix = sp.csr_array((x.data.astype(np.float64), x.indices, x.indptr), (len(out), width))
    assert_allclose(out, matrix @ weights.T + intercept, rtol=0, atol=1e-10)
    part = np.empty((7, problems))
    kernels.engine.score_csr(x._replace(indptr=x.indptr[3:11]), weights, intercept, part)
    assert_array_equal(part, expected[3:10])


def test_enough_rows_to_release_the_gil_for_have_the_same_scores(kernel, rng):
    x, weights, intercept = rng.standard_normal((210, 500)), rng.standard_normal((1, 500)), np.ones(1)
    sparse = csr_rows(sp.csr_array(x))
    out, expected = np.empty((2, 210, 1))
    kernels.engine.score_rows(x, weights, intercept, out)
    _reference.score_rows(x, weights, intercept, expected)
    assert_array_equal(out, expected)
    kernels.engine.score_csr(sparse, weights, intercept, out)
    _reference.score_csr(sparse, weights, intercept, expected)
    assert_array_equal(out, expected)
    sparse.indices[-1] = 500
    with pytest.raises(ValueError, match="column index"):
        kernels.engine.score_csr(sparse, weights, intercept, out)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_shows_in_every_score(kernel, bad, rng):
    """Weights of zero, too: a finite score is the proof that the row was finite."""
    for place in range(20):
        x, weights, out = rng.standard_normal((1, 20)), rng.standard_normal((2, 20)), np.empty((1, 2))
        x[0, place], weights[:, place] = bad, [0, 1]
        assert not kernels.engine.score_rows(x, weights, np.zeros(2), out)
        assert not np.isfinite(out).any()
        assert not kernels.engine.score_csr(csr_rows(sp.csr_array(x)), weights, np.zeros(2), out)
        assert not np.isfinite(out).any()


def test_scores_of_shapes_that_do_not_fit_are_errors(kernel):
    sparse = CsrRows(np.ones(3), np.arange(3, dtype=np.int32), np.array([0, 1, 3], np.int32))
    weights, intercept, out = np.ones((2, 3)), np.ones(2), np.empty((2, 2))
    for bad, message in [
        ((weights[:, :2].copy(), intercept, out), "differ in width|column index"),
        ((weights, np.ones(3), out), "weights and intercept differ"),
        ((weights, intercept, np.empty((2, 1))), "out has the wrong shape"),
        ((weights, intercept, np.empty((1, 2))), "out has the wrong shape"),
    ]:
        with pytest.raises(ValueError, match=message):
            kernels.engine.score_rows(np.ones((2, 3)), *bad)
        with pytest.raises(ValueError, match=message):
            kernels.engine.score_csr(sparse, *bad)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", INDICES)
@pytest.mark.parametrize("intercept", [True, False])
def test_products_with_a_gram_matrix(kernel, dtype, index_type, intercept, rng):
    x = sparse_case(rng, dtype, index_type, 60)
    dense = sp.csr_array((x.data, x.indices, x.indptr), (40, 60)).toarray()
    chosen = WeightedRows(rng.integers(0, 40, 25), rng.random(25), intercept)
    along, start = rng.standard_normal((2, 60 + intercept))
    whole = np.hstack([dense, np.ones((40, 1))])[:, : 60 + intercept].astype(np.float64)
    expected = start + whole[chosen.rows].T @ (chosen.weights * (whole[chosen.rows] @ along))
    for function, rows_for in [
        ("add_gram_product_csr", lambda engine: engine.CheckedCsr(x, 60)),
        ("add_gram_product_rows", lambda _: dense),
    ]:
        out, twin = start.copy(), start.copy()
        getattr(kernels.engine, function)(rows_for(kernels.engine), chosen, along, out)
        getattr(_reference, function)(rows_for(_reference), chosen, along, twin)
        assert_array_equal(out, twin)
        assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


def test_gram_products_of_shapes_that_do_not_fit_are_errors(kernel):
    sparse = CsrRows(np.ones(3), np.arange(3, dtype=np.int32), np.array([0, 1, 3], np.int32))
    good = WeightedRows(np.array([0, 1]), np.ones(2), True), np.ones(4), np.ones(4)
    for bad, message in [
        ((good[0]._replace(rows=np.array([0, 2])), *good[1:]), "chosen row"),
        ((good[0]._replace(weights=np.ones(1)), *good[1:]), "rows and weights"),
        ((good[0], np.ones(3), np.ones(4)), "along and out|column index"),
        ((good[0], np.ones(3), np.ones(3)), "along and out|column index"),
    ]:
        with pytest.raises(ValueError, match=message):
            kernels.engine.add_gram_product_rows(np.ones((2, 3)), *bad)
        with pytest.raises(ValueError, match=message):
            kernels.engine.add_gram_product_csr(kernels.engine.CheckedCsr(sparse, 3), *bad)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", INDICES)
def test_a_gram_matrix_is_its_pairs_and_squares(kernel, dtype, index_type, rng):
    x, factors = sparse_case(rng, dtype, index_type, 60), rng.random(40)
    outputs = []
    for engine in (kernels.engine, _reference):
        pairs, squares = np.ones((60, 60)), np.zeros(60)
        engine.add_gram_csr(x, factors, pairs, squares)
        outputs.append((pairs, squares))
    (pairs, squares), (pairs_of_twin, squares_of_twin) = outputs
    assert_array_equal(pairs, pairs_of_twin)
    assert_array_equal(squares, squares_of_twin)
    scaled = factors[:, None] * sp.csr_array((x.data, x.indices, x.indptr), (40, 60)).toarray().astype(np.float64)
    assert_allclose(pairs + pairs.T - 2 + np.diag(squares), scaled.T @ scaled, rtol=1e-5, atol=1e-5)


def test_entries_that_are_unsorted_or_repeat_a_feature_make_the_same_gram_matrix(kernel):
    rows = CsrRows(np.array([2.0, 3.0, 5.0]), np.array([2, 0, 2], np.int32), np.array([0, 3], np.int32))
    pairs, squares = np.zeros((3, 3)), np.zeros(3)
    kernels.engine.add_gram_csr(rows, np.array([0.5]), pairs, squares)
    expected = np.outer([1.5, 0.0, 3.5], [1.5, 0.0, 3.5])
    assert_array_equal(pairs + pairs.T + np.diag(squares), expected)


def test_gram_matrices_of_shapes_that_do_not_fit_are_errors(kernel):
    sparse = CsrRows(np.ones(3), np.arange(3, dtype=np.int32), np.array([0, 1, 3], np.int32))
    for bad, message in [
        ((np.ones(3), np.ones((3, 3)), np.ones(3)), "factors must have"),
        ((np.ones(2), np.ones((3, 2)), np.ones(3)), "pairs has the wrong shape"),
        ((np.ones(2), np.ones((2, 2)), np.ones(2)), "column index"),
    ]:
        with pytest.raises(ValueError, match=message):
            kernels.engine.add_gram_csr(sparse, *bad)
