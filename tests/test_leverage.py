import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from isrht import LeverageScoreSelection


@parametrize_with_checks([LeverageScoreSelection(1)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_leverage_is_that_of_the_exact_svd(rng):
    X = rng.standard_normal((60, 5)) @ rng.standard_normal((5, 30)) + 0.01 * rng.standard_normal((60, 30))
    dlss = LeverageScoreSelection(10, rank=5, random_state=0).fit(X)
    exact = (np.linalg.svd(X)[2][:5] ** 2).sum(axis=0)
    assert_allclose(dlss.leverage_, exact, atol=1e-3)
    assert_allclose(dlss.leverage_.sum(), 5)
    kept = np.sort(np.argsort(-exact)[:10])
    assert_array_equal(dlss.get_support(indices=True), kept)
    assert_array_equal(dlss.transform(X), X[:, kept])


def test_sparse_stays_sparse():
    X = sp.random_array((40, 30), density=0.2, format="csr", random_state=0)
    dlss = LeverageScoreSelection(7, random_state=0).fit(X)
    assert sp.issparse(dlss.transform(X))
    assert_array_equal(dlss.transform(X).toarray(), X.toarray()[:, dlss.get_support()])


@pytest.mark.parametrize(
    ("options", "message"),
    [({"n_components": 6}, "n_components=6 is more than n_features=5"), ({"n_components": 2, "rank": 0}, "rank.*0")],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        LeverageScoreSelection(**options).fit(np.ones((4, 5)))


def test_room_behind_the_last_value_of_a_sparse_matrix_is_not_read(rng):
    """SciPy follows the indices there when it takes columns, wherever they lead."""
    X = sp.random_array((6, 10), density=0.4, format="csr", random_state=rng)
    model = LeverageScoreSelection(3, random_state=0).fit(X)
    expected = model.transform(X).toarray()
    X.data, X.indices = np.append(X.data, 1.0), np.append(X.indices, np.int32(2**31 - 1))
    assert_array_equal(model.transform(X).toarray(), expected)
