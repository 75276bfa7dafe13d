import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from isrht import LinearSVM, LinearSVMCV, SparseEmbedding


@parametrize_with_checks([SparseEmbedding(3), SparseEmbedding(3, diagonal="signs"), SparseEmbedding(3, diagonal="z")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_each_feature_goes_to_one_component_with_a_sign(rng):
    sketch = SparseEmbedding(7, random_state=0).fit(np.ones((1, 50)))
    matrix = sketch.transform(np.eye(50))
    assert_array_equal(np.abs(matrix).sum(axis=1), 1)
    assert set(matrix[matrix != 0]) == {-1.0, 1.0}
    assert_allclose(sketch.to_features(np.eye(7)), matrix.T)
    assert_allclose(sketch.inverse_transform(np.eye(7)), np.linalg.pinv(matrix), atol=1e-12)


def test_sparse_stays_sparse_unless_asked(rng):
    X = sp.random_array((20, 50), density=0.2, format="csr", random_state=0, dtype=np.float32)
    sketch = SparseEmbedding(8, random_state=0).fit(X)
    dense = sketch.transform(X.toarray())
    assert sp.issparse(sketch.transform(X))
    assert sketch.transform(X).dtype == np.float32
    assert_allclose(sketch.transform(X).toarray(), dense, rtol=1e-5, atol=1e-6)
    asked = SparseEmbedding(8, dense_output=True, random_state=0).fit(X)
    assert_allclose(asked.transform(X), dense, rtol=1e-5, atol=1e-6)


def test_inner_products_are_unbiased(rng):
    X = rng.standard_normal((3, 40))
    grams = np.array([(lambda Z: Z @ Z.T)(SparseEmbedding(10, random_state=s).fit_transform(X)) for s in range(2000)])
    assert (np.abs(grams.mean(axis=0) - X @ X.T) <= 5 * grams.std(axis=0) / np.sqrt(2000) + 1e-9).all()


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (2.5, TypeError)])
def test_bad_size_is_named(value, error):
    with pytest.raises(error, match=f"n_components.*{value}"):
        SparseEmbedding(value).fit(np.ones((2, 3)))


def zipf_text(rng, n_samples=600, n_features=3000):
    """Sparse counts of words, of which many say a little of the class."""
    y = rng.integers(0, 2, n_samples)
    rates = 60 / (1 + np.arange(n_features)) ** 0.8 / np.log(n_features)
    tilt = rng.normal(0, 0.5, n_features)
    counts = rng.poisson(rates * np.exp(tilt * (2 * y[:, None] - 1)))
    return sp.csr_array(counts.astype(np.float64)), y


def test_learned_factors_are_gradients_over_standard_errors(rng):
    X, y = zipf_text(rng)
    centred, residual = X.toarray() - X.toarray().mean(axis=0), (2 * y - 1) - (2 * y - 1).mean()
    error = np.sqrt((centred**2).T @ residual**2)
    z = np.divide(centred.T @ residual, error, out=np.zeros(X.shape[1]), where=error > 0)
    for data in (X, X.toarray(), X.tocsc()):
        sketch = SparseEmbedding(16, diagonal="z", random_state=0).fit(data, y)
        factors = sketch.signs_ * sketch.magnitudes_
        assert_allclose(factors, z / np.sqrt(np.mean(z**2)), rtol=1e-4, atol=1e-5)
        signs = SparseEmbedding(16, diagonal="signs", random_state=0).fit(data, y)
        assert_array_equal(signs.signs_[error > 0], np.sign(z[error > 0]))
        assert signs.magnitudes_ is None
    matrix = sketch.transform(np.eye(X.shape[1]))
    assert_allclose(sketch.to_features(np.eye(16)), matrix.T)
    assert_allclose(sketch.inverse_transform(np.eye(16)), np.linalg.pinv(matrix), atol=1e-9)


def test_a_learned_sketch_tells_classes_apart_that_a_random_one_blurs(rng):
    X, y = zipf_text(rng)
    held_out = {}
    for diagonal in ("random", "signs", "z"):
        model = make_pipeline(SparseEmbedding(16, diagonal=diagonal, random_state=0), LinearSVMCV())
        held_out[diagonal] = cross_val_score(model, X, y, cv=3).mean()
    assert held_out["signs"] > held_out["random"] + 0.05
    assert held_out["z"] > held_out["random"] + 0.1


def test_several_classes(rng):
    y = rng.integers(0, 3, 300).astype(str)
    X = rng.standard_normal((300, 90)) + 2 * (np.arange(90) // 30 == y[:, None].astype(int))
    sketch = SparseEmbedding(8, diagonal="z", random_state=0).fit(X, y)
    assert LinearSVM().fit(sketch.transform(X), y).score(sketch.transform(X), y) > 0.6


@pytest.mark.parametrize(
    ("diagonal", "y", "message"),
    [("bits", [0, 1], "diagonal.*'bits'"), ("z", None, "y is None"), ("signs", [1, 1], "one class")],
)
def test_bad_diagonals_are_named(diagonal, y, message):
    with pytest.raises(ValueError, match=message):
        SparseEmbedding(2, diagonal=diagonal).fit(np.eye(2), y)
