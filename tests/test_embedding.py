import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from isrht import SparseEmbedding


@parametrize_with_checks([SparseEmbedding(3)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_each_feature_goes_to_one_component_with_a_sign(rng):
    sketch = SparseEmbedding(7, random_state=0).fit(np.ones((1, 50)))
    matrix = sketch.transform(np.eye(50))
    assert_array_equal(np.abs(matrix).sum(axis=1), 1)
    assert set(matrix[matrix != 0]) == {-1.0, 1.0}
    assert_allclose(sketch.inverse_transform(np.eye(7)), matrix.T)


def test_sparse_stays_sparse_unless_asked(rng):
    X = sp.random_array((20, 50), density=0.2, format="csr", rng=0, dtype=np.float32)
    sketch = SparseEmbedding(8, random_state=0).fit(X)
    dense = sketch.transform(X.toarray())
    assert sp.issparse(sketch.transform(X))
    assert sketch.transform(X).dtype == np.float32
    assert_allclose(sketch.transform(X).toarray(), dense, rtol=1e-5, atol=1e-6)
    assert_allclose(sketch.set_params(dense_output=True).transform(X), dense, rtol=1e-5, atol=1e-6)


def test_inner_products_are_unbiased(rng):
    X = rng.standard_normal((3, 40))
    grams = np.array([(lambda Z: Z @ Z.T)(SparseEmbedding(10, random_state=s).fit_transform(X)) for s in range(2000)])
    assert (np.abs(grams.mean(axis=0) - X @ X.T) <= 5 * grams.std(axis=0) / np.sqrt(2000) + 1e-9).all()


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (2.5, TypeError)])
def test_bad_size_is_named(value, error):
    with pytest.raises(error, match=f"n_components.*{value}"):
        SparseEmbedding(value).fit(np.ones((2, 3)))
