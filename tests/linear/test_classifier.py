"""What every linear classifier can do once it has coefficients."""

from numbers import Integral, Real
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from isrht import RowSource
from isrht.linear.classifier import FixedModel, LinearClassifier, check_positive, warn_not_converged


def fixed(n_problems, rng):
    classes = np.array(["no", "yes"] if n_problems == 1 else ["a", "b", "c"])
    return FixedModel.of(classes, rng.standard_normal((n_problems, 4)), rng.standard_normal(n_problems))


@pytest.mark.parametrize("n_problems", [1, 3])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_matrix, np.ndarray.tolist])
def test_scores_and_classes_of_rows(n_problems, container, rng):
    model, X = fixed(n_problems, rng), rng.standard_normal((30, 4))
    expected = X @ model.coef_.T + model.intercept_
    assert_allclose(model.decision_function(container(X)), expected[:, 0] if n_problems == 1 else expected)
    codes = (expected[:, 0] > 0).astype(int) if n_problems == 1 else expected.argmax(axis=1)
    assert_array_equal(model.predict(container(X)), model.classes_[codes])


@pytest.mark.parametrize("n_problems", [1, 3])
def test_rows_that_are_read_have_the_scores_of_rows_in_memory(n_problems, rng):
    model, X = fixed(n_problems, rng), rng.standard_normal((30, 4))
    rows = RowSource([X[:11], X[11:]])
    assert_array_equal(model.decision_function(rows), model.decision_function(X))
    assert_array_equal(model.predict(rows), model.predict(X))


def test_the_number_of_features_is_checked(rng):
    model = fixed(1, rng)
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(RowSource([np.ones((2, 3))]))


def test_a_classifier_without_coefficients_does_not_predict():
    class Unfitted(LinearClassifier):
        n_jobs = None

        def fit(self, X, y):
            return self

    with pytest.raises(NotFittedError):
        Unfitted().predict([[1.0]])


def test_a_fixed_model_is_as_fitted_as_it_will_be(rng):
    model = fixed(1, rng)
    assert model.fit() is model
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("value", [0, -1, np.inf, np.nan, True, "1", None])
def test_what_is_not_positive_is_named(value):
    with pytest.raises(ValueError, match=f"tol of SimpleNamespace must be a positive finite number, got {value!r}"):
        check_positive(SimpleNamespace(tol=value), "tol", Real)


def test_a_fraction_is_no_integer():
    check_positive(SimpleNamespace(max_iter=np.int64(3)), "max_iter", Integral)
    with pytest.raises(ValueError, match="must be a positive integer, got 1.5"):
        check_positive(SimpleNamespace(max_iter=1.5), "max_iter", Integral)


def test_the_warning_says_where_and_what_to_do():
    with pytest.warns(ConvergenceWarning, match=r"tol=0.001 in max_iter=7 Newton steps for C=2\. Scale the features"):
        warn_not_converged(SimpleNamespace(tol=1e-3, max_iter=7), "for C=2")
