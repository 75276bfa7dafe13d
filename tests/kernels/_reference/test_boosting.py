"""The kernels that make learned diagonals against their twins, to the bit, and the twins against the formula."""

import numpy as np
import pytest
from kernel_cases import FLOATS, INDICES, diagonal_case, diagonal_outputs, sparse_case
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from isrht import kernels
from isrht.kernels import _reference


def assert_same_outputs(found, expected):
    """Compare paths and results."""
    (paths, results), (expected_paths, expected_results) = found, expected
    for mine, wanted in zip([*paths.z, *results], [*expected_paths.z, *expected_results], strict=True):
        assert_array_equal(mine, wanted)


@pytest.mark.parametrize("width", [0, 1, 300, 1100])
@pytest.mark.parametrize("problems", [1, 2, 7])
@pytest.mark.parametrize("signals", [False, True])
def test_make_diagonals(kernel, width, problems, signals, rng):
    case = diagonal_case(rng, width, problems)
    found, expected = [diagonal_outputs(width, problems, signals) for _ in range(2)]
    diagonals, expected_diagonals = np.full((2, width, problems), np.nan)
    kernels.engine.make_diagonals(*case, *found, diagonals)
    _reference.make_diagonals(*case, *expected, expected_diagonals)
    assert_same_outputs(found, expected)
    assert_array_equal(diagonals, expected_diagonals)
    _, features, problem = case
    paths, results = found
    offsets = (diagonals * features.mean[:, problem.fold]).sum(axis=0)
    assert_allclose(results.offsets, 1 + offsets, rtol=1e-12, atol=1e-12)
    for p, path in enumerate(paths.path):
        rows = paths.z[path][: paths.rows[p], features.start : features.start + width].astype(np.float64)
        metric = 1 if problem.kind[p] == 0 else features.deviation[:, problem.fold[p]]
        gram = rows @ (rows[paths.row[p]] * metric)
        assert_allclose(results.grams[p, : paths.rows[p]], 1 + gram, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", INDICES)
@pytest.mark.parametrize("n_features", [1, 1100])
@pytest.mark.parametrize("problems", [1, 2, 7])
def test_diagonals_of_features(kernel, dtype, index_type, n_features, problems, rng):
    """What the three steps make one after the other."""
    x = sparse_case(rng, dtype, index_type, 40, rows=n_features)
    _, *case = diagonal_case(rng, n_features, problems)
    factors = rng.standard_normal((40, 2, problems))
    found, expected, steps = [diagonal_outputs(n_features, problems) for _ in range(3)]
    products, expected_products = np.ones((2, 40, problems))
    kernels.engine.diagonals_of_features(x, factors, *case, *found, products)
    _reference.diagonals_of_features(x, factors, *case, *expected, expected_products)
    assert_same_outputs(found, expected)
    assert_array_equal(products, expected_products)
    moments, diagonals = np.empty((n_features, 3, problems)), np.empty((n_features, problems))
    kernels.engine.moments_of_features(x, factors, moments)
    kernels.engine.make_diagonals(moments, *case, *steps, diagonals)
    assert_same_outputs(found, steps)
    matrix = csr_array((x.data.astype(np.float64), x.indices, x.indptr), (n_features, 40))
    assert_allclose(products, 1 + matrix.T @ diagonals, rtol=1e-10, atol=1e-10)
    with pytest.raises(ValueError, match="factors must be two"):
        kernels.engine.diagonals_of_features(x, np.zeros((40, 1, problems)), *case, *found, products)
    with pytest.raises(ValueError, match="products has the wrong shape"):
        kernels.engine.diagonals_of_features(x, factors, *case, *found, np.zeros((39, problems)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("index_type", INDICES)
@pytest.mark.parametrize("n_features", [1, 64, 300])
@pytest.mark.parametrize("n_classes", [1, 3, 8, 21])
def test_add_class_gram(kernel, dtype, index_type, n_features, n_classes, rng):
    x = sparse_case(rng, dtype, index_type, 40, rows=n_features)
    residuals = np.zeros((40, -(-n_classes // 8) * 8))
    residuals[:, :n_classes] = rng.standard_normal((40, n_classes))
    sums, mean = residuals.sum(axis=0)[:n_classes], rng.standard_normal(n_features)
    factor = rng.random(n_features) * (rng.random(n_features) < 0.8)
    gram, expected = np.ones((2, n_classes, n_classes))
    kernels.engine.add_class_gram(x, residuals, sums, mean, factor, gram)
    _reference.add_class_gram(x, residuals, sums, mean, factor, expected)
    assert_array_equal(gram, expected)
    matrix = csr_array((x.data.astype(np.float64), x.indices, x.indptr), (n_features, 40))
    gradient = matrix @ residuals[:, :n_classes] - np.outer(mean, sums)
    assert_allclose(gram, 1 + gradient.T @ (gradient * factor[:, None]), rtol=1e-10, atol=1e-10)
    with pytest.raises(ValueError, match="multiple of 8"):
        kernels.engine.add_class_gram(x, residuals[:, 1:].copy(), sums, mean, factor, gram)
    with pytest.raises(ValueError, match="features differ in shape"):
        kernels.engine.add_class_gram(x, residuals, sums, mean[1:], factor, gram)
    with pytest.raises(ValueError, match="gram has the wrong shape"):
        kernels.engine.add_class_gram(x, residuals, sums, mean, factor, gram[:, 1:].copy())


def test_diagonals_of_what_never_varies_are_zero(kernel, rng):
    moments, features, problems = diagonal_case(rng, 20, 2)
    features = features._replace(varies=np.zeros_like(features.varies))
    (paths, results), diagonals = diagonal_outputs(20, 2), np.full((20, 2), np.nan)
    kernels.engine.make_diagonals(moments, features, problems, paths, results, diagonals)
    assert not any(array.any() for array in (results.signals, results.offsets - 1, results.grams - 1, diagonals))
    assert not paths.z[0][4, 2:-3].any()


@pytest.mark.skipif(kernels.engine is _reference, reason="NumPy checks its own indices")
@pytest.mark.parametrize(
    ("place", "field", "more", "message"),
    [
        (1, "start", 4, "z has the"),
        (2, "fold", 3, "fold"),
        (2, "kind", 3, "kind"),
        (3, "path", 3, "a path"),
        (3, "row", 4, "a row of z"),
        (3, "rows", 4, "a row of z"),
    ],
)
def test_make_diagonals_refuses_what_is_not_there(place, field, more, message, rng):
    arguments = [*diagonal_case(rng, 20, 2), *diagonal_outputs(20, 2), np.empty((20, 2))]
    arguments[place] = arguments[place]._replace(**{field: getattr(arguments[place], field) + more})
    with pytest.raises(ValueError, match=message):
        kernels.engine.make_diagonals(*arguments)


@pytest.mark.skipif(kernels.engine is _reference, reason="NumPy checks its own shapes")
@pytest.mark.parametrize(
    ("place", "fields"),
    [
        (1, ["deviation", "varies"]),
        (2, ["kind", "threshold", "first_sum", "second_sum"]),
        (3, ["path", "row", "rows"]),
        (4, ["offsets", "grams", "signals"]),
    ],
)
def test_arrays_of_a_record_that_differ_in_length_are_errors(place, fields, rng):
    for field in fields:
        arguments = [*diagonal_case(rng, 20, 2), *diagonal_outputs(20, 2), np.empty((20, 2))]
        arguments[place] = arguments[place]._replace(**{field: getattr(arguments[place], field)[:-1]})
        with pytest.raises(ValueError, match="differ in|wrong shape"):
            kernels.engine.make_diagonals(*arguments)
