import numpy as np
import pytest
from exported_models import MODELS, fitted

from isrht.export._feature_weights import feature_weights, integer_labels


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_its_weights_intercepts_and_labels(name, n_classes):
    model, X = fitted(name, n_classes)
    weights = feature_weights(model)
    scores = X @ weights.coef.T + weights.intercept
    np.testing.assert_allclose(np.squeeze(scores), model.decision_function(X), atol=1e-9)
    assert (weights.n_problems, weights.n_features) == (1 if n_classes == 2 else n_classes, X.shape[1])
    np.testing.assert_array_equal(weights.classes, model.classes_)


def test_names_of_features_come_along():
    pandas = pytest.importorskip("pandas")
    model, X = fitted("svm")
    assert feature_weights(model).feature_names is None
    names = [f"feature {number}" for number in range(X.shape[1])]
    named = type(model)().fit(pandas.DataFrame(X, columns=names), model.predict(X))
    assert feature_weights(named).feature_names.tolist() == names


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (np.array([-3, 7]), [-3, 7]),
        (np.array([0.0, 2.0]), [0, 2]),
        (np.array([2**63], dtype=np.uint64), [2**63]),
        (np.array([0.5, 2.0]), None),
        (np.array([1.0, 2.0**53]), None),
        (np.array(["1", "2"]), None),
        (np.array([False, True]), None),
    ],
)
def test_labels_that_are_integers_in_whatever_type(classes, expected):
    found = integer_labels(classes)
    assert (None if found is None else found.tolist()) == expected
